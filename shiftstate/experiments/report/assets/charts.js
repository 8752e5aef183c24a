// Charts by Plotly: unpacked once, drawn one after another when the page is there, redrawn when the colours change.

const charts = [];
let Plotly = null;
let printing = false;

async function loadLibrary() {
  const packed = Uint8Array.from(atob(document.getElementById("library").textContent), (one) => one.charCodeAt(0));
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
    dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom", // a finger on a chart scrolls the page
    font: { family: style.getPropertyValue("--sans"), size: 13, color: color("text") },
    hoverlabel: { font: { family: style.getPropertyValue("--sans") } },
        margin: { l: 56, r: 12, t: 34, b: 40 },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: color("edge"), activecolor: color("accent") },
    ...layout, ...themedAxes,
    legend: { orientation: "h", x: 0, y: -0.2, yanchor: "top", traceorder: "normal", ...layout.legend },
  };
}

// A figure whose picture is build() -> {traces, layout, alt}; the returned function draws it again.
function chart(caption, build, height = 380) {
  const box = el("div", { class: "chart", role: "img" });
  box.style.height = `${height}px`;
  const one = { box, drawn: false, draw() {
    const { traces, layout, alt } = build();
    box.setAttribute("aria-label", alt);
    if (!Plotly) return;
    if (layout.height) box.style.height = `${layout.height}px`;
    const width = printing ? { width: 660 } : {};
    Plotly.react(box, traces, themed({ ...layout, ...width, autosize: !printing }),
      { responsive: true, displaylogo: false, modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
        toImageButtonOptions: { format: "svg" } });
    one.drawn = true;
  } };
  charts.push(one);
  return { figure: el("figure", {}, box, caption ? el("figcaption", {}, caption) : null), draw: () => one.draw(), box };
}

const redrawAll = () => charts.forEach((one) => one.draw());

async function drawAll() {
  try {
    await loadLibrary();
  } catch (error) {
    document.getElementById("content").prepend(el("p", { class: "note" },
      `The charts cannot be drawn by this browser (${error.message}); the tables say the same.`));
    charts.forEach((one) => one.box.remove());
    return;
  }
  for (const one of charts) {
    await new Promise((next) => setTimeout(next)); // let clicks and scrolling through between two charts
    one.draw();
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  const onPaper = (now) => { if (now !== printing) { printing = now; redrawAll(); } };
  addEventListener("beforeprint", () => onPaper(true));
  addEventListener("afterprint", () => onPaper(false));
}
