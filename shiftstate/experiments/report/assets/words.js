// Networks of function words: which word follows which, and how often.

const WIDE = 1000;
const HIGH = 720;

function wordPicture(network, chosen) {
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
  const words = network.words.map((word, place) => {
    const share = Math.sqrt(network.weight[place] / largest);
    return svg("g", { "data-node": place, "data-word": word }, svg("circle", { class: "node", cx: left[place], cy: top[place], r: 4 + 13 * share }),
      svg("text", { class: "word", x: left[place], y: top[place] - 8 - 13 * share, "text-anchor": "middle",
        "font-size": 14 + 12 * share, direction: "ltr" }, `\u2068${word}\u2069`));
  });
  words.forEach((one) => one.firstChild.setAttribute("fill", filterColor("rsn")));
  const picture = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img",
    "aria-label": `Network of ${network.words.length} function words; the heaviest: ${network.words.slice(0, 8).join(", ")}.` }, links, words);
  const focus = (node) => {
    const near = new Set([node]);
    links.forEach((link, place) => {
      const [from, to] = network.edges[place];
      const mine = node === null || from === node || to === node;
      link.classList.toggle("faded", !mine);
      if (mine) near.add(from).add(to);
    });
    words.forEach((word, place) => {
      word.classList.toggle("faded", node !== null && !near.has(place));
      word.firstChild.classList.toggle("chosen", place === node);
    });
  };
  const listed = (pairs) => pairs.map(([word, weight]) => `\u2068${word}\u2069 ${number(weight)}`).join(", ") || "none";
  const told = (node) => `\u2068${network.words[node]}\u2069\nfollowed by: ${listed(network.after[node])}\nfollows: ${listed(network.before[node])}`;
  watchNodes(picture, told, chosen);
  picture.addEventListener("pointerover", (event) => {
    const found = event.target.closest("[data-node]");
    if (found) focus(Number(found.dataset.node));
  });
  return { picture, focus, told };
}

function showWords() {
  if (!data.words.length) return;
  const holder = scrolling("Network of words");
  const counted = el("figcaption", {});
  const heading = el("h3", {});
  const detail = el("p", { class: "note", "aria-live": "polite", style: "white-space: pre-line; min-height: 4.2em" });
  const wordField = el("div", {});
  const show = (network) => {
    let kept = null;
    const choose = (node) => {
      kept = node;
      drawn.focus(node);
      detail.textContent = node === null ? "Choose a word to see which words stand around it." : drawn.told(node);
      words.control.value = node === null ? "" : String(node);
    };
    const drawn = wordPicture(network, choose);
    const sorted = network.words.map((word, place) => [String(place), word]).sort((a, b) => (a[1] < b[1] ? -1 : 1));
    const words = select("Word", [["", "none"], ...sorted], (key) => choose(key === "" ? null : Number(key)));
    drawn.picture.addEventListener("pointerleave", () => drawn.focus(kept));
    wordField.replaceChildren(words.field);
    holder.replaceChildren(drawn.picture);
    heading.replaceChildren(name(network.title));
    counted.replaceChildren(`The ${network.words.length} of ${network.of} words with most weight, and ${network.edges.length} of the strongest among ` +
      `${network.edges_of} edges; wider is stronger, larger is heavier.`);
    choose(null);
  };
  const which = select("Network", data.words.map((network, place) => [String(place), network.title]), (key) => show(data.words[Number(key)]));
  section("words", "Words", el("p", {}, "A word adjacency network: an edge from one function word to another counts how often, " +
    "and how near, the second follows the first."), controls(data.words.length > 1 ? which.field : null, wordField), heading, el("figure", {}, holder, counted), detail);
  show(data.words[0]);
}
