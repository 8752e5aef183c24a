// Graphs as pictures: nodes and edges in SVG, values as colours, what is under the pointer beside it.

// Blue, pale, red-brown for signed values and Cividis for shares: both are told apart without red or green.
const SIGNED_LIGHT = [[33, 78, 140], [103, 151, 203], [238, 238, 234], [221, 139, 105], [150, 45, 25]];
const SIGNED_DARK = [[140, 190, 245], [72, 112, 165], [52, 59, 66], [172, 92, 66], [250, 155, 120]];
const SHARE = [[0, 34, 78], [67, 78, 108], [125, 124, 120], [188, 174, 108], [254, 232, 56]];
const BLANK = "rgba(128, 128, 128, 0.35)";

const dark = matchMedia("(prefers-color-scheme: dark)");
const signedColors = () => (dark.matches && !printing ? SIGNED_DARK : SIGNED_LIGHT);

function ramp(stops, share) {
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  const mixed = stops[low].map((value, channel) => Math.round(value + (at - low) * (stops[low + 1][channel] - value)));
  return `rgb(${mixed.join(", ")})`;
}

const gradient = (stops) => `linear-gradient(to right, ${stops.map((stop) => `rgb(${stop.join(", ")})`).join(", ")})`;

function legend(stops, low, high) {
  const bar = el("span", { class: "ramp", "aria-hidden": "true" });
  bar.style.background = gradient(stops);
  return el("div", { class: "legend" }, el("span", {}, low), bar, el("span", {}, high));
}

// A picture too wide for a phone scrolls in its own box.
const scrolling = (title) => el("div", { class: "picture", role: "region", tabindex: "0", "aria-label": title });

const tip = document.getElementById("tip");

function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(6, Math.min(event.clientX + 14, innerWidth - box.width - 6))}px`;
  tip.style.top = `${event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 12 : event.clientY + 18}px`;
}

const hideTip = () => { tip.hidden = true; };

// Pointer over, or click on, one of the elements with data-node inside a picture.
function watchNodes(picture, textOf, chosen) {
  const node = (event) => {
    const found = event.target.closest("[data-node]");
    return found ? Number(found.dataset.node) : null;
  };
  picture.addEventListener("pointermove", (event) => (node(event) === null ? hideTip() : showTip(event, textOf(node(event)))));
  picture.addEventListener("pointerleave", hideTip);
  picture.addEventListener("click", (event) => chosen(node(event)));
}

// The nodes of a lens; paint(values, color) colours them, choose(node) rings one.
function nodePanel(graph, caption, main) {
  const radius = Math.min(0.052, 0.36 / Math.sqrt(graph.nodes.length)) * (main ? 1 : 1.25);
  const known = new Set();
  const lines = graph.edges.source.map((from, place) => {
    const to = graph.edges.target[place];
    const key = from < to ? `${from} ${to}` : `${to} ${from}`;
    if (known.has(key)) return "";
    known.add(key);
    return `M${graph.x[from]} ${-graph.y[from]}L${graph.x[to]} ${-graph.y[to]}`;
  });
  const nodes = graph.nodes.map((_, place) => svg("circle", { class: "node", cx: graph.x[place], cy: -graph.y[place], r: radius,
    "data-node": place, "vector-effect": "non-scaling-stroke" }));
  const picture = svg("svg", { viewBox: "-1.1 -1.1 2.2 2.2", role: "img" },
    svg("path", { class: "link", d: lines.join(""), "stroke-width": main ? 0.7 : 0.4, "vector-effect": "non-scaling-stroke",
      opacity: known.size > 400 ? 0.3 : 0.55 }), nodes);
  const scale = el("div", {});
  return {
    picture, figure: el("figure", { class: main ? "panel main" : "panel" }, picture, scale, el("figcaption", {}, caption)),
    paint(values, color, alt, scaleLegend) {
      picture.setAttribute("aria-label", alt);
      scale.replaceChildren(scaleLegend);
      nodes.forEach((one, place) => {
        const value = values ? values[place] : null;
        one.setAttribute("fill", value === null ? BLANK : color(value));
        if (value === null) one.removeAttribute("data-value");
        else one.setAttribute("data-value", value);
      });
    },
    choose: (node) => nodes.forEach((one, place) => one.classList.toggle("chosen", place === node)),
  };
}
