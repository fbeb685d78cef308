// Coloured cells, port by time; and the colour scale, which the network map also uses.
const STEPS = 12;

function shade(share) {
  return share <= 0 ? 0 : Math.min(STEPS - 1, 1 + Math.floor(Math.min(share, 1) * (STEPS - 1.0001)));
}

function colourKey(x, y, width, low, high) {
  const cell = width / STEPS;
  const cells = Array.from({ length: STEPS }, (_, n) => draw("rect", { x: round(x + n * cell), y, width: round(cell + 0.4), height: 10, fill: `var(--h${n})` }));
  return [write(x - 6, y + 10, low, { class: "tick", "text-anchor": "end" }), ...cells, write(x + width + 6, y + 10, high, { class: "tick" })];
}

function drawHeat(figure, width) {
  const rows = figure.rows.length;
  const row = Math.max(9, Math.min(17, 620 / rows));
  const every = Math.ceil(12 / row);
  const left = 10 + Math.max(...figure.rows.map((name) => textWidth(name, 11)));
  const [top, bottom] = [34, 34 + rows * row];
  const svg = frame(figure, width, bottom + 46);
  const highest = Math.max(...figure.series.flatMap((one) => one.y));
  const times = figure.x.ticks;
  const x = linearScale(times[0], times[times.length - 1], left, width - 16);
  svg.append(...colourKey(left + 20, 8, 180, "0", withUnit(highest, figure.y.unit)));
  figure.series.forEach((one, n) => {
    svg.append(...heatRow(one, times, x, top + n * row, row, highest));
    if (n % every === 0) svg.append(write(left - 6, top + n * row + row / 2 + 4, one.name, { class: "tick", "text-anchor": "end", style: "font-size:11px" }));
  });
  svg.append(...eventLines(figure, x, { left, right: width - 16, top, bottom }));
  for (const tick of x.ticks) svg.append(write(x.place(tick), bottom + 17, short(tick), { class: "tick", "text-anchor": "middle" }));
  svg.append(write((left + width) / 2, bottom + 37, axisName(figure.x), { class: "axis-name", "text-anchor": "middle" }));
  return { svg, points: heatPoints(figure, times, x, top, row) };
}

// Adjacent cells of one colour become one rectangle.
function heatRow(one, times, x, y, height, highest) {
  const cells = [];
  let from = 0;
  for (let n = 1; n <= one.y.length; n++) {
    const colour = shade(one.y[from] / highest);
    if (n < one.y.length && shade(one.y[n] / highest) === colour) continue;
    const [a, b] = [x.place(times[from]), x.place(times[n])];
    cells.push(draw("rect", { class: "mark", x: round(a), y: round(y), width: round(b - a + 0.3), height: round(height - 1), fill: `var(--h${colour})` }));
    from = n;
  }
  return cells;
}

function heatPoints(figure, times, x, top, row) {
  return figure.series.flatMap((one, line) => one.y.map((_, n) => {
    const [a, b, y] = [x.place(times[n]), x.place(times[n + 1]), top + line * row];
    return { line, one, n, from: times[n], x: round((a + b) / 2), y: round(y + row / 2), inside: (px, py) => px >= a && px < b && py >= y && py < y + row };
  }));
}

function describeHeat(figure) {
  return ({ one, n, from }) => [html("b", {}, one.name), html("br"), `from ${withUnit(from, figure.x.unit)}`, html("br"), `${figure.y.unit === "%" ? figure.y.name : "peak"} ${withUnit(one.y[n], figure.y.unit)}`];
}
