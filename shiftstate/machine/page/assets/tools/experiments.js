// Experiments: their axes, series and places. A series has a colour; a place is where cells of all series are compared.

const axisOf = (experiment, key) => experiment.axes.find((axis) => axis.name === key);
const seriesOf = (experiment) => axisOf(experiment, experiment.series).values;
const seriesAt = (experiment, cell) => seriesOf(experiment).find((one) => one.value === cell.at[experiment.series]);
const ofSeries = (experiment, one) => experiment.cells.filter((cell) => cell.at[experiment.series] === one.value);
const valueAt = (axis, cell) => axis.values.find((one) => one.value === cell.at[axis.name]);
const rankAt = (axis, cell) => axis.values.findIndex((one) => one.value === cell.at[axis.name]);
const keyOf = (cell, names) => JSON.stringify(names.map((key) => cell.at[key] ?? null));

// The experiment's own, and further axes if a series has several cells in one place otherwise.
function placeAxes(experiment) {
  const own = [experiment.series, ...experiment.place];
  const seen = new Map();
  for (const cell of experiment.cells) {
    const key = keyOf(cell, own);
    seen.set(key, [...(seen.get(key) ?? []), cell]);
  }
  const varies = (axis) => [...seen.values()].some((cells) => new Set(cells.map((cell) => cell.at[axis.name] ?? null)).size > 1);
  return experiment.axes.filter((axis) => experiment.place.includes(axis.name) || (!own.includes(axis.name) && varies(axis)));
}

// Named by what differs between places; by all of it if nothing does.
function placesOf(experiment) {
  const axes = placeAxes(experiment);
  const names = axes.map((axis) => axis.name);
  const several = axes.filter((axis) => new Set(experiment.cells.map((cell) => cell.at[axis.name] ?? null)).size > 1);
  const title = (cell) => (several.length ? several : axes).map((axis) => valueAt(axis, cell)?.place).filter(Boolean).join(", ");
  const places = new Map();
  const ranks = (a, b) => axes.map((axis) => rankAt(axis, a) - rankAt(axis, b)).find((difference) => difference) ?? 0;
  for (const cell of [...experiment.cells].sort(ranks)) {
    const key = keyOf(cell, names);
    if (!places.has(key)) places.set(key, { key, title: title(cell) || experiment.title, cells: [] });
    places.get(key).cells.push(cell);
  }
  return [...places.values()];
}

const bySeries = (experiment, cells) => seriesOf(experiment).flatMap((one) => cells.filter((cell) => cell.at[experiment.series] === one.value));

function progressText(experiment) {
  return experiment.plan ? `${experiment.stored} of ${experiment.plan.planned} trainings` : `${experiment.stored} trainings`;
}

const isPartial = (experiment) => experiment.plan !== null && experiment.stored < experiment.plan.planned;
const withResults = data.experiments.filter((experiment) => experiment.cells.length);
const metricTitle = (metric) => withUnit(metric.title, metric.unit);

// From one end of the metric to the other, with room for a mark at its upper end; undefined if it has no ends.
function metricRange({ low, high, scale }) {
  return missing(low) || missing(high) ? undefined : [scale * low, scale * (high + 0.04 * (high - low))];
}
