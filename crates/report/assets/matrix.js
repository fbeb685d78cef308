// The links between two tiers as a matrix, for fabrics whose lines cannot be told apart: a cell has two halves, up and down.
const FEW_PAIRS = 64;

function matrixFigure(scheme, view) {
  const load = networkOf(scheme, view);
  if (!load || !load.load.length) return null;
  const shape = page.networks.shapes[load.shape];
  const nodes = (tier) => shape.tier.map((t, n) => [t, n]).filter(([t]) => t === tier).map(([, n]) => n);
  const [lower, upper] = [nodes(1), nodes(2)];
  const pairs = new Map();
  shape.from.forEach((from, n) => {
    const to = shape.to[n];
    if (shape.tier[from] === 1 && shape.tier[to] === 2) pairs.set(`${from} ${to}`, { ...pairs.get(`${from} ${to}`), up: n });
    if (shape.tier[from] === 2 && shape.tier[to] === 1) pairs.set(`${to} ${from}`, { ...pairs.get(`${to} ${from}`), down: n });
  });
  if (lower.length * upper.length < FEW_PAIRS || pairs.size < (lower.length * upper.length) / 2) return null;
  const most = (way) => [...pairs.values()].reduce((best, pair) => (pair[way] !== undefined && (best === undefined || load.load[pair[way]] > load.load[best]) ? pair[way] : best), undefined);
  const words = (n) => (n === undefined ? "" : `${shape.name[shape.from[n]]} → ${shape.name[shape.to[n]]} ${number(load.load[n] * 100)}${THIN}%`);
  return {
    id: "matrix-" + scheme + "-" + view, kind: "matrix", shape, load, pairs, lower, upper, series: [],
    title: `Busiest up: ${words(most("up"))}; down: ${words(most("down"))}`,
    samples: `${count(lower.length)} × ${count(upper.length)} nodes, ${load.averaged}`,
    caption: "Each cell is a cable: its left half is the direction up, its right half the direction down; the colour is the mean load. Failed links are crossed out.",
  };
}

function drawMatrix(figure, width) {
  const { lower, upper, shape, load, pairs } = figure;
  const left = 10 + Math.max(...lower.map((node) => textWidth(shape.name[node], 11)));
  const cell = Math.min(40, (width - left - 4) / upper.length);
  const row = Math.max(9, Math.min(18, 420 / lower.length));
  const top = 46;
  const svg = frame(figure, width, top + lower.length * row + 8);
  svg.append(...colourKey(left + 20, 6, 140, "0", "100" + THIN + "%"));
  const every = Math.ceil(30 / cell);
  upper.forEach((node, n) => n % every === 0 && svg.append(write(left + n * cell, top - 6, shape.name[node], { class: "tick", style: "font-size:11px" })));
  const points = [];
  lower.forEach((below, r) => {
    if (r % Math.ceil(12 / row) === 0) svg.append(write(left - 6, top + (r + 0.5) * row + 4, shape.name[below], { class: "tick", "text-anchor": "end", style: "font-size:11px" }));
    upper.forEach((above, c) => {
      const pair = pairs.get(`${below} ${above}`) || {};
      ["up", "down"].forEach((way, half) => {
        const n = pair[way];
        if (n === undefined) return;
        const [x, y, w, h] = [left + (c + half / 2) * cell, top + r * row, cell / 2 - 0.5, row - 1];
        svg.append(draw("rect", { class: "mark", x: round(x), y: round(y), width: round(w), height: round(h), fill: `var(--h${shade(load.load[n])})` }));
        if (load.failed[n]) svg.append(draw("path", { class: "link failed", d: `M${round(x)} ${round(y)}l${round(w)} ${round(h)}` }));
        points.push({ line: r, n, x: round(x + w / 2), y: round(y + h / 2), inside: (px, py) => px >= x && px < x + cell / 2 && py >= y && py < y + row });
      });
    });
  });
  return { svg, points };
}
