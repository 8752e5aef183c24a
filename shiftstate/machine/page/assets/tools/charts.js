// Charts by Plotly: unpacked once, drawn when they come into sight, redrawn when the colours change.

const charts = [];
const onRedraw = [];
const coarse = matchMedia("(pointer: coarse)").matches;
const BUTTONS = coarse ? ["toImage"] : ["toImage", "zoom2d", "pan2d", "resetScale2d"];
const PAPER_WIDTH = 660;
const IN_SIGHT = "400px";
let Plotly = null;
let printing = false;
const narrow = () => !printing && innerWidth < 720;

function unpacked(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  return Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
}

async function loadLibrary() {
  const packed = unpacked(document.getElementById("library").textContent);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(stream).text();
  document.head.append(script); // runs at once: the policy in the page's head knows its hash
  Plotly = window.Plotly;
}

// Plotly reads a little markup in its labels; a name must not be any, nor turn the text's direction.
function label(text) {
  const plain = String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return /^[\x20-\x7e]*$/.test(plain) ? plain : `\u2068${plain}\u2069`;
}

function themed(layout) {
  const style = getComputedStyle(document.documentElement);
  const color = (key) => style.getPropertyValue(`--${key}`).trim();
  const axis = { gridcolor: color("line"), linecolor: color("edge"), zerolinecolor: color("line"), automargin: true,
    ticks: "outside", tickcolor: color("edge"), ticklen: 4 };
  const titled = (own) => (own.title ? { ...own, title: { standoff: 8, font: { size: 13 }, ...own.title } } : own);
  const axes = Object.keys(layout).filter((key) => /^[xy]axis\d*$/.test(key));
  const themedAxes = Object.fromEntries([...new Set(["xaxis", "yaxis", ...axes])].map((key) =>
    [key, { ...axis, ...titled(layout[key] || {}) }]));
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "closest",
    dragmode: coarse ? false : "zoom", // a finger on a chart scrolls the page
    font: { family: style.getPropertyValue("--sans"), size: 13, color: color("text") },
    hoverlabel: { font: { family: style.getPropertyValue("--sans") } },
    margin: { l: 56, r: 12, t: 34, b: 40 },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: color("edge"), activecolor: color("accent") },
    ...layout, ...themedAxes,
    legend: { orientation: "h", x: 0, y: -0.2, yanchor: "top", traceorder: "normal", ...layout.legend },
  };
}

// A figure whose picture is build() -> {traces, layout, alt}; draw() draws it again once it has been in sight.
function chart(caption, build, height = 380) {
  const box = el("div", { class: "chart", role: "img" });
  box.style.height = `${height}px`;
  const one = { box, seen: false, draw() {
    const { traces, layout, alt } = build();
    box.setAttribute("aria-label", alt);
    if (!Plotly || !one.seen) return;
    if (layout.height) box.style.height = `${layout.height}px`;
    const width = printing ? { width: PAPER_WIDTH } : {};
    Plotly.react(box, traces, themed({ ...layout, ...width, autosize: !printing }),
      { responsive: true, displaylogo: false, modeBarButtons: [BUTTONS], toImageButtonOptions: { format: "svg" } });
  } };
  charts.push(one);
  return { figure: el("figure", {}, box, caption ? el("figcaption", {}, caption) : null), draw: one.draw, box };
}

const redrawAll = () => [...charts.map((one) => one.draw), ...onRedraw].forEach((draw) => draw());

function drawInSight() {
  const sight = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => {
    sight.unobserve(entry.target);
    const one = charts.find((each) => each.box === entry.target);
    one.seen = true;
    one.draw();
    document.documentElement.dataset.ready = "true";
  }), { rootMargin: IN_SIGHT });
  charts.forEach((one) => sight.observe(one.box));
}

function drawOnPaper(now) {
  if (now === printing) return;
  printing = now;
  charts.forEach((one) => { one.seen = true; });
  redrawAll();
}

function withoutCharts(reason) {
  document.getElementById("content").prepend(el("p", { class: "note", id: "no-charts" }, `${reason}; the tables have the numbers.`));
  charts.forEach((one) => one.box.remove());
  document.documentElement.dataset.ready = "true";
}

async function drawCharts() {
  charts.forEach((one) => one.draw()); // their descriptions: the pictures follow
  if (!data.charts) return withoutCharts("This page was written without its charts, as Plotly was not installed");
  try {
    await loadLibrary();
  } catch (error) {
    return withoutCharts(`The charts cannot be drawn by this browser (${error.message})`);
  }
  drawInSight();
  dark.addEventListener("change", redrawAll);
  addEventListener("beforeprint", () => drawOnPaper(true));
  addEventListener("afterprint", () => drawOnPaper(false));
  return undefined;
}
