// The topology in layers: links coloured and thickened by their load, failed ones dashed.
const tierGap = () => (printing ? 74 : 118);

function networkOf(scheme, view) {
  return page.networks.cases.find((one) => one.scheme === scheme && one.view === view);
}

function networkFigure(scheme, view) {
  const load = networkOf(scheme, view);
  if (!load) return null;
  const shape = page.networks.shapes[load.shape];
  const fabric = shape.from.map((_, n) => n).filter((n) => shape.tier[shape.from[n]] > 0 && shape.tier[shape.to[n]] > 0 && !load.failed[n]);
  const links = fabric.length ? fabric : shape.from.map((_, n) => n).filter((n) => !load.failed[n]);
  const where = page.views.labels.length > 1 ? ` at ${page.views.labels[view]} ${page.views.name}` : "";
  const who = page.schemes.length > 1 ? `${page.schemes[scheme]}${where}: ` : "";
  const failed = load.failed.reduce((sum, n) => sum + n, 0);
  const measured = load.load.length > 0;
  const busy = measured ? `links are ${busyWords(shape, load, links)} busy` : "links: load not measured";
  const words = (fabric.length ? "fabric " : "") + busy;
  return {
    id: "network-" + scheme + "-" + view, kind: "network", load, shape,
    title: who ? who + words : words[0].toUpperCase() + words.slice(1),
    samples: `${many(shape.hosts, "host")}, ${many(shape.switches, "switch")}, ${many(shape.directions, "link direction")}${failed ? `, ${failed} failed (dashed)` : ""}`,
    caption: (measured ? `Colour and width: share of the line rate that a link sent ${load.averaged}, one line per direction` : "One line per direction") + (page.seeds > 1 ? "; first seed" : "") + ". A symbol may stand for several nodes; a line then shows the mean of its links.",
  };
}

// The minimum and the maximum load; only the maximum where a line stands for several links and shows their mean.
function busyWords(shape, load, links) {
  const percent = (share) => number(share * 100) + THIN + "%";
  const [least, most] = [Math.min(...links.map((n) => load.load[n])), Math.max(...links.map((n) => load.load_max[n]))];
  if (links.some((n) => shape.count[n] > 1)) return `up to ${percent(most)}`;
  return percent(least) === percent(most) ? percent(most) : `${percent(least)} to ${percent(most)}`;
}

// Places of the nodes: tiers from the top down, each spread over the width.
function layout(shape, width) {
  const tiers = [...new Set(shape.tier)].sort((a, b) => b - a);
  const members = (tier) => shape.tier.map((t, n) => [t, n]).filter(([t]) => t === tier).map(([, n]) => n);
  const left = 74;
  const places = [];
  tiers.forEach((tier, row) => {
    const nodes = members(tier);
    const step = (width - left) / nodes.length;
    nodes.forEach((node, n) => (places[node] = { x: left + step * (n + 0.5), y: 46 + row * tierGap(), room: step }));
  });
  return { tiers, members, places, height: 46 + (tiers.length - 1) * tierGap() + 30 };
}

function tierName(shape, nodes) {
  const total = nodes.reduce((sum, n) => sum + shape.members[n], 0);
  const one = (name) => (/^\d+ /.test(name) ? singular(name.replace(/^\d+ /, "")) : name.replace(/\d+$/, ""));
  const words = new Set(nodes.map((node) => one(shape.name[node])));
  // nodes with different names have only their kind in common
  const word = words.size === 1 ? [...words][0] : shape.tier[nodes[0]] === 0 ? "host" : "switch";
  return [count(total), total === 1 ? word : plural(word)];
}

function singular(words) {
  return words.replace(/ves$/, "f").replace(/(ch|x|s)es$/, "$1").replace(/([^s])s$/, "$1");
}

function plural(word) {
  return word.endsWith("f") ? word.slice(0, -1) + "ves" : word + (/(ch|x|s)$/.test(word) ? "es" : "s");
}

// `1 switch`, `5 hosts`.
function many(amount, word) {
  return `${count(amount)} ${amount === 1 ? word : plural(word)}`;
}

