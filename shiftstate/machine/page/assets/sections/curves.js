// Learning curves, and how long the trainings took.

const subplot = (letter, place) => `${letter}${place ? place + 1 : ""}`;

function curveTraces(experiment, cell, kind, place, singly) {
  const { mean, low, high, single } = cell.curves[kind.name];
  const one = seriesAt(experiment, cell);
  const title = label(one.title);
  const epochs = mean.map((_, epoch) => epoch + 1);
  const values = (list) => list.map((value) => scaled(kind, value));
  const shared = { type: "scatter", mode: "lines", legendgroup: title, hoverinfo: "skip", showlegend: false,
    xaxis: subplot("x", place), yaxis: subplot("y", place) };
  const around = singly
    ? single.map((curve) => ({ ...shared, x: curve.map((_, epoch) => epoch + 1), y: values(curve), opacity: 0.3, line: { color: one.color, width: 1 } }))
    : [{ ...shared, x: epochs, y: values(low), line: { width: 0, color: one.color } },
      { ...shared, x: epochs, y: values(high), line: { width: 0, color: one.color }, fill: "tonexty", fillcolor: `${one.color}2e` }];
  return [...around, { ...shared, hoverinfo: "all", showlegend: place === 0, name: title, x: epochs, y: values(mean),
    line: { color: one.color, width: 2.4 }, hovertemplate: `epoch %{x}: %{y:.4~g}<extra>${title}</extra>` }];
}

function curvesChart({ experiment, title, cells }, singly) {
  const kinds = experiment.curves;
  const last = kinds.at(-1);
  const told = cells.map((cell) => `${seriesAt(experiment, cell).title} ${number(scaled(last, cell.curves[last.name].mean.at(-1)))} (n = ${cell.curves[last.name].of})`);
  const stacked = narrow();
  const grid = { rows: stacked ? kinds.length : 1, columns: stacked ? 1 : kinds.length, pattern: "independent", ...(stacked ? {} : { xgap: 0.22 }) };
  const axes = kinds.flatMap((kind, place) => [[`xaxis${place ? place + 1 : ""}`, { title: { text: "epoch" } }],
    [`yaxis${place ? place + 1 : ""}`, { title: { text: label(withUnit(kind.title, kind.unit)) } }]]);
  return {
    alt: `${kinds.map((kind) => kind.title).join(" and ")} by epoch, ${title}. ${withUnit(last.title, last.unit)} after the last epoch: ${told.join(", ")}.`,
    traces: cells.flatMap((cell) => kinds.flatMap((kind, place) => curveTraces(experiment, cell, kind, place, singly))),
    layout: { grid, height: stacked ? 310 * kinds.length : 400, legend: { y: stacked ? -0.1 : -0.17 }, ...Object.fromEntries(axes) },
  };
}

function showCurves() {
  const known = (cell) => Object.values(cell.curves).some((curve) => curve.mean.length);
  const places = withResults.flatMap((experiment) => placesOf(experiment).map((place) => ({ experiment,
    title: `${experiment.title}, ${place.title}`, cells: bySeries(experiment, place.cells.filter(known)) })))
    .filter((place) => place.cells.length && place.experiment.curves.length);
  if (!places.length) return;
  let [place] = places;
  let singly = false;
  const made = chart("Mean over trainings; the band reaches from the lowest to the highest of them.", () => curvesChart(place, singly), 400);
  const which = select("Cell", places.map((one, key) => [String(key), one.title]), (key) => { place = places[Number(key)]; made.draw(); });
  const box = checkbox("single trainings", (checked) => { singly = checked; made.draw(); });
  section("curves", "Learning curves", controls(which.field, box), made.figure);
}

const WIDE_RANGE = 30; // from here on a straight axis would hide the short ones
const SHORTEST = 0.001; // seconds are stored with three decimals

function showTimes() {
  const timed = withResults.flatMap((experiment) => placesOf(experiment).flatMap((place) => bySeries(experiment, place.cells)
    .filter((cell) => cell.seconds).map((cell) => ({ cell, one: seriesAt(experiment, cell), title: `${experiment.title}, ${place.title}`,
      ...Object.fromEntries(["mean", "min", "max"].map((key) => [key, Math.max(SHORTEST, cell.seconds[key])])) }))));
  if (!timed.length) return;
  const titles = [...new Set(timed.map((each) => each.title))].reverse();
  const series = [...new Map(timed.map(({ one }) => [one.title, one])).values()];
  const height = () => 130 + legendHeight(series.length) + titles.length * Math.max(24, 11 * series.length);
  const log = Math.max(...timed.map(({ max }) => max)) > WIDE_RANGE * Math.min(...timed.map(({ min }) => min));
  const total = trainings.reduce((sum, run) => sum + (run.seconds ?? 0), 0);
  const made = chart("Mean time of one training; the line reaches from the fastest to the slowest.", () => ({
    alt: `Mean time of a training: ${timed.map(({ cell, one, title }) => `${title} ${one.title} ${duration(cell.seconds.mean)}`).join("; ")}.`,
    traces: series.map((one) => {
      const mine = timed.filter((each) => each.one.title === one.title);
      return { type: "scatter", mode: "markers", orientation: "h", name: label(one.title), offsetgroup: one.title, y: mine.map(({ title }) => label(title)),
        x: mine.map(({ mean: seconds }) => seconds), marker: { color: one.color, size: 8, line: outline() },
        error_x: { type: "data", symmetric: false, array: mine.map((each) => each.max - each.mean),
          arrayminus: mine.map((each) => each.mean - each.min), thickness: 1.2, width: 0 },
        text: mine.map(({ cell }) => `${duration(cell.seconds.mean)} on average, n = ${cell.n}` +
          (cell.parameters.length ? `<br>${cell.parameters.join(" or ")} parameters` : "")),
        hovertemplate: `%{y}<br>%{text}<extra>${label(one.title)}</extra>` };
    }),
    layout: { height: height(), scattermode: "group", xaxis: { title: { text: "seconds" }, ...(log ? { type: "log", dtick: 1 } : { rangemode: "tozero" }) },
      yaxis: { type: "category", categoryorder: "array", categoryarray: titles.map(label) },
      legend: { y: 1.01, yanchor: "bottom" }, margin: { l: 110, r: 12, t: 62, b: 45 } },
  }), height());
  section("time", "Running time", el("p", {}, `${duration(total)} of training in all, ${trainings.length} trainings.`), made.figure);
}
