// What the address says of the view: which graph, what of it is chosen, and how it is shown.
import { address, get } from "../../api.js";
import { useMemo, useRef, useState } from "../../dom.js";
import { say } from "../../parts/toasts.js";
import { arranged } from "./layout.js";
import { isSmall, lines } from "./labels.js";
import { fontOf, heightOf, radiusOf } from "./marks.js";
import { asGraph, merged } from "./model.js";
import { PREDICATES } from "./predicates.js";

export const LIMITS = [30, 60, 120, 200, 500];
const EXPANDED = 40;
const KEPT = 200;

const whole = (text, allowed, otherwise) => allowed.find((one) => String(one) === text) ?? otherwise;

export function stateOf(query) {
  const edge = query.getAll("edge");
  return {
    name: (query.get("name") ?? "").trim(),
    hops: whole(query.get("hops"), [1, 2, 3], 2),
    limit: whole(query.get("limit"), LIMITS, 60),
    selected: query.get("selected"),
    edge: edge.length === 2 ? edge : null,
    open: query.getAll("open"),
    path: query.get("path") === "1",
    hidden: new Set(query.getAll("hide").filter((one) => PREDICATES.includes(one))),
    isList: query.get("as") === "list",
  };
}

const known = new Map();
addEventListener("carrel:changed", () => known.clear());

/** What the server says, asked once. */
function told(path, parameters) {
  const where = address(path, parameters);
  if (known.size > KEPT) known.clear();
  if (!known.has(where)) {
    known.set(where, get(path, parameters));
    known.get(where).catch(() => known.delete(where));
  }
  return known.get(where);
}

/** A concept with all that is next to it. */
export const neighbourhood = (name) => told("/api/graph", { name, hops: 1, limit: EXPANDED });

export const studyPath = (name) => told("/api/path", { name });

/** The graph of a state as several answers, the first of which is the one that was asked for. */
export async function load({ name, hops, limit, open, path, selected }) {
  const base = told("/api/graph", name ? { name, hops, limit } : { limit });
  const more = open.map(neighbourhood);
  if (path) more.push(studyPath(selected ?? name).then(asGraph));
  if (selected) more.push(neighbourhood(selected).then(alone));
  const answers = (await Promise.all([base, ...more.map(ifThere)])).filter(Boolean);
  return { answers, view: viewOf({ name, hops, limit }), chosen: answers.at(-1).chosen ?? null };
}

/** What one looks at; places hold as long as it is the same. */
export const viewOf = ({ name, hops, limit }) => JSON.stringify([name, hops, limit]);

/** A concept by itself, with what joins it to others that may be drawn already. */
const alone = ({ centre, nodes, edges }) => ({ chosen: centre, nodes: nodes.filter((node) => node.name === centre), edges });

async function ifThere(asked) {
  try {
    return await asked;
  } catch (problem) {
    if (problem.isOffline) throw problem;
    say(problem.message);
    return null;
  }
}

/** `{ graph, places, fresh, move }`: each concept with a place, which it keeps as long as the same graph is looked at. */
export function usePlaced(data) {
  const kept = useRef({ view: null, places: new Map() });
  const [, draw] = useState(0);
  const graph = useMemo(() => data && merged(data.answers), [data]);
  useMemo(() => {
    if (!data) return;
    const before = kept.current.view === data.view ? kept.current.places : new Map();
    // One answer after the other, so that a graph that has grown is the same as one that is opened as it has grown.
    const places = data.answers.reduce((old, _, index) => grown(old, merged(data.answers.slice(0, index + 1))), before);
    const there = new Map([...places].filter(([key]) => graph.nodes.has(key)));
    kept.current = { view: data.view, places: there, fresh: new Set([...there.keys()].filter((key) => !before.has(key))) };
  }, [data]);
  const move = (key, across, down) => {
    const [x, y] = kept.current.places.get(key);
    kept.current.places = new Map(kept.current.places).set(key, [x + across, y + down]);
    draw((number) => number + 1);
  };
  return { graph, ...kept.current, move };
}

/** Places of all that a graph has; what stands already hardly moves. */
function grown(places, graph) {
  const keys = [...graph.nodes.keys()];
  if (keys.every((key) => places.has(key))) return places;
  const numbers = new Map(keys.map((key, index) => [key, index]));
  const pairs = graph.links.map(({ a, b }) => [numbers.get(a), numbers.get(b)]);
  const boxes = keys.map((key) => boxOf(graph.nodes.get(key)));
  const found = arranged(boxes, pairs, { before: keys.map((key) => places.get(key)), aspect: roomShape() });
  return new Map([...places, ...keys.map((key, index) => [key, found[index]])]);
}

/** How much wider than high the place for the drawing is. */
function roomShape() {
  const { clientWidth, clientHeight } = document.getElementById("main");
  const shape = isSmall() ? (clientWidth - 90) / (0.55 * clientHeight - 100) : (clientWidth - 380 - 180) / (clientHeight - 240);
  return Math.min(1.8, Math.max(0.6, shape));
}

/** Room for a concept and its name; by the number of letters, so that it is the same before and after fonts come. */
function boxOf(node) {
  const [texts, font, radius] = [lines(node.name), fontOf(node), radiusOf(node)];
  const letters = Math.max(...texts.map((text) => text.length));
  return { width: Math.max(2 * radius, letters * font * 0.5) + 6, height: 2 * radius + heightOf(texts, font) + 4 };
}
