// Curves beside the lens: sizes, gates, gradients, reach and frequency response of a layer; one node's way.

const LINES = data.palette;
const markAt = (k) => ({ type: "line", yref: "paper", y0: 0, y1: 1, x0: k, x1: k, line: { color: themeText(), width: 1, dash: "dot" } });

const withK = (letter) => `${letter}<sub>k</sub>`;
const aboveZero = (trace) => ({ ...trace, y: trace.y.map((value) => (value > 0 ? value : null)) });

const line = (title, x, y, color, extra = {}) => ({ type: "scatter", mode: "lines+markers", name: title, x, y, marker: { size: 4 },
  line: { color, width: 2 }, hovertemplate: `%{x}: %{y:.4~g}<extra>${title}</extra>`, ...extra });

function band(title, x, curve, middle, color) {
  const edge = { type: "scatter", mode: "lines", x, line: { width: 0, color }, hoverinfo: "skip", showlegend: false };
  return [{ ...edge, y: curve.low }, { ...edge, y: curve.high, fill: "tonexty", fillcolor: `${color}2e` }, line(title, x, curve[middle], color)];
}

// What there is to choose for a layer: [key, text].
function lensCurves(layer) {
  return [["states", "size of state, memory and output"], ["dead", "dead and saturated units"],
    Object.keys(layer.gates).length ? ["gates", "openness of the gates"] : null, ["gradients", "gradients by state and output"],
    ["parameters", "gradients by weight"], layer.reach ? ["reach", "how far it sees, by hops"] : null,
    layer.response ? ["response", "frequency response"] : null].filter(Boolean);
}

const CURVE_BUILDERS = {
  states(layer) {
    const alone = layer.basis === "chebyshev" ? { radius: "max |T<sub>k</sub>(λ)|", smallest: "min |T<sub>k</sub>(λ)|" } : { radius: "ρ(S)<sup>k</sup>", smallest: "min |λ|<sup>k</sup>" };
    const beyond = Object.entries(alone).filter(([key]) => layer.envelopes[key]).map(([key, title]) => [key, `${title} ‖w<sub>0</sub>‖`]);
    const seen = [layer.states.low, layer.states.high, layer.outputs.norm, layer.memories?.norm ?? []].flat().filter((value) => value > 0).map(Math.log10);
    const range = seen.length ? [Math.min(...seen) - 0.7, Math.max(...seen) + 0.7] : undefined; // the envelopes may leave the picture
    return { log: true, y: "size", range, traces: [
      ...band(`‖${withK("w")}‖`, layer.k, layer.states, "norm", LINES[0]),
      ...(layer.memories ? [line(`‖${withK("c")}‖`, layer.k, layer.memories.norm, LINES[3])] : []),
      line(`‖${withK("y")}‖`, layer.k, layer.outputs.norm, LINES[1]),
      ...beyond.map(([key, title]) => line(title, layer.k, layer.envelopes[key], LINES[2], { mode: "lines", line: { color: LINES[2], dash: "dash", width: 1.5 } }))] };
  },
  dead(layer) {
    return { y: "share of units", traces: [line("state dead", layer.k, layer.states.dead, LINES[0]), line("state saturated", layer.k, layer.states.saturated, LINES[3]),
      line("output dead", layer.k, layer.outputs.dead, LINES[1]), line("output saturated", layer.k, layer.outputs.saturated, LINES[4])],
    range: [-0.03, 1.03] };
  },
  gates(layer) {
    return { y: "open", range: [-0.03, 1.03],
      traces: Object.entries(layer.gates).flatMap(([key, gate], place) => band(key, layer.k.slice(1), gate, "mean", LINES[place])) };
  },
  gradients(layer) {
    const { states, memories, outputs } = layer.gradients;
    return { log: true, y: "size of the gradient", traces: [line(`by ${withK("w")}`, layer.k, states, LINES[0]),
      ...(memories ? [line(`by ${withK("c")}`, layer.k.slice(1), memories, LINES[3])] : []), line(`by ${withK("y")}`, layer.k, outputs, LINES[1])] };
  },
  parameters(layer) {
    return { log: true, y: "size of the gradient", traces: Object.entries(layer.gradients.parameters).map(([key, { first_k: first, norm }], place) =>
      line(label(key), norm.map((_, step) => step + first), norm, LINES[place % LINES.length])) };
  },
  reach(layer) {
    const { hops, rms, error } = layer.reach;
    return { log: true, x: "hops", y: "∂y_i/∂x_j, root mean square", unmarked: true,
      traces: [line("sensitivity", hops, rms, LINES[0], { error_y: { type: "data", array: error, visible: error.some((value) => value > 0) } })] };
  },
  response(layer) {
    const { pairs, grid, on_grid: values, eigenvalues, at_eigenvalues: at } = layer.response;
    const dots = Array.isArray(eigenvalues) && Array.isArray(at) ? at : []; // complex ones have no place on this axis
    return { x: "λ", y: "response", unmarked: true, traces: pairs.flatMap(([f, g], place) => {
      const title = `f${f} g${g}`;
      const color = LINES[place % LINES.length];
      return [line(title, grid, values[place], color, { mode: "lines", legendgroup: title }),
        ...(dots.length ? [line(title, eigenvalues, dots[place], color, { mode: "markers", legendgroup: title, showlegend: false })] : [])];
    }) };
  },
};

function lensCurve(view) {
  const { layer, curve } = view;
  const made = CURVE_BUILDERS[curve](layer);
  const title = lensCurves(layer).find(([key]) => key === curve)[1];
  return { traces: made.log ? made.traces.map(aboveZero) : made.traces, alt: `${title} along ${made.x || "k"}, ${layer.filter}, K = ${layer.K}.`,
    layout: { height: 330, showlegend: true, shapes: made.unmarked ? [] : [markAt(view.k)], xaxis: { title: { text: made.x || "k" } },
      yaxis: { title: { text: made.y }, type: made.log ? "log" : "linear", range: made.range, exponentformat: "power",
        ...(made.log && made.range && made.range[1] - made.range[0] > 1.5 ? { dtick: 1 } : {}) },
      legend: { y: -0.24 }, margin: { l: 62, r: 8, t: 30, b: 40 } } };
}

// The chosen node's values in every quantity, and its gates.
function nodeCurve(view) {
  const { layer, node, channel, lens } = view;
  const { sample } = layer;
  const along = (values) => values.map((step) => step[channel][node]);
  const title = nodeName(lens.graph, node);
  const quantities = Object.entries(QUANTITIES).filter(([key]) => sample[key]);
  const gates = Object.entries(sample.gates);
  const colors = { states: LINES[0], memories: LINES[3], outputs: LINES[1] };
  const second = { yaxis: "y2" };
  return { alt: `Values of ${title} along k.`,
    traces: [...quantities.map(([key, text]) => line(withK(text.at(-1)), layer.k, along(sample[key]), colors[key])),
      ...gates.map(([key, values], place) => line(key, layer.k.slice(1), along(values), LINES[place + 4],
        { ...second, line: { color: LINES[place + 4], width: 1.5, dash: ["solid", "dash", "dot"][place % 3] } }))],
    layout: { height: 290, showlegend: true, shapes: [markAt(view.k)], xaxis: { title: { text: "k" } },
      yaxis: { title: { text: label(title) } }, yaxis2: { overlaying: "y", side: "right", range: [-0.03, 1.03], tickvals: [0, 0.5, 1], showgrid: false,
        title: { text: "gates" }, visible: gates.length > 0 },
      legend: { y: -0.28 }, margin: { l: 62, r: gates.length ? 48 : 8, t: 30, b: 40 } } };
}
