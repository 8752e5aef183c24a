// Elements, tables and controls. Text enters the document as text: nothing here parses markup.

const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const NONE = "–";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// A name from outside, kept from turning the direction of the text around it.
const name = (text) => el("bdi", {}, String(text));

function swatch(color) {
  const mark = el("span", { class: "swatch", "aria-hidden": "true" });
  mark.style.background = color;
  return mark;
}

// A section with its line in the contents.
function section(id, heading, ...children) {
  document.getElementById("contents").append(el("li", {}, el("a", { href: `#${encodeURIComponent(id)}` }, heading)));
  const made = el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, heading), children);
  document.getElementById("content").append(made);
  return made;
}

// columns: {title, name?}; a row is a list of cells, its first the row's heading; groups is a list of lists of rows.
function table(caption, columns, groups, attributes = {}) {
  const head = columns.map((column) => el("th", { scope: "col", class: column.name ? "name" : null }, column.title));
  const bodies = groups.map((rows) => el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, place) => {
    const given = cell && cell.cell ? cell : { cell };
    const kind = columns[place].name ? "name" : "";
    const tag = place === 0 ? "th" : "td";
    return el(tag, { scope: place === 0 ? "row" : null, class: `${kind} ${given.best ? "best" : ""}`.trim() || null,
      "data-value": given.value }, given.cell);
  })))));
  const made = el("table", attributes, el("caption", {}, el("span", {}, caption)), el("thead", {}, el("tr", {}, head)), bodies);
  return el("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": caption }, made);
}

let fields = 0;

// options: [value, text] pairs; changed is called with the value.
function select(label, options, changed, value = null) {
  const id = `field-${(fields += 1)}`;
  const control = el("select", { id, onchange: () => changed(control.value) },
    options.map(([key, text]) => el("option", { value: key, selected: key === value ? "" : null }, text)));
  return { control, field: el("div", { class: "field" }, el("label", { for: id }, label), control) };
}

function radios(label, options, changed) {
  const group = `field-${(fields += 1)}`;
  return el("fieldset", {}, el("legend", {}, label), options.map(([key, text], place) => el("label", {},
    el("input", { type: "radio", name: group, value: key, checked: place === 0 ? "" : null, onchange: () => changed(key) }),
    text)));
}

function checkbox(label, changed, checked = false) {
  const box = el("input", { type: "checkbox", checked: checked ? "" : null, onchange: () => changed(box.checked) });
  return el("fieldset", {}, el("label", {}, box, label));
}

const controls = (...children) => el("div", { class: "controls" }, children);