function drawNetwork(figure, width) {
  const { shape } = figure;
  const { tiers, members, places, height } = layout(shape, width);
  const svg = frame(figure, width, height);
  if (figure.load.load.length) svg.append(...colourKey(width - 190, 4, 140, "0", "100" + THIN + "%"), write(width - 214, 14, "link load", { class: "axis-name", "text-anchor": "end" }));
  const links = shape.from.map((_, n) => linkLine(figure, places, n));
  links.sort((a, b) => a.load - b.load).forEach((link) => svg.append(link.line));
  tiers.forEach((tier) => {
    const nodes = members(tier);
    const [amount, word] = tierName(shape, nodes);
    svg.append(write(0, places[nodes[0]].y - 2, amount, {}), write(0, places[nodes[0]].y + 14, word, { class: "tick" }));
    nodes.forEach((node) => svg.append(...nodeBox(shape, node, places[node])));
  });
  return { svg, points: links.map((link) => link.point).sort((a, b) => (figure.load.load[b.n] ?? 0) - (figure.load.load[a.n] ?? 0)) };
}

function linkLine(figure, places, n) {
  const { shape, load } = figure;
  const [a, b] = [places[shape.from[n]], places[shape.to[n]]];
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const [ox, oy] = [((b.y - a.y) / length) * 2.1, (-(b.x - a.x) / length) * 2.1];
  const share = load.load[n] ?? 0;
  const [x1, y1, x2, y2] = [a.x + ox, a.y + oy, b.x + ox, b.y + oy];
  const failed = load.failed[n] > 0;
  const line = draw("line", {
    class: "link mark" + (failed ? " failed" : ""), x1: round(x1), y1: round(y1), x2: round(x2), y2: round(y2),
    stroke: failed ? undefined : `var(--h${shade(share)})`, "stroke-width": failed ? undefined : round((shape.from.length > 90 ? 0.7 : 1) * (1 + 2.2 * Math.min(1, share))),
  });
  // the hovered point sits nearer to the sender, so that the two directions do not share one
  const point = { line: 0, n, x: round(x1 + (x2 - x1) * 0.42), y: round(y1 + (y2 - y1) * 0.42), along: [x1, y1, x2, y2] };
  return { line, load: failed ? 2 : share, point };
}

function nodeBox(shape, node, place) {
  const name = shape.name[node];
  const digits = (name.match(/\d+$/) || [name])[0];
  const words = shape.members[node] > 1 ? count(shape.members[node]) : textWidth(name, 11.5) + 10 < place.room ? name : digits;
  const width = Math.min(place.room - 3, Math.max(18, textWidth(words, 11.5) + 10));
  if (width < 9) return [draw("circle", { class: "node", cx: round(place.x), cy: place.y, r: 2.5 })];
  const box = draw("rect", { class: "node", x: round(place.x - width / 2), y: place.y - 10, width: round(width), height: 20, rx: 4 });
  const size = Math.min(11.5, (11.5 * (width - 2)) / textWidth(words, 11.5));
  return [box, size > 7 ? write(place.x, place.y + 4, words, { class: "node-name", style: `font-size:${round(size)}px` }) : null].filter(Boolean);
}

function describeNetwork(figure) {
  const { shape, load } = figure;
  return ({ n }) => {
    const several = shape.members[n] !== undefined && shape.count[n] > 1;
    const lines = [
      several ? `${shape.count[n]} links of ${number(shape.rate[n])}${THIN}Gbps` : `${number(shape.rate[n])}${THIN}Gbps`,
      load.load.length ? `load ${number(load.load[n] * 100)}${THIN}%` + (several ? `, busiest ${number(load.load_max[n] * 100)}${THIN}%` : "") : "load not measured",
      `${measured(load.dropped, n, count, "dropped")}, ${measured(load.marked, n, count, "marked")}`,
      load.peak.length ? `peak queue ${bytes(load.peak[n])}` : "queues not measured",
    ];
    if (load.failed[n]) lines.push(several ? `${load.failed[n]} failed` : "failed");
    return [html("b", {}, `${shape.name[shape.from[n]]} → ${shape.name[shape.to[n]]}`), ...lines.flatMap((line) => [html("br"), line])];
  };
}

function measured(column, n, shown, word) {
  return column.length ? `${shown(column[n])} ${word}` : `${word}: not measured`;
}

function networkRows({ shape, load }) {
  const header = ["from", "to", "links", "rate_gbps", "load", "load_max", "dropped_packets", "marked_packets", "peak_queue_bytes", "failed"];
  const row = (_, n) => [shape.name[shape.from[n]], shape.name[shape.to[n]], shape.count[n], shape.rate[n], load.load[n], load.load_max[n], load.dropped[n], load.marked[n], load.peak[n], load.failed[n]];
  return [header, ...shape.from.map(row)];
}
