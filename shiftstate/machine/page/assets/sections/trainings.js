// Single trainings, one by one or in pairs.

// [{experiment, cell, id, value, outcome, seconds, counts}]
const trainings = data.experiments.flatMap((experiment) => experiment.trainings.id.map((id, place) => {
  const { cell, value, outcome, seconds, counts } = experiment.trainings;
  const own = Object.fromEntries(experiment.counts.map((count) => [count.name, counts[count.name][place]]));
  return { experiment, id, cell: experiment.cells[cell[place]], value: value[place], outcome: outcome[place], seconds: seconds[place], counts: own };
}));
const trainingsOf = (experiment) => trainings.filter((run) => run.experiment === experiment);

// From −0.5 to 0.5, the same for the same training, so that a redrawn chart does not jump.
function jitter(id) {
  let mixed = 2166136261;
  for (const letter of id) mixed = Math.imul(mixed ^ letter.codePointAt(0), 16777619);
  return (mixed >>> 0) / 0xffffffff - 0.5;
}

function runText({ experiment, id, outcome, counts }) {
  const numbers = experiment.counts.map((count) => `${count.title} ${counts[count.name]}`);
  return [...numbers, ...(outcome === "finished" ? [] : [outcome]), id].join(", ");
}

// The place that each training stands in.
function standing(experiment) {
  const found = new Map();
  placesOf(experiment).forEach((place, rank) => place.cells.forEach((cell) => found.set(cell, { ...place, rank })));
  return (run) => found.get(run.cell);
}

function valueAxis(metric) {
  const ends = metricRange(metric);
  return { title: { text: label(metricTitle(metric)) }, ...(ends ? { range: ends } : {}) };
}

function stripChart(experiment) {
  const { metric } = experiment;
  const own = trainingsOf(experiment);
  const series = seriesOf(experiment);
  const places = placesOf(experiment);
  const at = standing(experiment);
  const position = (run, rank) => at(run).rank + (rank - (series.length - 1) / 2 + 0.62 * jitter(run.id)) * 0.8 / series.length;
  return {
    alt: `${metric.title} of each of ${own.length} trainings, by ${placeAxes(experiment).map((axis) => axis.title).join(", ")} and ${axisOf(experiment, experiment.series).title}.`,
    traces: series.map((one, rank) => {
      const mine = own.filter((run) => run.cell.at[experiment.series] === one.value);
      return { type: "scatter", mode: "markers", name: label(one.title), x: mine.map((run) => position(run, rank)),
        y: mine.map((run) => scaled(metric, run.value)), text: mine.map((run) => `${label(measured(metric, run.value))}<br>${label(runText(run))}`),
        marker: { color: one.color, size: 7, opacity: 0.75, line: outline(), symbol: mine.map((run) => (run.outcome === "finished" ? "circle" : "x")) },
        hovertemplate: `%{text}<extra>${label(one.title)}</extra>` };
    }),
    layout: { xaxis: { tickvals: places.map((_, place) => place), ticktext: places.map((place) => label(place.title)),
      range: [-0.5, places.length - 0.5], zeroline: false, showgrid: false, ticks: "" },
    yaxis: valueAxis(metric), legend: { y: -0.1 } },
  };
}

// Each training against one of the rival on the same place, unit and repetition.
function pairChart(experiment, rival) {
  const { metric } = experiment;
  const at = standing(experiment);
  const key = (run) => JSON.stringify([at(run).key, run.counts]);
  const own = trainingsOf(experiment).filter((run) => !missing(run.value));
  const theirs = new Map(own.filter((run) => run.cell.at[experiment.series] === rival.value).map((run) => [key(run), run]));
  const pairs = own.filter((run) => run.cell.at[experiment.series] !== rival.value && theirs.has(key(run)));
  const better = pairs.filter((run) => isBetter(metric, run.value, theirs.get(key(run)).value)).length;
  const values = pairs.flatMap((run) => [run.value, theirs.get(key(run)).value]).map((value) => scaled(metric, value));
  const ends = metricRange(metric) ?? [Math.min(...values), Math.max(...values)];
  const diagonal = { type: "line", x0: ends[0], y0: ends[0], x1: ends[1], y1: ends[1], layer: "below", line: { width: 1, dash: "dot", color: themeText() } };
  return {
    alt: `Each training against the one of ${rival.title} on the same data: better in ${better} of ${pairs.length}.`,
    traces: seriesOf(experiment).filter((one) => one !== rival).map((one) => {
      const mine = pairs.filter((run) => run.cell.at[experiment.series] === one.value);
      const text = (run) => [`${measured(metric, run.value)} against ${measured(metric, theirs.get(key(run)).value)}`,
        `${at(run).title}, ${runText(run)}`].map(label).join("<br>");
      return { type: "scatter", mode: "markers", name: label(one.title), x: mine.map((run) => scaled(metric, theirs.get(key(run)).value)),
        y: mine.map((run) => scaled(metric, run.value)), text: mine.map(text), marker: { color: one.color, size: 8, opacity: 0.75, line: outline() },
        hovertemplate: `%{text}<extra>${label(one.title)}</extra>` };
    }),
    layout: { shapes: [diagonal], xaxis: { ...valueAxis(metric), title: { text: label(withUnit(rival.title, metric.unit)) } },
      yaxis: { ...valueAxis(metric), title: { text: label(withUnit("others", metric.unit)) } } },
  };
}

function showTrainings() {
  if (!trainings.length) return;
  let [experiment] = withResults;
  let rival = null;
  const caption = el("span", {});
  const made = chart(caption, () => (rival ? pairChart(experiment, rival) : stripChart(experiment)), 420);
  const holder = el("div", {});
  const show = () => {
    const where = experiment.metric.better === "higher" ? "above" : "below";
    const same = ["place", ...experiment.counts.map((count) => count.title)].join(", ");
    caption.textContent = rival ? `Every dot is one training. Dots ${where} the dotted line did better than ${rival.title} with the same ${same}.`
      : "Every dot is one training; a cross is one that diverged, with the value it has.";
    made.draw();
  };
  const open = (next) => {
    experiment = next;
    rival = null;
    const series = seriesOf(experiment);
    holder.replaceChildren(select("Against", [["", "nothing: one by one"], ...series.map((one, place) => [String(place), one.title])], (key) => {
      rival = key === "" ? null : series[Number(key)];
      show();
    }).field);
    show();
  };
  const which = select("Experiment", withResults.map((one, place) => [String(place), one.title]), (key) => open(withResults[Number(key)]));
  section("trainings", "Training by training", controls(which.field, holder), made.figure);
  open(experiment);
}
