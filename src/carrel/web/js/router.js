// Where the reader is. Every view has an address; following a link changes it and loads nothing.
import { useEffect, useState } from "./dom.js";
import { signal } from "./events.js";
import { back, leave, startScrolling, step, toTop } from "./scrolling.js";

const moved = signal(null);

/** `{ view, rest, query, hash }` of an address: `/paper/a/b#ch2` is the view "paper" with the rest "a/b". */
export function placed(url = location.href) {
  const { pathname, searchParams, hash } = new URL(url, location.origin);
  const [, view = "", ...rest] = pathname.split("/");
  return { view: view || "ask", rest: decoded(rest.join("/")), query: searchParams, hash: decoded(hash.slice(1)), path: pathname };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Go to an address of the page; `replace` leaves no step to go back to. */
export function go(url, { replace = false } = {}) {
  const target = new URL(url, location.href);
  const isElsewhere = target.pathname !== location.pathname;
  if (replace) window.history.replaceState(window.history.state, "", target);
  else if (target.href !== location.href) { leave(); window.history.pushState(step(), "", target); }
  moved.set(target.href);
  if (isElsewhere && !target.hash) toTop();
}

/** The same place with other parameters; what is empty goes. */
export function goWith(changes, options) {
  const target = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    target.searchParams.delete(name);
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "" && one !== false) target.searchParams.append(name, one);
    }
  }
  go(target, options);
}

export function usePlace() {
  const [place, setPlace] = useState(() => placed());
  useEffect(() => moved.listen(() => setPlace(placed())), []);
  return place;
}

const OUTSIDE = /^\/(api|static|v1|mcp|metrics|openapi\.json)(\/|$)/;

/** Links to the page's own views are followed without loading it anew. */
export function startRouting() {
  startScrolling();
  addEventListener("popstate", () => { moved.set(location.href); back(); });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !plain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
    const target = new URL(link.href);
    if (target.origin !== location.origin || OUTSIDE.test(target.pathname)) return;
    event.preventDefault();
    go(target);
  });
}
