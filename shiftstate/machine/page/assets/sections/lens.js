// The lens: one signal's way through a layer, node by node, with a slider over k.

const QUANTITIES = { states: "state w", memories: "memory c", outputs: "output y" };
const PLAY_MS = 350;

const lensContent = (place) => JSON.parse(document.getElementById(`lens-${place}`).textContent);
const nodeName = (graph, place) => (graph.names ? graph.names[place] : `node ${graph.nodes[place]}`);
const sub = (letter, k) => `${letter}${String(k).replace(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[digit])}`;

// One slice (n) of a quantity (K + 1, channels, n), or of a gate (K, channels, n), which begins at k = 1.
const slice = (values, k, channel, first = 0) => (k < first ? null : values[k - first][channel]);

function largest(values, channel) {
  let most = 0;
  for (const step of values) for (const value of step[channel]) if (value !== null) most = Math.max(most, Math.abs(value));
  return most;
}

class LensView {
  constructor() {
    this.k = 0;
    this.node = null;
    this.quantity = "states";
    this.channel = 0;
    this.fixed = true;
    this.curve = "states";
    this.timer = null;
    this.build();
  }

  build() {
    this.lensField = select("Training", data.lenses.map((lens, place) => [String(place), lens.title]), (key) => this.open(Number(key)), String(data.lens_first));
    this.choices = el("div", { class: "controls" });
    this.range = el("input", { type: "range", id: "lens-k", min: 0, step: 1, value: 0, oninput: () => this.show(Number(this.range.value)) });
    this.shown = el("output", { for: "lens-k" });
    this.play = el("button", { type: "button", onclick: () => this.toggle() }, "Play");
    this.panels = el("div", { class: "panels", id: "lens-panels" });
    this.values = el("div", { "aria-live": "polite" });
    this.verdict = el("div", {});
    this.along = chart(null, () => lensCurve(this), 330);
    this.ofNode = chart(null, () => nodeCurve(this), 290);
    this.curveField = el("div", {});
    const slider = el("div", { class: "slider" }, this.play, this.range, this.shown);
    section("lens", "The lens", el("p", {}, "What a layer does with one signal along its shifts: the state and the gates at every node. " +
      "Move the slider, or focus it and use the arrow keys; point at a node, or choose one, for its values."),
    controls(this.lensField.field), this.verdict, this.choices,
    el("label", { for: "lens-k", class: "note" }, "k, the number of shifts"), slider,
    el("div", { class: "lens" }, el("div", {}, this.panels, this.values),
      el("div", {}, this.curveField, this.along.figure, this.ofNode.figure)));
    this.open(data.lens_first);
    onRedraw.push(() => this.show(this.k));
  }

  open(place) {
    this.lensAt = place;
    this.lens = lensContent(place);
    this.choose(0);
  }

  choose(layer) {
    this.layer = this.lens.layers[layer];
    this.layerAt = layer;
    this.channel = Math.min(this.channel, this.layer.sample.channels.length - 1);
    if (!this.layer.sample[this.quantity]) this.quantity = "states";
    this.node = this.node !== null && this.node < this.lens.graph.nodes.length ? this.node : 0;
    this.range.max = this.layer.K;
    this.buildChoices();
    this.buildPanels();
    this.buildVerdict();
    this.show(Math.min(this.k, this.layer.K));
    this.drawCurves();
  }

  buildChoices() {
    const { layers, graph } = this.lens;
    const again = (key) => (value) => { this[key] = value; this.show(this.k); this.drawCurves(); };
    const layerField = select("Layer", layers.map((layer, place) => [String(place), `${place + 1}: ${layer.filter}`]),
      (key) => this.choose(Number(key)), String(this.layerAt)).field;
    const known = Object.entries(QUANTITIES).filter(([key]) => this.layer.sample[key]);
    const channelField = select("Channel", this.layer.sample.channels.map((text, place) => [String(place), text]),
      (key) => again("channel")(Number(key)), String(this.channel)).field;
    const nodes = graph.nodes.map((_, place) => [String(place), nodeName(graph, place)]);
    this.nodeSelect = select("Node", nodes, (key) => this.pick(Number(key)), String(this.node));
    this.choices.replaceChildren(...(layers.length > 1 ? [layerField] : []),
      select("Show", known.map(([key, text]) => [key, `${text}ₖ`]), again("quantity"), this.quantity).field, channelField,
      select("Colours", [["fixed", "one scale for all k ≥ 1"], ["each", "a scale for each k"]],
        (key) => again("fixed")(key === "fixed"), this.fixed ? "fixed" : "each").field, this.nodeSelect.field);
    const curves = lensCurves(this.layer);
    if (!curves.some(([key]) => key === this.curve)) this.curve = "states";
    this.curveField.replaceChildren(select("Along k", curves, (key) => { this.curve = key; this.drawCurves(); }, this.curve).field);
  }

  buildPanels() {
    this.main = nodePanel(this.lens.graph, "", true);
    this.gates = Object.keys(this.layer.sample.gates).map((key) => ({ key, panel: nodePanel(this.lens.graph, `${key} gate`, false) }));
    for (const panel of [this.main, ...this.gates.map((gate) => gate.panel)]) {
      watchNodes(panel.picture, (node) => this.told(node), (node) => node !== null && this.pick(node));
    }
    this.panels.style.setProperty("--gates", Math.min(Math.max(this.gates.length, 1), 4));
    this.panels.replaceChildren(this.main.figure, ...this.gates.map((gate) => gate.panel.figure));
  }

