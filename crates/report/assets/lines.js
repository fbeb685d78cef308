// Lines: measured points connected, bands and whiskers for intervals, labels at the line ends.
const lineHeight = () => (printing ? 205 : 330);

function drawLines(figure, width) {
  const series = figure.series.map((one, n) => ({ ...one, n })).filter((one) => visible(one.scheme));
  const svg = frame(figure, width, lineHeight());
  if (!series.length) return { svg, points: [] };
  const ys = shownValues(figure, series);
  const y = scaleFor(figure.y, ys, lineHeight() - 44, 26, true);
  const left = 14 + Math.max(0, ...y.ticks.map((tick) => textWidth(short(tick))));
  const names = series.map((one) => wrap(one.name, width * 0.34));
  const right = (crowded(names) ? 44 : 20) + Math.max(...names.flat().map((words) => textWidth(words)));
  // two positions do not make a curve: dots side by side, each with its interval
  const dots = series.every((one) => one.x.length <= 2);
  const inset = dots ? Math.min(70, (width - right - left) / 5) : 0;
  const x = scaleFor(figure.x, series.flatMap((one) => one.x), left + inset, width - right - inset, false);
  axes(svg, figure, x, y, { left, right: width - right, top: 26, bottom: lineHeight() - 44 });
  svg.append(...eventLines(figure, x, { left, right: width - right, top: 26, bottom: lineHeight() - 44 }));
  const beside = (n) => (dots ? { ...x, place: (value) => x.place(value) + (n - (series.length - 1) / 2) * Math.min(12, 60 / series.length) } : x);
  series.forEach((one, n) => svg.append(oneLine(one, beside(n), y, dots)));
  svg.append(...endLabels(series, names, y, width, beside));
  return { svg, points: series.flatMap((one, n) => linePoints(one, beside(n), y)) };
}

// An event: a line across the plot with its text above, omitted where texts would overlap.
function eventLines(figure, x, box) {
  const free = [-Infinity, -Infinity, -Infinity];
  return (figure.events || []).flatMap(({ at, words }) => {
    const place = round(x.place(at));
    if (place < box.left - 1 || place > box.right + 1) return [];
    const line = draw("line", { class: "event", x1: place, x2: place, y1: box.top - 4, y2: box.bottom });
    line.append(draw("title", {}, `${words} at ${withUnit(at, figure.x.unit)}`));
    const length = textWidth(words, 11);
    const left = Math.min(place + 3, box.right - length);
    const row = free.findIndex((end) => left >= end + 8);
    if (row < 0) return [line];
    free[row] = left + length;
    return [line, write(left, box.top + 6 + 13 * row, words, { class: "event-name halo" })];
  });
}

// Values the axis must show; on a logarithmic axis very wide intervals run off the plot.
function shownValues(figure, series) {
  const ends = series.flatMap((one) => [...(one.low || []), ...(one.high || [])]).filter((y) => y !== null);
  const points = series.flatMap((one) => one.y).filter((y) => y !== null && (!figure.y.log || y > 0));
  if (!figure.y.log) return [...points, ...ends];
  const [low, high] = [Math.min(...points) / 3, Math.max(...points) * 3];
  return [...points, ...ends.filter((y) => y > 0).map((y) => Math.min(high, Math.max(low, y)))];
}

