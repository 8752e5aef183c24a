// Accuracies: the bars of Figure 1, the tables beside the paper's numbers, the claims.

const ABOUT = {
  figure1: "Source localization: from which community did a diffusion start? One layer, for growing K, the number of shifts.",
  table1: "Source localization with deeper networks: L layers.",
  table2: "Authorship attribution: did this author write the text? Each network reads the author's graph of function words.",
};
const experimentTitle = (key) => data.titles[key] || key;

function placeTitle(cell, cells) {
  const several = (key) => new Set(cells.map((one) => one[key])).size > 1;
  const parts = [several("K") || !several("L") ? `K = ${cell.K}` : null, several("L") ? `L = ${cell.L}` : null];
  return parts.filter(Boolean).join(", ");
}

const placeKey = (cell) => `${cell.K} ${cell.L}`;
const filtersOf = (cells) => data.filters.filter((one) => cells.some((cell) => cell.filter === one.name));

function placesOf(cells) {
  const places = new Map();
  for (const cell of [...cells].sort((a, b) => a.K - b.K || a.L - b.L)) {
    if (!places.has(placeKey(cell))) places.set(placeKey(cell), { title: placeTitle(cell, cells), cells: [] });
    places.get(placeKey(cell)).cells.push(cell);
  }
  return places;
}

function progressText(experiment) {
  if (!experiment.plan) return `${experiment.stored} trainings`;
  const { planned } = experiment.plan;
  return `${experiment.stored} of ${planned} trainings`;
}

const isPartial = (experiment) => experiment.plan !== null && experiment.stored < experiment.plan.planned;

const HALF = "half";
const BARS = [[HALF, "½ standard deviation, as in the paper"], ["std", "standard deviation"], ["interval", "95 % interval of the mean"]];

function barError(cell, kind) {
  if (kind === "interval") return cell.interval ? 100 * (cell.interval[1] - cell.interval[0]) / 2 : 0;
  return 100 * (cell.std ?? 0) * (kind === HALF ? 0.5 : 1);
}

function barTraces(experiment, kind) {
  const places = placesOf(experiment.cells);
  const shown = filtersOf(experiment.cells);
  const traces = [];
  for (const one of shown) {
    const cells = [...places.values()].flatMap((place) => place.cells.filter((cell) => cell.filter === one.name)
      .map((cell) => ({ cell, at: place.title })));
    traces.push({ type: "bar", name: label(one.title), offsetgroup: one.name, x: cells.map(({ at }) => at),
      y: cells.map(({ cell }) => 100 * cell.mean), marker: { color: one.color, line: outline() },
      error_y: { type: "data", array: cells.map(({ cell }) => barError(cell, kind)), thickness: 1.3, width: 4 },
      customdata: cells.map(({ cell }) => [cell.n, percent(cell.mean_best), spread(cell.std), range(cell.interval)]),
      hovertemplate: "%{x}<br>%{y:.1f} %%{customdata[2]}<br>95 % interval %{customdata[3]}<br>best on validation " +
        `%{customdata[1]} %<br>n = %{customdata[0]}<extra>${label(one.title)}</extra>` });
    const known = cells.filter(({ cell }) => cell.paper_mean !== null);
    if (known.length) {
      traces.push({ type: "scatter", mode: "markers", name: "paper", legendgroup: "paper", offsetgroup: one.name,
        showlegend: !traces.some((trace) => trace.name === "paper"), x: known.map(({ at }) => at),
        y: known.map(({ cell }) => 100 * cell.paper_mean), marker: { symbol: "diamond", size: 9, color: themeText() },
        error_y: { type: "data", array: known.map(({ cell }) => 100 * (cell.paper_std ?? 0) * (kind === HALF ? 0.5 : 1)),
          thickness: 1.3, width: 4, color: themeText() },
        hovertemplate: `%{x}<br>%{y:.0f} %<extra>${label(one.title)}, paper</extra>` });
    }
  }
  return traces;
}

const outline = () => ({ color: themeText(), width: 0.5 });
const themeText = () => getComputedStyle(document.documentElement).getPropertyValue("--text").trim();

function level(value, text) {
  const color = getComputedStyle(document.documentElement).getPropertyValue("--soft").trim();
  return {
    line: { type: "line", xref: "paper", x0: 0, x1: 1, y0: value, y1: value, line: { color, width: 1, dash: "dash" } },
    note: { xref: "paper", x: 1, xanchor: "left", y: value, yanchor: "middle", text, showarrow: false, align: "left",
      font: { size: 11, color } },
  };
}

