// Horizontal bars, stacked by part, and dots with intervals: one row per scheme, hop or metric.
const ROW = 34;

function drawBars(figure, width) {
  const rows = figure.rows.map((name, n) => ({ name, n, scheme: figure.row_schemes?.[n] })).filter((row) => visible(row.scheme));
  const parts = figure.kind === "bars" && figure.series.length > 1 ? figure.series : [];
  const legend = partLegend(parts, width);
  const levels = figure.levels || [];
  const top = 12 + legend.height + (levels.length ? 4 + 14 * levels.length : 0);
  const left = Math.min(width * 0.4, 34 + Math.max(0, ...rows.map((row) => textWidth(row.name))));
  // names that need more lines than a row has room for make it higher
  rows.forEach((row) => (row.lines = wrap(row.name, left - 33)));
  const heights = rows.map((row) => Math.max(ROW, 8 + LINE * row.lines.length));
  const place = (n) => top + heights.slice(0, n).reduce((sum, one) => sum + one, 0) + (heights[n] - ROW) / 2;
  const height = top + heights.reduce((sum, one) => sum + one, 0) + 46;
  const svg = frame(figure, width, height);
  svg.append(...legend.marks);
  const total = (row) => figure.series.reduce((sum, one) => sum + (one.y[row.n] || 0), 0);
  const ends = [...rows.flatMap((row) => [total(row), figure.series[0]?.high?.[row.n] || 0]), ...levels.map((level) => level.at)];
  const dots = figure.kind === "dots";
  const x = dots ? ratioScale(figure.series[0], rows, left, width - 70) : scaleFor(figure.x, Math.max(0, ...ends) > 0 ? ends : [1], left, width - 70, true);
  barAxis(svg, figure, x, { left, right: width - 70, top, bottom: height - 46 });
  if (dots) svg.append(draw("line", { class: "axis-line", x1: round(x.place(1)), x2: round(x.place(1)), y1: top, y2: height - 46 }));
  const points = rows.flatMap((row, n) => oneRow(svg, figure, row, { x, left, y: place(n), width }));
  svg.append(...levelLines(figure, x, { right: width, top, bottom: height - 46, first: 12 + legend.height }));
  return { svg, points };
}

// Values that all rows are compared with: lines across them, dotted for bounds, each with its name in a row of its own above.
function levelLines(figure, x, box) {
  const levels = [...(figure.levels || [])].sort((a, b) => a.at - b.at);
  return levels.flatMap(({ at, name, bound }, n) => {
    const place = round(x.place(at));
    const y = box.first + 8 + 14 * n;
    const words = `${name} ${withUnit(at, figure.x.unit)}`;
    const left = Math.min(place + 4, box.right - textWidth(words, 11) - 2);
    const line = draw("line", { class: "level", x1: place, x2: place, y1: y - 6, y2: box.bottom, "stroke-dasharray": bound ? "1 5" : "7 4" });
    return [line, write(left, y, words, { class: "level-name halo" })];
  });
}

// Ratios use a logarithmic scale, so that twice and half are equally far from 1; very wide intervals run off the plot.
function ratioScale(one, rows, from, to) {
  const points = rows.map((row) => one.y[row.n]).filter((value) => value > 0);
  const [least, most] = [Math.min(...points, 1), Math.max(...points, 1)];
  const ends = rows.flatMap((row) => [one.low?.[row.n], one.high?.[row.n]]).filter((value) => value > 0);
  const reach = Math.max(1.5, most / least);
  const low = Math.max(least / reach, Math.min(least, ...ends));
  const high = Math.min(most * reach, Math.max(most, ...ends));
  return logScale(low / 1.06, high * 1.06, from, to);
}

function partLegend(parts, width) {
  let [x, y] = [0, 14];
  const marks = parts.flatMap((part, n) => {
    const length = textWidth(part.name) + 34;
    if (x + length > width && x > 0) [x, y] = [0, y + 21];
    const at = x;
    x += length;
    return [draw("rect", { x: at, y: y - 11, width: 13, height: 13, rx: 2, fill: `var(--p${n % 8})` }), write(at + 18, y, part.name, {})];
  });
  return { marks, height: parts.length ? y + 6 : 0 };
}

