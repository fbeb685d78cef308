// Assembles the page: controls, figures with their tools, redrawing when the selection or the width changes.
const KINDS = {
  lines: [drawLines, describeLine], bars: [drawBars, describeBar], dots: [drawBars, describeBar],
  heat: [drawHeat, describeHeat], map: [drawMap, describeMap], network: [drawNetwork, describeNetwork],
  matrix: [drawMatrix, describeNetwork],
};

function controls() {
  const place = document.getElementById("controls");
  const parts = [];
  if (page.schemes.length > 1) {
    const chips = page.schemes.map((name, n) => html("button", { class: "chip", "aria-pressed": String(!state.hide.has(n)), title: "Show or hide", onclick: () => change((s) => toggle(s.hide, n)) }, swatch(n), name));
    parts.push(html("div", { class: "choice", role: "group", "aria-label": page.scheme_name || "Schemes" }, html("span", {}, page.scheme_name || "show"), ...chips));
  }
  if (page.views.labels.length > 1) {
    const buttons = page.views.labels.map((label, n) => html("button", { class: "view", "aria-pressed": String(state.view === n), onclick: () => change((s) => (s.view = n)) }, label));
    parts.push(html("div", { class: "choice", role: "group", "aria-label": page.views.name }, html("span", {}, page.views.name), ...buttons));
  }
  const focused = [...place.querySelectorAll("button")].indexOf(document.activeElement);
  place.replaceChildren(...parts);
  if (focused >= 0) place.querySelectorAll("button")[focused]?.focus();
}

// One figure on the page; `current` returns what to show now, or nothing.
function mount(place, key, current, extra) {
  const box = html("figure", {});
  place.append(box);
  let shown = "";
  function show(force) {
    const figure = current();
    box.hidden = !figure;
    if (!figure) return;
    const width = widthOf(box, figure);
    const open = state.open.has(key);
    const now = [figure.id, width, open, [...state.hide].sort()].join("|");
    if (now === shown && !force) return;
    shown = now;
    box.dataset.figure = figure.id;
    fill(box, figure, width, open, key, extra);
  }
  listeners.push(show);
  new ResizeObserver(() => show(false)).observe(box);
  show(false);
}

// In print a figure is drawn at its column's width, so that text keeps its size.
let printing = false;

function widthOf(box, figure) {
  if (!printing) return Math.round(Math.max(300, box.clientWidth || 560));
  return ["heat", "map"].includes(figure.kind) || box.parentElement.classList.contains("one") ? 800 : 410;
}

function print(begins) {
  printing = begins;
  listeners.forEach((listen) => listen());
}

function fill(box, figure, width, open, key, extra) {
  const [paint, describe] = KINDS[figure.kind];
  const { svg, points } = paint(figure, width);
  const drawing = html("div", { class: "drawing" }, svg);
  const press = (label, action, pressed) => html("button", { onclick: action, "aria-pressed": pressed === undefined ? null : String(pressed), "aria-label": `${label}: ${figure.title}` }, label);
  const tools = html("div", { class: "tools" },
    press("Table", () => change((s) => toggle(s.open, key)), open),
    press("CSV", () => save(figure.id + ".csv", "text/csv", csvOf(figure))),
    press("SVG", () => save(figure.id + ".svg", "image/svg+xml", standalone(svg))),
    extra ? extra() : null);
  const focus = box.contains(document.activeElement) ? [...box.querySelectorAll("button, select")].indexOf(document.activeElement) : -1;
  box.replaceChildren(html("h3", {}, figure.title), html("div", { class: "samples" }, figure.samples), drawing, html("figcaption", {}, figure.caption), tools, ...(open ? [tableOf(figure)] : []));
  box.classList.toggle("wide", ["heat", "map"].includes(figure.kind));
  addTip(drawing, svg, points, describe(figure));
  if (focus >= 0) box.querySelectorAll("button, select")[focus]?.focus();
}

// Samples per point keep their own name, because a drawn line already has a number.
function prepare(figure) {
  for (const one of figure.series) {
    if (one.n) one.n_samples = one.n;
    delete one.n;
  }
  return figure;
}

function networks() {
  const place = document.getElementById("networks");
  if (!place || !page.networks.cases.length) return;
  const shown = page.pair.length ? page.pair.length : 1;
  const matrix = (n) => matrixFigure(page.pair.length ? state.pair[n] : 0, state.view);
  place.classList.toggle("one", shown === 1 && !matrix(0));
  for (let n = 0; n < shown; n++) {
    const chosen = () => (page.pair.length ? state.pair[n] : 0);
    const pick = () => html("select", { "aria-label": "Scheme shown in this drawing", onchange: (event) => change((s) => (s.pair[n] = Number(event.target.value))) },
      ...page.schemes.map((name, m) => html("option", { value: m, selected: m === chosen() }, name)));
    mount(place, "network" + n, () => networkFigure(chosen(), state.view), page.schemes.length > 1 ? pick : null);
    if (shown === 1) mount(place, "matrix" + n, () => matrix(n));
  }
  if (shown > 1) for (let n = 0; n < shown; n++) mount(place, "matrix" + n, () => matrix(n));
}

// The filters of the table of slow flows: it shows the slowest that remain, as many rows as before.
function slowFlows() {
  const table = document.getElementById("slow-flows");
  if (!table) return;
  const choices = ["tag", "class"].map((key) => [key, document.getElementById("slow-" + key)]).filter(([, choice]) => choice);
  const slowestFirst = [...table.tBodies[0].rows];
  const show = () => {
    let left = Number(table.dataset.most);
    for (const row of slowestFirst) {
      const wanted = choices.every(([key, choice]) => choice.value === "" || row.dataset[key] === choice.value);
      row.hidden = !wanted || left-- <= 0;
    }
  };
  choices.forEach(([, choice]) => choice.addEventListener("change", show));
  show();
}

function figures() {
  page.sections.forEach((section) => {
    const place = document.querySelector(`[data-section="${section.id}"]`);
    const groups = new Map();
    section.figures.map(prepare).forEach((figure) => {
      const key = figure.view === undefined ? figure.id : figure.id.replace(/-\d+$/, "");
      groups.set(key, [...(groups.get(key) || []), figure]);
    });
    for (const [key, choices] of groups) {
      mount(place, key, () => choices.find((figure) => figure.view === undefined || figure.view === state.view));
    }
  });
}

addEventListener("beforeprint", () => print(true));
addEventListener("afterprint", () => print(false));
readState();
controls();
listeners.push(controls);
networks();
figures();
slowFlows();
document.querySelectorAll("main table:not(figure table)").forEach((table) => sortable(table));
addEventListener("hashchange", () => {
  readState();
  listeners.forEach((listen) => listen());
});
document.documentElement.dataset.drawn = "yes";
