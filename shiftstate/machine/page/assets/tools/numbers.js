// Numbers as text: plain ones, those of a metric, and durations.

const minus = (text) => text.replace("-", "−");
const missing = (value) => value === null || value === undefined;

function number(value) {
  if (missing(value)) return NONE;
  if (value === 0) return "0";
  const size = Math.abs(value);
  return minus(size >= 1e4 || size < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(4))));
}

function duration(seconds) {
  if (seconds < 90) return `${number(Math.round(seconds * 10) / 10)} s`;
  return seconds < 5400 ? `${(seconds / 60).toFixed(1)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

// A value of a metric: times its scale, with its digits; `measured` with its unit.
const scaled = (metric, value) => (missing(value) ? null : metric.scale * value);
const fixed = (metric, value, digits = metric.digits) => (missing(value) ? NONE : minus(scaled(metric, value).toFixed(digits)));
const measured = (metric, value) => `${fixed(metric, value)}${metric.unit && ` ${metric.unit}`}`;
const spread = (metric, value, digits) => (missing(value) ? "" : ` ± ${fixed(metric, value, digits)}`);
const range = (metric, pair, text = fixed) => (pair ? `${text(metric, pair[0])} … ${text(metric, pair[1])}` : NONE);
const withUnit = (title, unit) => (unit ? `${title} (${unit})` : title);

// A difference, with its sign; of shares in % it is points.
function signed(metric, value) {
  if (missing(value)) return NONE;
  const text = fixed(metric, value);
  return /[1-9]/.test(text) && value > 0 ? `+${text}` : /[1-9]/.test(text) ? text : text.replace("−", "");
}

const differenceUnit = (metric) => (metric.unit === "%" ? "points" : metric.unit);
const isBetter = (metric, one, other) => (metric.better === "higher" ? one > other : one < other);
const best = (metric, values) => (metric.better === "higher" ? Math.max(...values) : Math.min(...values));