function barAxis(svg, figure, x, box) {
  for (const tick of x.ticks) {
    const at = round(x.place(tick));
    svg.append(draw("line", { class: "grid-line", x1: at, x2: at, y1: box.top, y2: box.bottom }));
    svg.append(write(at, box.bottom + 17, short(tick), { class: "tick", "text-anchor": "middle" }));
  }
  svg.append(write((box.left + box.right) / 2, box.bottom + 37, axisName(figure.x), { class: "axis-name", "text-anchor": "middle" }));
}

function known(value) {
  return value !== null && value !== undefined;
}

function oneRow(svg, figure, row, { x, left, y, width }) {
  svg.append(writeLines(left - 10, y + ROW / 2 + 4.5, row.lines, { "text-anchor": "end" }));
  if (row.scheme !== undefined) svg.append(mark(row.scheme, 9, y + ROW / 2, 4.5));
  if (figure.kind === "dots") return [dotRow(svg, figure, row, x, y)];
  const points = [];
  let sum = 0;
  figure.series.forEach((one, n) => {
    const value = one.y[row.n] || 0;
    const [a, b] = [x.place(sum), x.place(sum + value)];
    const fill = figure.series.length > 1 ? `var(--p${n % 8})` : row.scheme !== undefined ? schemeColour(row.scheme) : "var(--s1)";
    svg.append(draw("rect", { class: "bar mark", x: round(a), y: y + 6, width: round(Math.max(b - a - (figure.series.length > 1 ? 1 : 0), value > 0 ? 0.8 : 0)), height: ROW - 12, fill }));
    if (value > 0 || (figure.series.length === 1 && known(one.y[row.n]))) points.push({ line: n, one, n: row.n, row: row.name, x: round((a + b) / 2), y: y + ROW / 2, inside: (px, py) => px >= Math.min(a, left) && px <= Math.max(b, a + 4) && py >= y && py < y + ROW });
    sum += value;
  });
  const high = figure.series[0]?.high?.[row.n];
  if (high !== undefined && high !== null) svg.append(whisker(figure.series[0], row, x, y));
  svg.append(write(Math.max(x.place(sum), x.place(high || 0)) + 7, y + ROW / 2 + 4.5, figure.series.some((one) => known(one.y[row.n])) ? number(sum) : "–", { class: "halo" }));
  return points;
}

// An end beyond the plot is an arrow, not a cap.
function whisker(one, row, x, y) {
  const [low, high, middle] = [one.low[row.n], one.high[row.n], y + ROW / 2];
  const [a, b] = [low, high].map((value) => round(x.place(Math.min(x.high, Math.max(x.low, value)))));
  const cap = (at, beyond, step) => (beyond ? `M${at + step} ${middle - 4}L${at} ${middle}L${at + step} ${middle + 4}` : `M${at} ${middle - 4}v8`);
  const d = `M${a} ${middle}H${b}` + cap(a, low < x.low, 5) + cap(b, high > x.high, -5);
  const whole = draw("g", {});
  // the seam keeps each part of a dark bar visible
  whole.append(draw("path", { class: "whisker seam", stroke: "var(--page)", d }), draw("path", { class: "whisker", stroke: "var(--ink)", d }));
  return whole;
}

function dotRow(svg, figure, row, x, y) {
  const one = figure.series[0];
  if (one.low && one.low[row.n] !== null) svg.append(whisker(one, row, x, y));
  const at = x.place(one.y[row.n] ?? 1);
  if (one.y[row.n] !== null) svg.append(mark(row.scheme ?? 0, at, y + ROW / 2, 5));
  const edge = Math.max(at, x.place(Math.min(x.high, one.high?.[row.n] ?? x.low)));
  svg.append(write(edge + 9, y + ROW / 2 + 4.5, withUnit(one.y[row.n], "×"), { class: "halo" }));
  return { line: 0, one, n: row.n, row: row.name, x: round(at), y: y + ROW / 2 };
}

function describeBar(figure) {
  return ({ one, n, row }, pinned) => {
    const parts = [html("b", {}, figure.series.length > 1 ? `${row}, ${one.name}` : row), html("br"), `${figure.x.name}: ${withUnit(one.y[n], figure.x.unit)}`];
    if (one.low && one.low[n] !== null) parts.push(html("br"), `95${THIN}% interval ${number(one.low[n])}–${number(one.high[n])}`);
    return [...parts, ...runLinks(one, n, pinned)];
  };
}
