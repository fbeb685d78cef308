// The box that shows exact values: follows the pointer, or the arrow keys, and stays when clicked.
function addTip(drawing, svg, points, describe) {
  const tip = html("div", { class: "tip", hidden: true });
  const spoken = html("div", { class: "visually-hidden", "aria-live": "polite" });
  const cursor = draw("circle", { class: "cursor", r: 7, visibility: "hidden" });
  svg.append(cursor);
  drawing.append(tip, spoken);
  let at = -1;

  function show(index, pinned) {
    at = index;
    const point = points[index];
    const [, , width] = svg.getAttribute("viewBox").split(" ").map(Number);
    const scale = svg.clientWidth / width || 1;
    tip.replaceChildren(...describe(point, pinned));
    tip.classList.toggle("pinned", Boolean(pinned));
    tip.hidden = false;
    cursor.setAttribute("cx", point.x);
    cursor.setAttribute("cy", point.y);
    cursor.setAttribute("visibility", "visible");
    const left = point.x * scale + 14 + tip.offsetWidth > drawing.clientWidth ? point.x * scale - tip.offsetWidth - 14 : point.x * scale + 14;
    tip.style.left = Math.max(0, left) + "px";
    tip.style.top = Math.max(0, point.y * scale - tip.offsetHeight / 2) + "px";
    if (pinned || document.activeElement === svg) spoken.textContent = tip.textContent;
  }

  function hide() {
    tip.hidden = true;
    tip.classList.remove("pinned");
    cursor.setAttribute("visibility", "hidden");
  }

  function nearest(event) {
    const box = svg.getBoundingClientRect();
    const [, , width] = svg.getAttribute("viewBox").split(" ").map(Number);
    const scale = box.width / width || 1;
    const [x, y] = [(event.clientX - box.left) / scale, (event.clientY - box.top) / scale];
    let [best, distance] = [-1, Infinity];
    points.forEach((point, n) => {
      const d = distanceTo(point, x, y);
      if (d < distance) [best, distance] = [n, d];
    });
    return distance < 70 ? best : -1;
  }

  svg.addEventListener("pointermove", (event) => {
    if (tip.classList.contains("pinned")) return;
    const index = nearest(event);
    if (index < 0) hide();
    else show(index, false);
  });
  drawing.addEventListener("pointerleave", () => tip.classList.contains("pinned") || hide());
  svg.addEventListener("click", (event) => {
    const index = nearest(event);
    if (index < 0 || tip.classList.contains("pinned")) hide();
    else show(index, true);
  });
  svg.addEventListener("blur", () => tip.matches(":hover") || hide());
  svg.addEventListener("keydown", (event) => {
    const next = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const jump = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") hide();
    else if (event.key === "Enter" && at >= 0) show(at, true);
    else if (next && points.length) show((at + next + points.length) % points.length, false);
    else if (jump && points.length) show(otherSeries(points, at, jump), false);
    else return;
    event.preventDefault();
  });
}

// Distance to a cell is zero inside it; to a link, the distance to its line, the sender's half first.
function distanceTo(point, x, y) {
  if (point.inside) return point.inside(x, y) ? 0 : Infinity;
  if (!point.along) return Math.hypot(point.x - x, point.y - y);
  const [x1, y1, x2, y2] = point.along;
  const [dx, dy] = [x2 - x1, y2 - y1];
  const share = Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1)));
  return 4 * Math.hypot(x1 + share * dx - x, y1 + share * dy - y) + share;
}

// The point of the next line nearest on the horizontal axis.
function otherSeries(points, at, jump) {
  if (at < 0) return 0;
  const lines = [...new Set(points.map((point) => point.line))];
  const line = lines[(lines.indexOf(points[at].line) + jump + lines.length) % lines.length];
  const candidates = points.map((point, n) => [Math.abs(point.x - points[at].x), n]).filter(([, n]) => points[n].line === line);
  return candidates.sort((a, b) => a[0] - b[0])[0][1];
}
