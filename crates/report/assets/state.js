// The reader's choices, kept in the URL fragment so that a link shows the same view.
const page = JSON.parse(document.getElementById("data").textContent);
const state = { view: page.views.selected, hide: new Set(), open: new Set(), pair: [...page.pair] };
const listeners = [];

function readState() {
  const words = new URLSearchParams(location.hash.slice(1));
  const list = (key) => (words.get(key) || "").split(",").filter((word) => word !== "");
  const inside = (n, length) => Number.isInteger(n) && n >= 0 && n < length;
  const view = Number(words.get("view") ?? NaN);
  state.view = inside(view, page.views.labels.length) ? view : page.views.selected;
  state.hide = new Set(list("hide").map(Number).filter((n) => inside(n, page.schemes.length)));
  state.open = new Set(list("open"));
  const pair = list("pair").map(Number).filter((n) => inside(n, page.schemes.length));
  state.pair = pair.length === page.pair.length ? pair : [...page.pair];
}

function writeState() {
  const words = [];
  if (state.view !== page.views.selected) words.push("view=" + state.view);
  if (state.hide.size) words.push("hide=" + [...state.hide].sort().join(","));
  if (String(state.pair) !== String(page.pair)) words.push("pair=" + state.pair.join(","));
  if (state.open.size) words.push("open=" + [...state.open].join(","));
  history.replaceState(null, "", words.length ? "#" + words.join("&") : location.pathname + location.search);
}

function change(edit) {
  edit(state);
  writeState();
  listeners.forEach((listen) => listen());
}

function toggle(set, item) {
  if (!set.delete(item)) set.add(item);
}

function visible(scheme) {
  return scheme === undefined || !state.hide.has(scheme);
}
