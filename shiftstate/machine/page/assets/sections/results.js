// What came out of each experiment: a chart of its cells, and a table beside published numbers.

const outline = () => ({ color: themeText(), width: 0.5 });
const cssColor = (key) => getComputedStyle(document.documentElement).getPropertyValue(`--${key}`).trim();
const themeText = () => cssColor("text");

function errorOf(experiment, cell, error) {
  if (error.of === "std") return scaled(experiment.metric, cell.std ?? 0) * error.scale;
  return cell.interval ? scaled(experiment.metric, cell.interval[1] - cell.interval[0]) / 2 : 0;
}

const publishedError = (metric, cell, error) => scaled(metric, cell.published.std ?? 0) * (error.of === "std" ? error.scale : 1);

function cellText({ metric }, cell) {
  const parts = [`${measured(metric, cell.mean)}${spread(metric, cell.std)}`, `95 % interval ${range(metric, cell.interval)}`,
    missing(cell.mean_best) ? null : `best on validation ${measured(metric, cell.mean_best)}`, `n = ${cell.n}`];
  return parts.filter(Boolean).map(label).join("<br>");
}

// The cells of a series as marks, and the published numbers of them; along is the axis of the values, "x" or "y".
function seriesTraces(experiment, one, along, error, own) {
  const { metric, published } = experiment;
  const across = along === "x" ? "y" : "x";
  const title = label(one.title);
  const cells = placesOf(experiment).flatMap((place) => place.cells.filter((cell) => cell.at[experiment.series] === one.value)
    .map((cell) => ({ cell, at: label(place.title) })));
  const shared = { legendgroup: title, offsetgroup: title, ...(along === "x" ? { orientation: "h" } : {}) };
  const known = cells.filter(({ cell }) => cell.published);
  const traces = [{ ...shared, ...own.mark(one), name: title, [across]: cells.map(({ at }) => at),
    [along]: cells.map(({ cell }) => scaled(metric, cell.mean)), text: cells.map(({ cell }) => cellText(experiment, cell)),
    [`error_${along}`]: { type: "data", array: cells.map(({ cell }) => errorOf(experiment, cell, error)), thickness: 1.3, width: own.cap },
    hovertemplate: `%{${across}}<br>%{text}<extra>${title}</extra>` }];
  if (known.length) {
    traces.push({ ...shared, type: "scatter", mode: "markers", name: label(published), legendgroup: "published",
      [across]: known.map(({ at }) => at), [along]: known.map(({ cell }) => scaled(metric, cell.published.mean)), ...own.published(one),
      text: known.map(({ cell }) => label(publishedText(experiment, cell))),
      ...(own.publishedErrors ? { [`error_${along}`]: { type: "data", array: known.map(({ cell }) => publishedError(metric, cell, error)),
        thickness: 1.3, width: own.cap, color: themeText() } } : {}),
      hovertemplate: `%{${across}}<br>%{text}<extra>${title}, ${label(published)}</extra>` });
  }
  return traces;
}

const publishedText = ({ metric, published_digits: digits }, { published }) => (published
  ? `${fixed(metric, published.mean, digits)}${spread(metric, published.std, digits)}` : NONE);

// Published numbers come last, and the first of them stands for all in the legend.
function inOrder(traces) {
  const [own, published] = [false, true].map((wanted) => traces.filter((trace) => (trace.legendgroup === "published") === wanted));
  return [...own, ...published.map((trace, place) => ({ ...trace, showlegend: place === 0 }))];
}

const dashed = () => ({ color: cssColor("soft"), width: 1, dash: "dash" });
const small = () => ({ size: 11, color: cssColor("soft") });
const wrapped = (title) => title.split(" ").map(label).join("<br> ");

