// SVG elements, markers of the schemes, and saving a drawing or a table as a file.
const SVG = "http://www.w3.org/2000/svg";
const LINE = 15;

function draw(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== null) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function html(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function write(x, y, words, attributes) {
  return draw("text", { x: round(x), y: round(y), ...attributes }, words);
}

// Lines of text, one below the other, centred where a single line would be.
function writeLines(x, y, lines, attributes) {
  const first = y - ((lines.length - 1) * LINE) / 2;
  return draw("text", { y: round(first), ...attributes }, ...lines.map((words, n) => draw("tspan", { x: round(x), y: round(first + n * LINE) }, words)));
}

// A text in lines of at most a width, broken between words; a longer word, after one of its signs or anywhere.
function wrap(text, most, size) {
  const lines = [];
  for (const word of text.split(" ")) {
    const joined = lines.length ? lines[lines.length - 1] + " " + word : word;
    if (lines.length && textWidth(joined, size) <= most) lines[lines.length - 1] = joined;
    else lines.push(...pieces(word, most, size));
  }
  return lines;
}

function pieces(word, most, size) {
  if (textWidth(word, size) <= most || word.length < 2) return [word];
  let end = word.length - 1;
  while (end > 1 && textWidth(word.slice(0, end), size) > most) end -= 1;
  const sign = Math.max(..."=-_.,+/".split("").map((c) => word.lastIndexOf(c, end - 1)));
  if (sign > end / 2) end = sign + 1;
  return [word.slice(0, end), ...pieces(word.slice(end), most, size)];
}

function round(value) {
  return Math.round(value * 100) / 100;
}

const ruler = document.createElement("canvas").getContext("2d");
const widths = new Map();

function textWidth(words, size) {
  const key = size + words;
  if (!widths.has(key)) {
    ruler.font = (size || 13) + "px " + getComputedStyle(document.body).fontFamily;
    widths.set(key, ruler.measureText(words).width);
  }
  return widths.get(key);
}

const DASHES = ["", "8 3", "2 3", "10 3 2 3", "5 2", "1 2", "12 4", "6 2 1 2 1 2"];
const SHAPES = [
  (r) => `M${-r} 0A${r} ${r} 0 1 0 ${r} 0A${r} ${r} 0 1 0 ${-r} 0Z`,
  (r) => `M${-r} ${-r}H${r}V${r}H${-r}Z`,
  (r) => `M0 ${-1.25 * r}L${1.2 * r} ${r}H${-1.2 * r}Z`,
  (r) => `M0 ${-1.4 * r}L${1.4 * r} 0L0 ${1.4 * r}L${-1.4 * r} 0Z`,
  (r) => `M0 ${1.25 * r}L${1.2 * r} ${-r}H${-1.2 * r}Z`,
  (r) => `M${-r} ${-r}L${r} ${r}M${-r} ${r}L${r} ${-r}`,
  (r) => `M0 ${-1.3 * r}V${1.3 * r}M${-1.3 * r} 0H${1.3 * r}`,
  (r) => `M${-r} ${-1.2 * r}H${r}L0 0L${r} ${1.2 * r}H${-r}L0 0Z`,
];

function schemeColour(scheme) {
  return `var(--s${(scheme % page.side) % 8})`;
}

// The shape and dash of a scheme. From the ninth scheme colours repeat with other shapes: 64 schemes are distinct. The same scheme on the
// other side of a comparison has the same colour and another shape.
function form(scheme) {
  const own = scheme % page.side;
  return (own + 3 * Math.floor(own / 8) + 4 * Math.floor(scheme / page.side)) % 8;
}

function mark(scheme, x, y, r) {
  const shape = SHAPES[form(scheme)](r || 4);
  const open = form(scheme) === 5 || form(scheme) === 6;
  return draw("path", {
    d: shape, transform: `translate(${round(x)} ${round(y)})`, fill: schemeColour(scheme), class: "mark",
    stroke: open ? schemeColour(scheme) : "var(--page)", "stroke-width": open ? 2 : 1,
  });
}

function swatch(scheme) {
  const line = draw("line", { x1: 0, x2: 26, y1: 7, y2: 7, stroke: schemeColour(scheme), "stroke-width": 2.2, "stroke-dasharray": DASHES[form(scheme)] });
  return draw("svg", { width: 26, height: 14, "aria-hidden": "true" }, line, mark(scheme, 13, 7, 4));
}

function save(name, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = html("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

// A drawing with all inherited styles inlined, so that it looks the same elsewhere.
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const kept = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "text-anchor", "paint-order", "stroke-linejoin"];
  const from = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, n) => {
    const style = getComputedStyle(from[n]);
    kept.forEach((key) => element.setAttribute(key, style.getPropertyValue(key)));
  });
  const [, , width, height] = svg.getAttribute("viewBox").split(" ");
  copy.prepend(draw("rect", { width, height, fill: getComputedStyle(document.body).backgroundColor }));
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  return new XMLSerializer().serializeToString(copy);
}
