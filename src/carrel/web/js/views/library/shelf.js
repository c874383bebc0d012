// The papers that are looked at, of however many there are.
import { useEffect, useMemo, useReducer } from "../../dom.js";
import { get, reachable } from "../../api.js";

export const WINDOW = 100;
// Nobody reads while the list flies by.
const PAUSE = 60;

/** The list that `wanted` describes, in windows: asked for when they are looked at, kept, called off when scrolled past. */
function makeShelf(wanted) {
  const rows = [];
  const fresh = new Set();
  const calls = new Map();
  let looked = [0, 0];
  let timer = null;
  const shelf = { total: null, problem: null, rows, seen, renew, drop, close, tell: () => {} };

  function seen(first, last) {
    looked = [Math.floor(first / WINDOW), Math.floor(Math.max(first, last - 1) / WINDOW)];
    for (const [number, calling] of calls) if (!isLooked(number)) calling.abort();
    clearTimeout(timer);
    timer = setTimeout(ask, rows.length ? PAUSE : 0);
  }

  const isLooked = (number) => number >= looked[0] && number <= looked[1];

  function ask() {
    for (let number = looked[0]; number <= looked[1]; number += 1) {
      if (!fresh.has(number) && !calls.has(number)) fetch(number);
    }
  }

  async function fetch(number) {
    const calling = new AbortController();
    calls.set(number, calling);
    try {
      const page = await get("/api/papers", { ...wanted, offset: number * WINDOW, limit: WINDOW }, { signal: calling.signal });
      if (calling.signal.aborted) return;
      page.papers.forEach((paper, offset) => { rows[number * WINDOW + offset] = paper; });
      fresh.add(number);
      Object.assign(shelf, { total: page.total, problem: null });
      rows.length = Math.min(rows.length, page.total);
    } catch (problem) {
      if (calling.signal.aborted) return;
      shelf.problem = problem;
    } finally {
      if (calls.get(number) === calling) calls.delete(number);
    }
    shelf.tell();
  }

  /** Ask for all of it anew; what was there is shown until then. */
  function renew() {
    shelf.problem = null;
    fresh.clear();
    for (const calling of calls.values()) calling.abort();
    calls.clear();
    ask();
    shelf.tell();
  }

  /** These are no more. */
  function drop(ids) {
    for (const id of ids) {
      const index = rows.findIndex((paper) => paper?.id === id);
      if (index >= 0) { rows.splice(index, 1); shelf.total -= 1; }
    }
  }

  function close() {
    clearTimeout(timer);
    for (const calling of calls.values()) calling.abort();
    shelf.tell = () => {};
  }

  return shelf;
}

// What was looked at last is still there for who comes back to it.
let latest = { key: null, shelf: null, top: 0 };

/** The shelf that shows `wanted`, and where on it one was. */
export function useShelf(wanted) {
  const key = JSON.stringify(wanted);
  const [, draw] = useReducer((round) => round + 1, 0);
  const place = useMemo(() => {
    if (latest.key !== key) latest = { key, shelf: makeShelf(wanted), top: 0 };
    return latest;
  }, [key]);
  const { shelf } = place;
  useEffect(() => {
    shelf.tell = draw;
    const renew = (event) => { shelf.drop(event?.detail?.removed ?? []); shelf.renew(); };
    const heard = reachable.listen((how) => how === "yes" && shelf.problem && renew());
    addEventListener("carrel:changed", renew);
    // Others may have changed the library since it was looked at.
    if (shelf.total !== null) renew();
    return () => { heard(); removeEventListener("carrel:changed", renew); shelf.close(); };
  }, [shelf]);
  return place;
}