function bars(experiment, error) {
  const { metric, lines } = experiment;
  const at = (one) => scaled(metric, one.value);
  const fixedRange = metricRange(metric);
  const mark = (one) => ({ type: "bar", textposition: "none", marker: { color: one.color, line: outline() } });
  const published = () => ({ marker: { symbol: "diamond", size: 9, color: themeText() } });
  return {
    traces: inOrder(seriesOf(experiment).flatMap((one) => seriesTraces(experiment, one, "y", error, { mark, published, publishedErrors: true, cap: 4 }))),
    layout: { barmode: "group", scattermode: "group", bargap: 0.25, xaxis: { type: "category", ticks: "", showgrid: false },
      yaxis: { title: { text: label(metricTitle(metric)) }, ...(fixedRange ? { range: fixedRange } : { rangemode: "tozero" }) },
      legend: { y: -0.12 }, margin: { l: 56, r: lines.length ? 70 : 12, t: 34, b: 40 },
      shapes: lines.map((one) => ({ type: "line", xref: "paper", x0: 0, x1: 1, y0: at(one), y1: at(one), line: dashed() })),
      annotations: lines.map((one) => ({ xref: "paper", x: 1, xanchor: "left", y: at(one), yanchor: "middle", text: ` ${wrapped(one.title)}`,
        showarrow: false, align: "left", font: small() })) },
  };
}

// Around everything that is drawn, within the metric's ends.
function dotRange(experiment, error) {
  const { metric, lines, cells } = experiment;
  const around = cells.flatMap((cell) => [-1, 1].map((sign) => scaled(metric, cell.mean) + sign * errorOf(experiment, cell, error)));
  const values = [...around, ...lines.map((one) => scaled(metric, one.value)), ...cells.filter((cell) => cell.published).map((cell) => scaled(metric, cell.published.mean))];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const room = 0.04 * (most - least || Math.abs(most) || 1);
  const ends = metricRange(metric);
  return ends ? [Math.max(ends[0], least - room), Math.min(ends[1], most + room)] : [least - room, most + room];
}

// A phone has room for one name in a line of the legend.
const legendHeight = (count) => (narrow() ? 19 * count : 0);
const dotHeight = (experiment) => 130 + legendHeight(1 + seriesOf(experiment).length) +
  placesOf(experiment).length * Math.max(26, 9 * seriesOf(experiment).length);

function dots(experiment, error) {
  const { metric, lines } = experiment;
  const at = (one) => scaled(metric, one.value);
  const mark = (one) => ({ type: "scatter", mode: "markers", marker: { color: one.color, size: 9, line: outline() } });
  const published = (one) => ({ marker: { symbol: "diamond-open", size: 8, color: one.color, line: { width: 1.5 } } });
  const places = placesOf(experiment).map((place) => label(place.title)).reverse();
  return {
    traces: inOrder(seriesOf(experiment).flatMap((one) => seriesTraces(experiment, one, "x", error, { mark, published, cap: 0 }))),
    layout: { height: dotHeight(experiment), scattermode: "group",
      shapes: lines.map((one) => ({ type: "line", yref: "paper", y0: 0, y1: 1, x0: at(one), x1: at(one), layer: "below", line: dashed() })),
      annotations: lines.map((one) => ({ yref: "paper", y: 0, yanchor: "bottom", x: at(one), xanchor: "left", text: ` ${label(one.title)}`,
        showarrow: false, font: small() })),
      xaxis: { title: { text: label(metricTitle(metric)) }, range: dotRange(experiment, error) },
      yaxis: { type: "category", categoryorder: "array", categoryarray: places,
        range: [lines.length ? -0.8 : -0.5, places.length - 0.5] },
      legend: { y: 1.01, yanchor: "bottom" }, margin: { l: 110, r: 12, t: 62, b: 45 } },
  };
}

const PICTURES = { bars, dots };

function resultChart(experiment) {
  let error = experiment.errors[0];
  const { metric } = experiment;
  const told = placesOf(experiment).map((place) => `${place.title}: ${bySeries(experiment, place.cells).map((cell) =>
    `${seriesAt(experiment, cell).title} ${measured(metric, cell.mean)}`).join(", ")}`).join("; ");
  const notes = [...experiment.notes, ...(experiment.published ? [`Diamonds are published numbers (${experiment.published}).`] : [])];
  const made = chart(notes.join(" "), () => ({ ...PICTURES[experiment.picture](experiment, error), alt: `Mean ${metric.title}. ${told}.` }),
    experiment.picture === "dots" ? dotHeight(experiment) : 380);
  const choice = radios("Error bars", experiment.errors.map((one, place) => [String(place), one.title]), (key) => {
    error = experiment.errors[Number(key)];
    made.draw();
  });
  return [experiment.errors.length > 1 ? controls(choice) : null, made.figure];
}