function barsChart(experiment, caption) {
  let kind = experiment.name === "figure1" ? HALF : "std";
  const made = chart(caption, () => {
    const levels = data.chance[experiment.name] ? [level(100 * data.chance[experiment.name], " chance")] : [];
    if (experiment.ceiling) levels.push(level(100 * experiment.ceiling.shape, " matching<br> shapes"));
    const places = [...placesOf(experiment.cells).values()];
    const told = places.map((place) => `${place.title}: ${place.cells.map((cell) =>
      `${filterTitle(cell.filter)} ${percent(cell.mean)} %`).join(", ")}`).join("; ");
    return { traces: barTraces(experiment, kind), alt: `Bars of mean test accuracy. ${told}.`,
      layout: { barmode: "group", scattermode: "group", bargap: 0.25, xaxis: { type: "category", ticks: "", showgrid: false },
        yaxis: { title: { text: "test accuracy (%)" }, range: [0, 104] }, legend: { y: -0.12 }, margin: { l: 56, r: levels.length > 1 ? 70 : 58, t: 34, b: 40 },
        shapes: levels.map((one) => one.line), annotations: levels.map((one) => one.note) } };
  });
  const order = experiment.name === "figure1" ? BARS : [BARS[1], BARS[2]];
  const choice = radios("Error bars", order, (value) => { kind = value; made.draw(); });
  return [controls(choice), made.figure];
}

function resultRow(cell, best) {
  return [
    { cell: el("span", {}, swatch(cell.filter), filterTitle(cell.filter)) },
    { cell: String(cell.K) }, { cell: String(cell.L) }, { cell: String(cell.n), value: cell.n },
    { cell: `${percent(cell.mean)}${spread(cell.std)}`, value: cell.mean, best },
    { cell: range(cell.interval) },
    { cell: percent(cell.mean_best), value: cell.mean_best },
    { cell: `${percent(cell.paper_mean, 0)}${spread(cell.paper_std, 0)}`, value: cell.paper_mean },
  ];
}

function resultTable(experiment) {
  const columns = [{ title: "filter", name: true }, { title: "K" }, { title: "L" }, { title: "n" },
    { title: "mean ± std" }, { title: "95 % interval" }, { title: "best on validation" }, { title: "paper" }];
  const groups = [...placesOf(experiment.cells).values()].map(({ cells }) => {
    const top = Math.max(...cells.map((cell) => cell.mean));
    return cells.map((cell) => resultRow(cell, cells.length > 1 && cell.mean === top));
  });
  const caption = `${experimentTitle(experiment.name)}: test accuracy in % of the model after the last epoch, ` +
    "n trainings; the interval's unit is the graph; the best mean of a place is bold.";
  return table(caption, columns, groups, { "data-experiment": experiment.name });
}

function authorTable(experiment) {
  const shown = filtersOf(experiment.cells).flatMap((one) => {
    const places = [...placesOf(experiment.cells.filter((cell) => cell.filter === one.name))];
    return places.map(([key, place]) => ({ filter: one.name, key, title: places.length > 1 ? `${one.title}, ${place.title}` : one.title }));
  });
  const authors = [...new Set(experiment.cells.map((cell) => cell.author))];
  const columns = [{ title: "author", name: true }, ...shown.flatMap((one) => [{ title: one.title }, { title: "paper" }])];
  const rows = authors.map((author) => {
    const of = shown.map((one) => experiment.cells.find((cell) =>
      cell.author === author && cell.filter === one.filter && placeKey(cell) === one.key));
    const top = Math.max(...of.filter(Boolean).map((cell) => cell.mean));
    return [{ cell: name(author) }, ...of.flatMap((cell) => cell
      ? [{ cell: el("span", {}, `${percent(cell.mean)}${spread(cell.std)} `, el("span", { class: "of" }, `n = ${cell.n}`)),
        value: cell.mean, best: cell.mean === top },
      { cell: `${percent(cell.paper_mean, 1)}${spread(cell.paper_std, 1)}`, value: cell.paper_mean }]
      : [{ cell: NONE }, { cell: NONE }])];
  });
  const caption = `${experimentTitle(experiment.name)}: test accuracy in %, mean ± standard deviation of n trainings, ` +
    "beside the paper's; the best mean of an author is bold.";
  return table(caption, columns, [rows], { "data-experiment": experiment.name });
}

