// Networks of names: the heaviest, and the strongest edges between them.

const WIDE = 1000;
const HIGH = 720;

function networkPicture(network, chosen) {
  const left = network.places.map(([x]) => 50 + (WIDE - 100) * x);
  const top = network.places.map(([, y]) => 46 + (HIGH - 70) * y);
  const heaviest = Math.max(...network.edges.map((edge) => Math.abs(edge[2])));
  const largest = Math.max(...network.weight);
  const links = network.edges.map(([from, to, weight]) => {
    const bend = 0.12; // there and back are two lines
    const middle = [(left[from] + left[to]) / 2 + bend * (top[to] - top[from]), (top[from] + top[to]) / 2 - bend * (left[to] - left[from])];
    const share = Math.sqrt(Math.abs(weight) / heaviest);
    return svg("path", { class: "link", d: `M${left[from]} ${top[from]}Q${middle[0]} ${middle[1]} ${left[to]} ${top[to]}`,
      "stroke-width": (0.6 + 6 * share).toFixed(2), opacity: (0.2 + 0.6 * share).toFixed(2) });
  });
  const nodes = network.names.map((text, place) => {
    const share = Math.sqrt(network.weight[place] / largest);
    return svg("g", { "data-node": place }, svg("circle", { class: "node named", cx: left[place], cy: top[place], r: 4 + 13 * share }),
      svg("text", { class: "label", x: left[place], y: top[place] - 8 - 13 * share, "text-anchor": "middle",
        "font-size": 14 + 12 * share, direction: "ltr" }, `\u2068${text}\u2069`));
  });
  const picture = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img",
    "aria-label": `Network of ${network.names.length} ${data.networks.many}; the heaviest: ${network.names.slice(0, 8).join(", ")}.` }, links, nodes);
  const focus = (node) => {
    const near = new Set([node]);
    links.forEach((link, place) => {
      const [from, to] = network.edges[place];
      const mine = node === null || from === node || to === node;
      link.classList.toggle("faded", !mine);
      if (mine) near.add(from).add(to);
    });
    nodes.forEach((one, place) => {
      one.classList.toggle("faded", node !== null && !near.has(place));
      one.firstChild.classList.toggle("chosen", place === node);
    });
  };
  const listed = (pairs) => pairs.map(([text, weight]) => `\u2068${text}\u2069 ${number(weight)}`).join(", ") || "none";
  const told = (node) => `\u2068${network.names[node]}\u2069\n${data.networks.after}: ${listed(network.after[node])}\n` +
    `${data.networks.before}: ${listed(network.before[node])}`;
  watchNodes(picture, told, chosen);
  picture.addEventListener("pointerover", (event) => {
    const found = event.target.closest("[data-node]");
    if (found) focus(Number(found.dataset.node));
  });
  return { picture, focus, told };
}

function showNetworks() {
  if (!data.networks) return;
  const { networks, title, about, one: single, many } = data.networks;
  const holder = scrolling(`Network of ${many}`);
  const counted = el("figcaption", {});
  const heading = el("h3", {});
  const detail = el("p", { class: "note", "aria-live": "polite", style: "white-space: pre-line; min-height: 4.2em" });
  const nodeField = el("div", {});
  const show = (network) => {
    let kept = null;
    const choose = (node) => {
      kept = node;
      drawn.focus(node);
      detail.textContent = node === null ? `Choose a ${single} to see its neighbours.` : drawn.told(node);
      nodes.control.value = node === null ? "" : String(node);
    };
    const drawn = networkPicture(network, choose);
    const sorted = network.names.map((text, place) => [String(place), text]).sort((a, b) => (a[1] < b[1] ? -1 : 1));
    const nodes = select(capital(single), [["", "none"], ...sorted], (key) => choose(key === "" ? null : Number(key)));
    drawn.picture.addEventListener("pointerleave", () => drawn.focus(kept));
    nodeField.replaceChildren(nodes.field);
    holder.replaceChildren(drawn.picture);
    heading.replaceChildren(name(network.title));
    counted.replaceChildren(`The ${network.names.length} of ${network.of} ${many} with most weight, and ${network.edges.length} of the strongest among ` +
      `${network.edges_of} edges; wider is stronger, larger is heavier.`);
    choose(null);
  };
  const which = select("Network", networks.map((network, place) => [String(place), network.title]), (key) => show(networks[Number(key)]));
  section(data.networks.name, title, el("p", {}, about), controls(networks.length > 1 ? which.field : null, nodeField), heading,
    el("figure", {}, holder, counted), detail);
  show(networks[0]);
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
