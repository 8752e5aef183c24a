// Single trainings: accuracies one by one, learning curves, running time.

const runs = data.realizations.id.map((_, place) =>
  Object.fromEntries(Object.entries(data.realizations).map(([key, values]) => [key, values[place]])));
const withResults = data.experiments.filter((experiment) => experiment.cells.length);
const experimentOptions = withResults.map((one) => [one.name, experimentTitle(one.name)]);

// The same spread for the same training, so that a redrawn chart does not jump.
const jitter = (id) => (parseInt(id.slice(0, 6), 16) / 0xffffff || 0.5) - 0.5;

const runText = (run) => `${run.author ? `${run.author}, ` : ""}graph ${run.graph}, draw ${run.draw}, ` +
  `${run.outcome === "finished" ? "" : `${run.outcome}, `}${run.id}`;

const at = (run) => (run.author === null ? placeKey(run) : run.author);

function stripChart(experiment) {
  const own = runs.filter((run) => run.experiment === experiment.name);
  const shown = filtersOf(experiment.cells);
  const places = experiment.cells.some((cell) => cell.author !== null)
    ? [...new Set(own.map((run) => run.author))].map((author) => [author, author])
    : [...placesOf(experiment.cells)].map(([key, place]) => [key, place.title]);
  const position = (run) => places.findIndex(([key]) => key === at(run)) +
    (shown.findIndex((one) => one.name === run.filter) - (shown.length - 1) / 2 + 0.62 * jitter(run.id)) * 0.8 / shown.length;
  return {
    alt: `Accuracy of each of ${own.length} trainings, by place and filter.`,
    traces: shown.map((one) => {
      const mine = own.filter((run) => run.filter === one.name);
      return { type: "scatter", mode: "markers", name: label(one.title), x: mine.map(position),
        y: mine.map((run) => 100 * run.accuracy_last), text: mine.map((run) => label(runText(run))),
        marker: { color: one.color, size: 7, opacity: 0.75, line: outline(), symbol: mine.map((run) => (run.outcome === "finished" ? "circle" : "x")) },
        hovertemplate: `%{y:.1f} %<br>%{text}<extra>${label(one.title)}</extra>` };
    }),
    layout: { xaxis: { tickvals: places.map((_, place) => place), ticktext: places.map(([, text]) => label(text)),
      range: [-0.5, places.length - 0.5], zeroline: false, showgrid: false, ticks: "" },
    yaxis: { title: { text: "test accuracy (%)" }, range: [0, 104] }, legend: { y: -0.1 } },
  };
}

function pairChart(experiment, rival) {
  const own = runs.filter((run) => run.experiment === experiment.name);
  const key = (run) => `${at(run)}/${run.graph}/${run.draw}`;
  const theirs = new Map(own.filter((run) => run.filter === rival).map((run) => [key(run), run]));
  const pairs = own.filter((run) => run.filter !== rival && theirs.has(key(run)));
  const better = pairs.filter((run) => run.accuracy_last > theirs.get(key(run)).accuracy_last).length;
  const diagonal = { type: "line", x0: 0, y0: 0, x1: 100, y1: 100, layer: "below", line: { width: 1, dash: "dot", color: themeText() } };
  return {
    alt: `Each training against the ${filterTitle(rival)} on the same graph and data: better in ${better} of ${pairs.length}.`,
    traces: filtersOf(experiment.cells).filter((one) => one.name !== rival).map((one) => {
      const mine = pairs.filter((run) => run.filter === one.name);
      return { type: "scatter", mode: "markers", name: label(one.title), x: mine.map((run) => 100 * theirs.get(key(run)).accuracy_last),
        y: mine.map((run) => 100 * run.accuracy_last),
        text: mine.map((run) => label(`${run.author ? "" : `K = ${run.K}, L = ${run.L}, `}${runText(run)}`)),
        marker: { color: one.color, size: 8, opacity: 0.75, line: outline() },
        hovertemplate: `%{y:.1f} % against %{x:.1f} %<br>%{text}<extra>${label(one.title)}</extra>` };
    }),
    layout: { shapes: [diagonal], xaxis: { title: { text: `${label(filterTitle(rival))} (%)` }, range: [0, 104] },
      yaxis: { title: { text: "others (%)" }, range: [0, 104] } },
  };
}

function showRuns() {
  if (!runs.length) return;
  let experiment = withResults[0];
  let rival = "";
  const made = chart("Every dot is one training; a cross one that diverged, with the accuracy it has. Against a filter: " +
    "dots above the dotted line did better than it on the same graph and data.",
  () => (rival && filtersOf(experiment.cells).some((one) => one.name === rival) ? pairChart(experiment, rival) : stripChart(experiment)), 420);
  const which = select("Experiment", experimentOptions, (key) => {
    experiment = withResults.find((one) => one.name === key);
    made.draw();
  });
  const against = select("Against", [["", "nothing: one by one"], ...data.filters.map((one) => [one.name, one.title])], (key) => {
    rival = key;
    made.draw();
  });
  section("trainings", "Training by training", controls(which.field, against.field), made.figure);
}

const CURVES = { loss: "training loss", valid_accuracy: "validation accuracy (%)" };