function authorChart(experiment) {
  const shown = filtersOf(experiment.cells);
  const authors = [...new Set(experiment.cells.map((cell) => cell.author))].reverse();
  const height = 130 + authors.length * Math.max(26, 9 * shown.length);
  return chart("Mean ± standard deviation of every author and filter; diamonds are the paper's, the dashed line is chance.", () => ({
    alt: `Mean test accuracy of ${authors.length} authors for ${shown.map((one) => one.title).join(", ")}; the table has the numbers.`,
    traces: shown.flatMap((one) => {
      const cells = experiment.cells.filter((cell) => cell.filter === one.name);
      const known = cells.filter((cell) => cell.paper_mean !== null);
      return [{ type: "scatter", mode: "markers", name: label(one.title), offsetgroup: one.name, orientation: "h",
        legendgroup: one.name, x: cells.map((cell) => 100 * cell.mean), y: cells.map((cell) => label(cell.author)),
        marker: { color: one.color, size: 9, line: outline() }, error_x: { type: "data", array: cells.map((cell) => 100 * (cell.std ?? 0)),
          thickness: 1.3, width: 0 }, customdata: cells.map((cell) => cell.n),
        hovertemplate: `%{y}<br>%{x:.1f} %, n = %{customdata}<extra>${label(one.title)}</extra>` },
      { type: "scatter", mode: "markers", showlegend: false, legendgroup: one.name, offsetgroup: one.name, orientation: "h",
        x: known.map((cell) => 100 * cell.paper_mean), y: known.map((cell) => label(cell.author)),
        marker: { symbol: "diamond-open", size: 8, color: one.color, line: { width: 1.5 } },
        hovertemplate: `%{y}<br>%{x:.1f} %<extra>${label(one.title)}, paper</extra>` }];
    }),
    layout: { height, scattermode: "group", shapes: [{ ...level(0, "").line, xref: "x", yref: "paper", x0: 100 * data.chance[experiment.name],
      x1: 100 * data.chance[experiment.name], y0: 0, y1: 1, layer: "below" }], xaxis: { title: { text: "test accuracy (%)" } },
      yaxis: { type: "category", categoryorder: "array", categoryarray: authors.map(label) },
      legend: { y: 1.01, yanchor: "bottom" }, margin: { l: 110, r: 12, t: 62, b: 45 } },
  }), height);
}

function showExperiment(experiment) {
  const partial = isPartial(experiment) ? el("p", {}, el("strong", {}, "Partial: "), `${progressText(experiment)} are finished.`) : null;
  const about = el("p", {}, ABOUT[experiment.name] || "");
  const heading = experimentTitle(experiment.name);
  if (!experiment.cells.length) {
    section(experiment.name, heading, about, el("p", {}, `Nothing is finished yet: ${progressText(experiment)}.`));
  } else if (experiment.cells.some((cell) => cell.author !== null)) {
    section(experiment.name, heading, about, partial, authorChart(experiment).figure, authorTable(experiment));
  } else {
    const caption = experiment.name === "figure1" ? "The paper draws its Figure 1 with half a standard deviation and gives no numbers for it."
      : "Diamonds are the paper's.";
    section(experiment.name, heading, about, partial, barsChart(experiment, caption), resultTable(experiment));
  }
}

const VERDICTS = { holds: ["holds", "✓ holds"], "does not hold": ["fails", "✗ does not hold"], undecided: ["open", "? undecided"] };

function showClaims() {
  if (!data.claims.length) return;
  const columns = [{ title: "claim", name: true }, { title: "verdict", name: true }, { title: "effect (points)" },
    { title: "95 % interval" }, { title: "p" }, { title: "n" }];
  const rows = data.claims.map((one) => {
    const [kind, text] = VERDICTS[one.verdict] || ["open", one.verdict];
    return [{ cell: el("span", {}, one.claim) }, { cell: el("span", { class: `verdict ${kind}` }, text), value: one.verdict },
      { cell: signed(one.effect), value: one.effect }, { cell: one.interval ? `${signed(one.interval[0])} … ${signed(one.interval[1])}` : NONE },
      { cell: one.p === null ? NONE : number(Number(one.p.toPrecision(2))), value: one.p }, { cell: String(one.n), value: one.n }];
  });
  const count = (verdict) => data.claims.filter((one) => one.verdict === verdict).length;
  section("claims", "The paper's claims",
    el("p", {}, `${count("holds")} hold, ${count("does not hold")} do not, ${count("undecided")} are undecided by these results.`),
    table("The paper's sentences about its results, and what these results say to them. Effects are paired differences of " +
      "means, against the strongest rival where there are several; p is two-sided, after Holm's correction over the claims " +
      "that could be tested; n counts graphs or, for texts, splits or books.",
    columns, [rows], { id: "claims-table" }));
}
