// Coloured cells of a signed quantity over two numeric axes: magnitude by depth of colour, sign by hue, and
// the zero line.
const MAP_HEIGHT = 460;

function drawMap(figure, width) {
  const svg = frame(figure, width, MAP_HEIGHT + 46);
  const [xs, ys] = [figure.x.ticks, figure.y.ticks];
  const [xe, ye] = [edges(xs, figure.x.log), edges(ys, figure.y.log)];
  const y = mapScale(figure.y.log, ye, MAP_HEIGHT, 34);
  const left = 16 + Math.max(...y.ticks.map((tick) => textWidth(short(tick))));
  const x = mapScale(figure.x.log, xe, left, width - 16);
  const values = figure.series.flatMap((one) => one.y).filter((value) => value !== null);
  const most = Math.max(...values.map(Math.abs), 1e-9);
  figure.series.forEach((one, row) => svg.append(...mapRow(one, row, [xe, ye], x, y, most)));
  svg.append(draw("path", { class: "border-line", d: border(figure, xs, ys, x, y), fill: "none" }));
  mapAxes(svg, figure, x, y, { left, right: width - 16 });
  svg.append(...mapKey(width, most, figure));
  return { svg, points: mapPoints(figure, xe, ye, x, y) };
}

// Cell boundaries: halfway between neighbours.
function edges(ticks, log) {
  const [to, back] = log ? [Math.log, Math.exp] : [(v) => v, (v) => v];
  const at = ticks.map(to);
  const middle = at.slice(1).map((v, n) => (v + at[n]) / 2);
  const last = at.length - 1;
  return [at[0], ...middle, at[last]].map(back);
}

function mapScale(log, ends, low, high) {
  const [a, b] = [ends[0], ends[ends.length - 1]];
  const place = log ? (v) => low + ((high - low) * Math.log(v / a)) / Math.log(b / a) : (v) => low + ((high - low) * (v - a)) / (b - a);
  const ticks = (log ? logScale(a, b, low, high) : linearScale(a, b, low, high)).ticks.filter((tick) => tick >= a * 0.999999 && tick <= b * 1.000001);
  return { place, ticks };
}

function mapColour(value, most) {
  if (value === null) return "var(--grid)";
  const depth = Math.max(1, Math.min(5, Math.ceil((Math.abs(value) / most) * 5)));
  return `color-mix(in srgb, var(${value < 0 ? "--s2" : "--s1"}) ${10 + depth * 16}%, var(--page))`;
}

// Adjacent cells of one colour become one rectangle.
function mapRow(one, row, [xe, ye], x, y, most) {
  const cells = [];
  let from = 0;
  const [top, bottom] = [y.place(ye[row + 1]), y.place(ye[row])];
  for (let n = 1; n <= one.y.length; n++) {
    const colour = mapColour(one.y[from], most);
    if (n < one.y.length && mapColour(one.y[n], most) === colour) continue;
    const [a, b] = [x.place(xe[from]), x.place(xe[n])];
    cells.push(draw("rect", { class: "mark", x: round(a), y: round(top), width: round(b - a + 0.4), height: round(bottom - top + 0.4), fill: colour }));
    from = n;
  }
  return cells;
}

// Where the quantity is zero: through each square of four neighbours, by linear interpolation on its sides.
function border(figure, xs, ys, x, y) {
  let text = "";
  const at = (row, n) => ({ v: figure.series[row].y[n], px: x.place(xs[n]), py: y.place(ys[row]) });
  for (let row = 0; row + 1 < ys.length; row++) {
    for (let n = 0; n + 1 < xs.length; n++) {
      const corners = [at(row, n), at(row, n + 1), at(row + 1, n + 1), at(row + 1, n)];
      if (corners.some((corner) => corner.v === null)) continue;
      const cuts = corners.map((a, side) => crossing(a, corners[(side + 1) % 4])).filter((cut) => cut);
      for (let pair = 0; pair + 1 < cuts.length; pair += 2) text += `M${cuts[pair]}L${cuts[pair + 1]}`;
    }
  }
  return text;
}

function crossing(a, b) {
  if (a.v < 0 === b.v < 0) return null;
  const share = a.v / (a.v - b.v);
  return `${round(a.px + share * (b.px - a.px))} ${round(a.py + share * (b.py - a.py))}`;
}

function mapAxes(svg, figure, x, y, box) {
  for (const tick of y.ticks) {
    svg.append(draw("line", { class: "axis-line", x1: box.left - 5, x2: box.left, y1: round(y.place(tick)), y2: round(y.place(tick)) }));
    svg.append(write(box.left - 8, round(y.place(tick)) + 4.5, short(tick), { class: "tick", "text-anchor": "end" }));
  }
  let last = -Infinity;
  for (const tick of x.ticks) {
    const [at, half] = [round(x.place(tick)), textWidth(short(tick)) / 2];
    svg.append(draw("line", { class: "axis-line", x1: at, x2: at, y1: MAP_HEIGHT, y2: MAP_HEIGHT + 5 }));
    if (at - half < last + 6) continue;
    svg.append(write(at, MAP_HEIGHT + 19, short(tick), { class: "tick", "text-anchor": "middle" }));
    last = at + half;
  }
  svg.append(write(0, 13, axisName(figure.y), { class: "axis-name" }));
  svg.append(write((box.left + box.right) / 2, MAP_HEIGHT + 38, axisName(figure.x), { class: "axis-name", "text-anchor": "middle" }));
}

function mapKey(width, most, figure) {
  const [cell, steps] = [16, [-1, -0.8, -0.6, -0.4, -0.2, 0.2, 0.4, 0.6, 0.8, 1]];
  const start = width - 60 - cell * steps.length;
  const cells = steps.map((share, n) => draw("rect", { x: start + n * cell, y: 6, width: cell + 0.4, height: 10, fill: mapColour(share * most, most) }));
  const ends = [write(start - 6, 15, number(-most), { class: "tick", "text-anchor": "end" }), write(start + cell * steps.length + 6, 15, number(most), { class: "tick" })];
  return [...cells, ...ends];
}

function mapPoints(figure, xe, ye, x, y) {
  return figure.series.flatMap((one, line) => one.y.map((value, n) => {
    const [a, b, top, bottom] = [x.place(xe[n]), x.place(xe[n + 1]), y.place(ye[line + 1]), y.place(ye[line])];
    return { line, one, n, x: round((a + b) / 2), y: round((top + bottom) / 2), inside: (px, py) => px >= a && px < b && py >= top && py < bottom };
  }));
}

function describeMap(figure) {
  return ({ one, n }) => [html("b", {}, one.y[n] === null ? "no steady state" : number(one.y[n])), html("br"), `${figure.x.name}: ${withUnit(figure.x.ticks[n], figure.x.unit)}`, html("br"), `${figure.y.name}: ${one.name}`];
}
