// Tables sorted by the column whose heading is pressed: upwards, downwards, and as written.
const orders = new Map();
const PREFIXES = { p: 1e-12, n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3 };

// The number that a text begins with, in base units; texts without one are words.
function valueOf(text) {
  const plain = text.replace(/[\u202f\u00a0 ](?=\d{3}(\D|$))/g, "").replace(/^−/, "-");
  const found = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?/i.exec(plain);
  if (!found) return null;
  const rest = plain.slice(found[0].length);
  const power = /^·10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)/.exec(rest);
  const exponent = power ? Number([...power[1]].map((c) => "-0123456789"["⁻⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(c)]).join("")) : 0;
  // half an interval comes before the unit of both
  const unit = /^(\s*±\s*\S+)?\s*([pnumkMGT]|[KMG]i)(s|B|bps|b\/s)(?![a-z])/.exec(rest.slice(power ? power[0].length : 0));
  return Number(found[0]) * 10 ** exponent * (unit ? PREFIXES[unit[2]] : 1);
}

// Numbers before words, what is absent last in both directions.
function compared(a, b, falling) {
  const absent = (text) => text === "" || text === "–";
  if (absent(a) || absent(b)) return absent(a) - absent(b);
  const [x, y] = [valueOf(a), valueOf(b)];
  const order = x !== null && y !== null ? x - y : x === y ? a.localeCompare(b, "en", { numeric: true }) : x === null ? 1 : -1;
  return falling ? -order : order;
}

function arrange(table, rows, [column, direction]) {
  const text = (row) => row.cells[column]?.textContent.trim() ?? "";
  const order = direction === "none" ? rows : [...rows].sort((a, b) => compared(text(a), text(b), direction === "descending"));
  table.tBodies[0].append(...order);
  [...table.tHead.rows[0].cells].forEach((head, n) => {
    if (n === column && direction !== "none") head.setAttribute("aria-sort", direction);
    else head.removeAttribute("aria-sort");
  });
}

// `key` names a table that is made anew when the page changes, so that it keeps its order.
function sortable(table, key) {
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  const rows = [...(table.tBodies[0]?.rows ?? [])];
  if (rows.length < 2) return table;
  const next = { ascending: "descending", descending: "none" };
  heads.forEach((head, column) => {
    if (!head.textContent.trim()) return;
    head.replaceChildren(html("button", { class: "sort", title: "Sort", onclick: () => {
      const order = [column, next[head.getAttribute("aria-sort")] ?? "ascending"];
      orders.set(key ?? table, order);
      arrange(table, rows, order);
    } }, ...head.childNodes));
  });
  const known = orders.get(key ?? table);
  if (known) arrange(table, rows, known);
  return table;
}