function curveTraces(cell, kind, scale, axes, singly) {
  const { mean, low, high, single } = cell.curves[kind];
  const one = filters.get(cell.filter);
  const epochs = mean.map((_, place) => place + 1);
  const scaled = (values) => values.map((value) => (value === null ? null : scale * value));
  const shared = { type: "scatter", mode: "lines", legendgroup: one.name, hoverinfo: "skip", showlegend: false, ...axes };
  const around = singly
    ? single.map((curve) => ({ ...shared, x: curve.map((_, place) => place + 1), y: scaled(curve), opacity: 0.3,
      line: { color: one.color, width: 1 } }))
    : [{ ...shared, x: epochs, y: scaled(low), line: { width: 0, color: one.color } },
      { ...shared, x: epochs, y: scaled(high), line: { width: 0, color: one.color }, fill: "tonexty", fillcolor: `${one.color}2e` }];
  return [...around, { ...shared, hoverinfo: "all", showlegend: kind === "loss", name: label(one.title), x: epochs, y: scaled(mean),
    line: { color: one.color, width: 2.4 }, hovertemplate: `epoch %{x}: %{y:.4~g}<extra>${label(one.title)}</extra>` }];
}

function showCurves() {
  const places = withResults.flatMap((experiment) => {
    const authors = [...new Set(experiment.cells.map((cell) => cell.author))];
    return authors.flatMap((author) => [...placesOf(experiment.cells.filter((cell) => cell.author === author)).values()].map((place) => ({
      title: `${experimentTitle(experiment.name)}, ${author === null ? "" : `${author}, `}${placeTitle(place.cells[0], experiment.cells)}`,
      cells: place.cells.filter((cell) => cell.curves.loss.mean.length || cell.curves.valid_accuracy.mean.length) })));
  }).filter((place) => place.cells.length);
  if (!places.length) return;
  let place = places[0];
  let singly = false;
  const made = chart("Mean over trainings; the band reaches from the lowest to the highest of them.", () => ({
    alt: `Training loss and validation accuracy by epoch, ${place.title}. After the last epoch: ${place.cells.map((cell) =>
      `${filterTitle(cell.filter)} ${percent(cell.curves.valid_accuracy.mean.at(-1))} % (n = ${cell.curves.valid_accuracy.of})`).join(", ")}.`,
    traces: place.cells.flatMap((cell) => [...curveTraces(cell, "loss", 1, {}, singly),
      ...curveTraces(cell, "valid_accuracy", 100, { xaxis: "x2", yaxis: "y2" }, singly)]),
    layout: { grid: narrow() ? { rows: 2, columns: 1, pattern: "independent" } : { rows: 1, columns: 2, pattern: "independent", xgap: 0.22 },
      height: narrow() ? 620 : 400, legend: { y: narrow() ? -0.1 : -0.17 },
      xaxis: { title: { text: "epoch" } }, yaxis: { title: { text: CURVES.loss } },
      xaxis2: { title: { text: "epoch" } }, yaxis2: { title: { text: CURVES.valid_accuracy } } },
  }), 400);
  const which = select("Cell", places.map((one, key) => [String(key), one.title]), (key) => { place = places[Number(key)]; made.draw(); });
  const box = checkbox("single trainings", (checked) => { singly = checked; made.draw(); });
  section("curves", "Learning curves", controls(which.field, box), made.figure);
}

const narrow = () => !printing && innerWidth < 720;

function showTimes() {
  const timed = withResults.flatMap((experiment) => experiment.cells.filter((cell) => cell.seconds).map((cell) => ({
    cell, title: `${experimentTitle(experiment.name)}, ${cell.author === null ? placeTitle(cell, experiment.cells) : cell.author}` })));
  if (!timed.length) return;
  const titles = [...new Set(timed.map((one) => one.title))].reverse();
  const shown = filtersOf(timed.map((one) => one.cell));
  const height = 130 + 16 * shown.length * titles.length ** 0.95;
  const total = runs.reduce((sum, run) => sum + run.seconds, 0);
  const made = chart("Mean time of one training; the line reaches from the fastest to the slowest.", () => ({
    alt: `Mean time of a training: ${timed.map(({ cell, title }) => `${title} ${filterTitle(cell.filter)} ${duration(cell.seconds.mean)}`).join("; ")}.`,
    traces: shown.map((one) => {
      const mine = timed.filter(({ cell }) => cell.filter === one.name);
      return { type: "bar", orientation: "h", name: label(one.title), y: mine.map(({ title }) => label(title)),
        x: mine.map(({ cell }) => cell.seconds.mean), marker: { color: one.color, line: outline() },
        error_x: { type: "data", symmetric: false, array: mine.map(({ cell }) => cell.seconds.max - cell.seconds.mean),
          arrayminus: mine.map(({ cell }) => cell.seconds.mean - cell.seconds.min), thickness: 1.2, width: 3 },
        customdata: mine.map(({ cell }) => [duration(cell.seconds.mean), cell.n, cell.parameters.join(" or ")]),
        hovertemplate: `%{y}<br>%{customdata[0]} on average, n = %{customdata[1]}<br>%{customdata[2]} parameters<extra>${label(one.title)}</extra>` };
    }),
    layout: { height, barmode: "group", xaxis: { title: { text: "seconds" }, rangemode: "tozero" },
      yaxis: { type: "category", categoryorder: "array", categoryarray: titles.map(label) },
      legend: { y: 1.01, yanchor: "bottom" }, margin: { l: 110, r: 12, t: 62, b: 45 } },
  }), height);
  section("time", "Running time", el("p", {}, `${duration(total)} of training in all, ${runs.length} trainings.`), made.figure);
}
