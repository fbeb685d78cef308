// The data of a figure as rows, for both the table view and the CSV.
function column(axis) {
  return axis.unit && axis.unit !== "×" ? `${axis.name} [${axis.unit}]` : axis.name;
}

function rowsOf(figure) {
  if (["network", "matrix"].includes(figure.kind)) return networkRows(figure);
  if (figure.kind === "heat") return heatTable(figure);
  if (figure.kind === "map") return mapTable(figure);
  return figure.kind === "lines" ? lineTable(figure) : barTable(figure);
}

function intervalColumns(figure) {
  return figure.series.some((one) => one.low) ? ["low", "high"] : [];
}

function interval(figure, one, n) {
  return intervalColumns(figure).length ? [one.low?.[n] ?? null, one.high?.[n] ?? null] : [];
}

function lineTable(figure) {
  const counted = figure.series.some((one) => one.n_samples);
  const header = [page.scheme_name && figure.series[0]?.scheme !== undefined ? page.scheme_name : "series", column(figure.x), column(figure.y), ...intervalColumns(figure), ...(counted ? ["n"] : [])];
  const rows = figure.series.flatMap((one) => one.x.map((x, n) => [one.name, x, one.y[n], ...interval(figure, one, n), ...(counted ? [one.n_samples?.[n] ?? null] : [])]));
  return [header, ...rows.filter((row) => row[2] !== null)];
}

function barTable(figure) {
  const header = [figure.y.name || "row", "part", column(figure.x), ...intervalColumns(figure)];
  return [header, ...figure.rows.flatMap((row, n) => figure.series.map((one) => [row, one.name, one.y[n], ...interval(figure, one, n)]))];
}

function heatTable(figure) {
  const header = ["port", `from [${figure.x.unit}]`, column(figure.y)];
  return [header, ...figure.series.flatMap((one) => one.y.map((value, n) => [one.name, figure.x.ticks[n], value]))];
}

function mapTable(figure) {
  const header = [column(figure.y), column(figure.x), "value"];
  return [header, ...figure.series.flatMap((one, row) => one.y.map((value, n) => [figure.y.ticks[row], figure.x.ticks[n], value]))];
}

function csvOf(figure) {
  const cell = (value) => (value === null || value === undefined ? "" : /[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  return rowsOf(figure).map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

function tableOf(figure) {
  const [header, ...rows] = rowsOf(figure);
  const cell = (value) => html("td", {}, value === null || value === undefined ? "" : String(value));
  return html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table: " + figure.title },
    sortable(html("table", {}, html("thead", {}, html("tr", {}, ...header.map((name) => html("th", { scope: "col" }, name)))),
      html("tbody", {}, ...rows.map((row) => html("tr", {}, ...row.map(cell))))), figure.id));
}
