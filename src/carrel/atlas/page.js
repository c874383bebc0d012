"use strict";
const map = document.getElementById("map");
const search = document.getElementById("search");
const nodes = new Map([...map.querySelectorAll(".node")].map((node) => [node.getAttribute("href").slice(1), node]));
const edges = [...map.querySelectorAll(".edge")].map((edge) => [edge, edge.dataset.ends.split(" ")]);
const listed = [...document.querySelectorAll("#index li")];
const whole = map.viewBox.baseVal;
const home = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };

function choose(id) {
  const near = new Set([id]);
  for (const [edge, ends] of edges) {
    const isNear = ends.includes(id);
    edge.classList.toggle("is-near", isNear);
    if (isNear) ends.forEach((end) => near.add(end));
  }
  for (const [key, node] of nodes) {
    node.classList.toggle("is-near", near.has(key));
    node.classList.toggle("is-chosen", key === id);
  }
  map.classList.toggle("has-choice", nodes.has(id));
}

function look() {
  const asked = search.value.trim().toLocaleLowerCase();
  for (const item of listed) {
    const isFound = item.dataset.names.toLocaleLowerCase().includes(asked);
    item.hidden = !isFound;
    nodes.get(item.dataset.id).classList.toggle("is-found", asked !== "" && isFound);
  }
}

function zoom(factor, x = whole.x + whole.width / 2, y = whole.y + whole.height / 2) {
  const width = Math.min(home.width * 3, Math.max(home.width / 20, whole.width * factor));
  const by = width / whole.width;
  whole.x = x - (x - whole.x) * by;
  whole.y = y - (y - whole.y) * by;
  whole.height *= by;
  whole.width = width;
}

function at(event) {
  return new DOMPoint(event.clientX, event.clientY).matrixTransform(map.getScreenCTM().inverse());
}

function fit() {
  Object.assign(whole, home);
}

map.addEventListener("wheel", (event) => {
  event.preventDefault();
  const { x, y } = at(event);
  zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, x, y);
}, { passive: false });

let held = null;
let moved = false;
map.addEventListener("pointerdown", (event) => { held = at(event); moved = false; });
map.addEventListener("pointermove", (event) => {
  if (held === null) return;
  const { x, y } = at(event);
  moved = moved || Math.hypot(x - held.x, y - held.y) > whole.width / 200;
  if (!moved) return;
  map.classList.add("is-dragged");
  whole.x -= x - held.x;
  whole.y -= y - held.y;
});
window.addEventListener("pointerup", () => { held = null; map.classList.remove("is-dragged"); });
map.addEventListener("dragstart", (event) => event.preventDefault());
map.addEventListener("click", (event) => { if (moved) event.preventDefault(); }, true);

map.addEventListener("keydown", (event) => {
  const step = whole.width / 12;
  const keys = {
    ArrowLeft: () => { whole.x -= step; }, ArrowRight: () => { whole.x += step; },
    ArrowUp: () => { whole.y -= step; }, ArrowDown: () => { whole.y += step; },
    "+": () => zoom(1 / 1.25), "-": () => zoom(1.25), 0: fit,
  };
  if (!(event.key in keys) || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  keys[event.key]();
});
document.getElementById("closer").addEventListener("click", () => zoom(1 / 1.25));
document.getElementById("wider").addEventListener("click", () => zoom(1.25));
document.getElementById("fit").addEventListener("click", fit);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { search.value = ""; look(); location.hash = "all"; }
  if (event.key === "/" && document.activeElement !== search) { event.preventDefault(); search.focus(); }
});
search.addEventListener("input", () => { location.hash = "all"; look(); });
search.addEventListener("keydown", (event) => {
  const first = listed.find((item) => !item.hidden);
  if (event.key === "Enter" && first) location.hash = first.dataset.id;
});
window.addEventListener("hashchange", () => choose(location.hash.slice(1)));
document.getElementById("zoom").hidden = false;
search.hidden = false;
choose(location.hash.slice(1));