  buildVerdict() {
    const { word, sentence, notes, advice } = this.layer.verdict;
    const { graph } = this.lens;
    const { note } = data.lenses[this.lensAt];
    const left = graph.left_out.nodes ? ` ${graph.left_out.nodes} nodes are not drawn.` : "";
    this.verdict.replaceChildren(
      el("p", {}, el("span", { class: `verdict ${word === "alive" ? "holds" : "fails"}` }, word), " ", [sentence, ...notes, ...advice].join(" ")),
      el("p", { class: "note" }, `${note ? `${note} ` : ""}${graph.num_nodes} nodes, ρ(S) = ${number(graph.spectral_radius)}; curves over ${this.lens.signals} signals, ` +
        `the picture is of signal ${this.lens.sample}.${left}`));
  }

  show(k) {
    this.k = k;
    this.range.value = k;
    this.shown.textContent = `k = ${k} of ${this.layer.K}`;
    this.range.setAttribute("aria-valuetext", this.shown.textContent);
    const { sample } = this.layer;
    const all = sample[this.quantity];
    const values = slice(all, k, this.channel);
    const most = (this.fixed ? largest(all.length > 1 ? all.slice(1) : all, this.channel) : largest([all[k]], this.channel)) || 1;
    const colors = signedColors();
    const letter = QUANTITIES[this.quantity].at(-1);
    this.main.paint(values, (value) => ramp(colors, 0.5 + value / most / 2), `${QUANTITIES[this.quantity]} at k = ${k} on ${values.length} nodes, ` +
      `from ${number(Math.min(...values))} to ${number(Math.max(...values))}`, legend(colors, number(-most), number(most)));
    this.main.figure.querySelector("figcaption").textContent = `${sub(letter, k)}, channel ${sample.channels[this.channel]}`;
    for (const { key, panel } of this.gates) this.paintGate(key, panel);
    this.ring();
    this.markCurves();
  }

  // Between shut and open, or between the least and the most open node of this k.
  paintGate(key, panel) {
    const open = slice(this.layer.sample.gates[key], this.k, this.channel, 1);
    const [low, high] = this.fixed || !open ? [0, 1] : [Math.min(...open), Math.max(...open)];
    const alt = open ? `${key} gate at k = ${this.k}, mean ${number(mean(open))}` : `no ${key} gate at k = 0`;
    panel.paint(open, (value) => ramp(SHARE, high > low ? (value - low) / (high - low) : 0.5), alt,
      this.fixed || !open ? legend(SHARE, "shut", "open") : legend(SHARE, number(low), number(high)));
  }

  pick(node) {
    this.node = node;
    this.nodeSelect.control.value = String(node);
    this.ring();
    this.drawCurves();
  }

  ring() {
    [this.main, ...this.gates.map((gate) => gate.panel)].forEach((panel) => panel.choose(this.node));
    const rows = this.rows(this.node).map(([text, value]) => [text, { cell: number(value), value }]);
    this.values.replaceChildren(table(`${nodeName(this.lens.graph, this.node)} at k = ${this.k}`,
      [{ title: "quantity", name: true }, { title: "value" }], [rows], { id: "lens-values" }));
  }

  rows(node) {
    const { sample } = this.layer;
    const quantities = Object.entries(QUANTITIES).filter(([key]) => sample[key])
      .map(([key, text]) => [sub(text, this.k), slice(sample[key], this.k, this.channel)[node]]);
    const gates = this.gates.map(({ key }) => [`${key} gate`, slice(sample.gates[key], this.k, this.channel, 1)?.[node] ?? null]);
    return [...quantities, ...gates];
  }

  told(node) {
    const lines = this.rows(node).map(([text, value]) => `${text}: ${number(value)}`);
    return [`\u2068${nodeName(this.lens.graph, node)}\u2069`, ...lines].join("\n");
  }

  drawCurves() {
    this.along.draw();
    this.ofNode.draw();
  }

  markCurves() {
    if (this.marking || !Plotly) return;
    this.marking = requestAnimationFrame(() => {
      this.marking = null;
      for (const { box } of [this.along, this.ofNode]) if (box.layout?.shapes?.length) Plotly.relayout(box, { shapes: [markAt(this.k)] });
    });
  }

  toggle() {
    const stop = () => { clearInterval(this.timer); this.timer = null; this.play.textContent = "Play"; };
    if (this.timer) return stop();
    if (this.k >= this.layer.K) this.show(0);
    this.play.textContent = "Pause";
    this.timer = setInterval(() => (this.k < this.layer.K ? this.show(this.k + 1) : stop()), PLAY_MS);
    return undefined;
  }
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

function showLenses() {
  if (data.lenses.length) {
    new LensView(); // lives in its controls
    const more = data.lenses_stored - data.lenses.length;
    if (more) document.getElementById("lens").append(el("p", { class: "note" }, `${more} more in the directory lens/ have no room in this page.`));
  } else if (data.run) {
    section("lens", "The lens", el("p", {}, data.run.lens_note));
  } else {
    section("lens", "The lens", el("p", {}, "No training of this directory is under the lens yet. This trains one again and shows its states and gates " +
      "node by node, here, after the next report:"),
    el("pre", {}, `shiftstate inspect ${data.out}\nshiftstate report ${data.out}`));
  }
}