function frame(figure, width, height) {
  return draw("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: 0, "aria-label": figure.title + ". Arrow keys read the values; the table holds all of them." });
}

function axes(svg, figure, x, y, box) {
  for (const tick of y.ticks) {
    const at = round(y.place(tick));
    svg.append(draw("line", { class: "grid-line", x1: box.left, x2: box.right, y1: at, y2: at }));
    svg.append(write(box.left - 7, at + 4.5, short(tick), { class: "tick", "text-anchor": "end" }));
  }
  let last = -Infinity;
  for (const tick of figure.x.ticks || x.ticks) {
    const at = round(x.place(tick));
    const half = textWidth(short(tick)) / 2;
    svg.append(draw("line", { class: "axis-line", x1: at, x2: at, y1: box.bottom, y2: box.bottom + 5 }));
    if (at - half < last + 6) continue;
    svg.append(write(at, box.bottom + 19, short(tick), { class: "tick", "text-anchor": "middle" }));
    last = at + half;
  }
  svg.append(draw("line", { class: "axis-line", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }));
  svg.append(write(0, 13, axisName(figure.y), { class: "axis-name" }));
  svg.append(write((box.left + box.right) / 2, box.bottom + 38, axisName(figure.x), { class: "axis-name", "text-anchor": "middle" }));
}

// The style of a line: its scheme's, or a shade of it for a part of a scheme.
function lineStyle(one) {
  if (one.ideal) return { colour: "var(--soft)", dash: "7 4", shape: null };
  if (one.reference && one.scheme === undefined) return { colour: "var(--soft)", dash: "1 5", shape: null };
  if (one.scheme !== undefined) return { colour: schemeColour(one.scheme), dash: one.reference ? "1 5" : DASHES[form(one.scheme)], shape: one.scheme };
  const style = [1, 2, 0, 3, 4, 5, 6, 7][one.n % 8];
  return { colour: `var(--s${style})`, dash: DASHES[one.n % 8], shape: style };
}

function path(one, x, y, from, to) {
  let pen = "M";
  let text = "";
  for (let n = from; n < to; n++) {
    if (one.y[n] === null) { pen = "M"; continue; }
    text += pen + round(x.place(one.x[n])) + " " + round(y.place(one.y[n]));
    pen = "L";
  }
  return text;
}

function oneLine(one, x, y, dots) {
  const { colour, dash, shape } = lineStyle(one);
  const few = one.few_from ?? one.x.length;
  const line = (from, to, kind) => draw("path", { class: "series-line" + kind, d: path(one, x, y, from, to), stroke: colour, "stroke-dasharray": dash });
  const parts = dots ? [] : [one.low ? band(one, x, y, colour) : null, line(0, few, ""), few < one.x.length ? line(Math.max(0, few - 1), one.x.length, " faint") : null];
  if (one.low && one.x.length <= 10) parts.push(...whiskers(one, x, y, colour));
  // an entry with neither line nor mark is a dash
  if (dots && shape === null) one.x.forEach((_, n) => one.y[n] !== null && parts.push(draw("path", { class: "series-line", d: `M${round(x.place(one.x[n])) - 8} ${round(y.place(one.y[n]))}h16`, stroke: colour })));
  if (shape !== null && one.x.length <= 30) one.x.forEach((_, n) => one.y[n] !== null && parts.push(mark(shape, x.place(one.x[n]), y.place(one.y[n]), 4)));
  return draw("g", { class: "series", "data-scheme": one.scheme }, ...parts);
}

function bounded(y, value) {
  return y.place(Math.min(y.high, Math.max(y.low, value)));
}

function band(one, x, y, colour) {
  const known = one.x.map((_, n) => n).filter((n) => one.low[n] !== null && one.high[n] !== null);
  const upper = known.map((n) => round(x.place(one.x[n])) + " " + round(bounded(y, one.high[n])));
  const lower = known.map((n) => round(x.place(one.x[n])) + " " + round(bounded(y, one.low[n]))).reverse();
  return known.length ? draw("path", { class: "band", d: "M" + [...upper, ...lower].join("L") + "Z", fill: colour }) : null;
}

function whiskers(one, x, y, colour) {
  return one.x.map((_, n) => {
    if (one.low[n] === null || one.high[n] === null) return null;
    const [at, a, b] = [round(x.place(one.x[n])), round(bounded(y, one.low[n])), round(bounded(y, one.high[n]))];
    // an end beyond the plot is an arrow, not a cap
    const cap = (place, beyond, step) => (beyond ? `M${at - 3} ${place + step}L${at} ${place}L${at + 3} ${place + step}` : `M${at - 3} ${place}h6`);
    return draw("path", { class: "whisker", d: `M${at} ${a}V${b}` + cap(a, one.low[n] < y.low, -5) + cap(b, one.high[n] > y.high, 5), stroke: colour });
  });
}

// Names at the line ends or, where these are too close, in a column beside the plot.
function endLabels(series, names, y, width, beside) {
  const labels = series.map((one, n) => {
    const last = one.y.findLastIndex((value) => value !== null);
    const [ex, ey] = [beside(n).place(one.x[last]), y.place(one.y[last])];
    const lines = names[n];
    const length = Math.max(...lines.map((words) => textWidth(words)));
    return { one, ex, ey, lines, length, left: Math.min(ex + 11, width - length - 1), half: 8 * lines.length };
  });
  labels.sort((a, b) => a.ey - b.ey || a.ex - b.ex);
  return (besideEnds(labels) ?? inColumn(labels, width)).map(endLabel);
}

// Each name beside its end, at most a line higher or lower; nothing if a name has no room there.
function besideEnds(labels) {
  const placed = [];
  for (const label of labels) {
    const clash = (at) => placed.some((p) => Math.abs(p.y - at) < p.half + label.half && p.left < label.left + label.length + 6 && label.left < p.left + p.length + 6);
    const free = [0, -4, 4, -8, 8, -12, 12, -16, 16].map((by) => label.ey + by).find((at) => at > 2 + label.half && at < lineHeight() - 40 - label.half && !clash(at));
    if (free === undefined) return null;
    placed.push({ ...label, y: free });
  }
  return placed;
}

// One below the other in the order of the ends, so that no two leaders cross. Names without room appear only in the
// legend: those of the last series.
function inColumn(labels, width) {
  const room = lineHeight() - 44;
  const height = (shown) => shown.reduce((sum, label) => sum + 2 * label.half, 0);
  let shown = labels;
  while (height(shown) > room) {
    const last = Math.max(...shown.map((label) => label.one.n));
    shown = shown.filter((label) => label.one.n !== last);
  }
  const left = width - Math.max(...labels.map((label) => label.length)) - 1;
  return spread(shown, 2, room).map((label) => ({ ...label, left, apart: crowded(labels) }));
}

// The centres of labels in their order, as near to their ends as their heights allow: neighbours that push each other
// move together.
function spread(labels, from, room) {
  const blocks = [];
  const mean = (block) => block.sum / block.count;
  let total = 0;
  for (const label of labels) {
    blocks.push({ sum: label.ey - label.half - total, count: 1 });
    total += 2 * label.half;
    while (blocks.length > 1 && mean(blocks.at(-2)) > mean(blocks.at(-1))) {
      const last = blocks.pop();
      blocks.at(-1).sum += last.sum;
      blocks.at(-1).count += last.count;
    }
  }
  const tops = blocks.flatMap((block) => Array(block.count).fill(Math.min(Math.max(mean(block), from), from + room - total)));
  let above = 0;
  return labels.map((label, n) => {
    const y = tops[n] + above + label.half;
    above += 2 * label.half;
    return { ...label, y };
  });
}

// With many names, leaders need room and names a sample of their line.
function crowded(labels) {
  return labels.length > 6;
}

function endLabel({ one, ex, ey, lines, left, y, apart }) {
  const name = writeLines(left, y + 4.5, lines, { class: "halo" });
  const { colour } = lineStyle(one);
  const to = left - (apart ? 16 : 2);
  const leader = apart || Math.abs(y - ey) > 6 ? draw("path", { class: "leader", stroke: colour, d: `M${round(ex + 4)} ${round(ey)}L${round(to)} ${round(y)}`, fill: "none" }) : null;
  const group = draw("g", { class: one.scheme === undefined ? "" : "label" }, leader, apart ? sample(one, left - 9, y) : null, name);
  if (one.scheme !== undefined) group.addEventListener("click", (event) => { event.stopPropagation(); change((s) => toggle(s.hide, one.scheme)); });
  return group;
}

// The mark of a line, or a piece of a line without marks.
function sample(one, x, y) {
  const { colour, dash, shape } = lineStyle(one);
  return shape === null ? draw("path", { d: `M${round(x - 6)} ${round(y)}h12`, stroke: colour, "stroke-width": 2, "stroke-dasharray": dash }) : mark(shape, x, y, 4);
}

function linePoints(one, x, y) {
  const all = one.x.map((value, n) => ({ line: one.n, one, n, x: round(x.place(value)), y: one.y[n] === null ? NaN : round(y.place(one.y[n])) }));
  return all.filter((point) => Number.isFinite(point.y));
}

function describeLine(figure) {
  return ({ one, n }, pinned) => {
    const parts = [html("b", {}, one.name), html("br"), `${figure.x.name}: ${placeText(figure.x, one.x[n])}`, html("br"), `${figure.y.name}: ${withUnit(one.y[n], figure.y.unit)}`];
    if (one.low && one.low[n] !== null) parts.push(html("br"), `95${THIN}% interval ${number(one.low[n])}–${number(one.high[n])}`);
    if (one.n_samples) parts.push(html("br"), `n = ${count(one.n_samples[n])}`);
    if (one.few_from !== undefined && n >= one.few_from) parts.push(html("br"), "fewer than 100 flows beyond");
    return [...parts, ...runLinks(one, n, pinned)];
  };
}

// A position that was set is not rounded; a measured one is.
function placeText(axis, value) {
  return axis.ticks ? short(value) + (axis.unit ? THIN + axis.unit : "") : withUnit(value, axis.unit);
}

function runLinks(one, n, pinned) {
  const runs = one.runs?.[n] || [];
  if (!runs.length) return [];
  const links = runs.flatMap(([seed, link]) => [link ? html("a", { href: link }, "seed " + seed) : "seed " + seed, " "]);
  return [html("br"), pinned ? "Runs: " : `${runs.length} runs (click for links)`, ...(pinned ? links : [])];
}