const inUnit = ({ title, unit }) => (unit ? `${title} in ${unit}` : title);

// Every cell a row.
function cellTable(experiment) {
  const { metric, published } = experiment;
  const [own] = experiment.axes.filter((axis) => axis.name === experiment.series);
  const others = experiment.axes.filter((axis) => axis !== own);
  const validated = experiment.cells.some((cell) => !missing(cell.mean_best));
  const columns = [{ title: own.title, name: true }, ...others.map((axis) => ({ title: axis.title })), { title: "n" }, { title: "mean ± std" },
    { title: "95 % interval" }, ...(validated ? [{ title: "best on validation" }] : []), ...(published ? [{ title: published }] : [])];
  const row = (cell, bold) => [
    { cell: el("span", {}, swatch(seriesAt(experiment, cell).color), name(seriesAt(experiment, cell).title)) },
    ...others.map((axis) => ({ cell: name(valueAt(axis, cell)?.title ?? NONE) })), { cell: String(cell.n), value: cell.n },
    { cell: `${fixed(metric, cell.mean)}${spread(metric, cell.std)}`, value: cell.mean, best: bold }, { cell: range(metric, cell.interval) },
    ...(validated ? [{ cell: fixed(metric, cell.mean_best), value: cell.mean_best }] : []),
    ...(published ? [{ cell: publishedText(experiment, cell), value: cell.published?.mean }] : []),
  ];
  const groups = placesOf(experiment).map(({ cells }) => {
    const top = best(metric, cells.map((cell) => cell.mean));
    return bySeries(experiment, cells).map((cell) => row(cell, cells.length > 1 && cell.mean === top));
  });
  return table(`${experiment.title}: ${inUnit(metric)} of the model after the last epoch, n trainings; the interval's unit is the ` +
    `${experiment.interval_unit}; ${metric.better} is better; the best mean of a place is bold.`, columns, groups, { "data-experiment": experiment.name });
}

// Every place a row, with a column for each series.
function placeTable(experiment) {
  const { metric, published } = experiment;
  const heading = placeAxes(experiment).map((axis) => axis.title).join(", ");
  const counts = [...new Set(experiment.cells.map((cell) => cell.n))];
  const counted = (cell) => (counts.length > 1 ? el("span", { class: "of" }, ` n = ${cell.n}`) : null);
  const shown = seriesOf(experiment).map((one) => ({ ...one, published: ofSeries(experiment, one).some((cell) => cell.published) }));
  const columns = [{ title: heading, name: true }, ...shown.flatMap((one) => [{ title: one.title }, ...(one.published ? [{ title: published }] : [])])];
  const rows = placesOf(experiment).map(({ title, cells }) => {
    const top = best(metric, cells.map((cell) => cell.mean));
    return [{ cell: name(title) }, ...shown.flatMap((one) => {
      const cell = cells.find((each) => each.at[experiment.series] === one.value);
      return [cell ? { cell: el("span", {}, `${fixed(metric, cell.mean)}${spread(metric, cell.std)}`, counted(cell)), value: cell.mean, best: cells.length > 1 && cell.mean === top } : { cell: NONE },
        ...(one.published ? [{ cell: cell ? publishedText(experiment, cell) : NONE, value: cell?.published?.mean }] : [])];
    })];
  });
  return table(`${experiment.title}: ${inUnit(metric)}, mean ± standard deviation of ${counts.length > 1 ? "n" : counts[0]} trainings; ${metric.better} is better; ` +
    "the best mean of a row is bold.", columns, [rows], { "data-experiment": experiment.name });
}

const TABLES = { bars: cellTable, dots: placeTable };

function showExperiment(experiment) {
  const partial = isPartial(experiment) ? el("p", {}, el("strong", {}, "Partial: "), `${progressText(experiment)} are finished.`) : null;
  const about = experiment.about ? el("p", {}, experiment.about) : null;
  if (experiment.cells.length) {
    section(`experiment-${experiment.name}`, experiment.title, about, partial, resultChart(experiment), TABLES[experiment.picture](experiment));
  } else {
    section(`experiment-${experiment.name}`, experiment.title, about, el("p", {}, `Nothing is finished yet: ${progressText(experiment)}.`));
  }
}
