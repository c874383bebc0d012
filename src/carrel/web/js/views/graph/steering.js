// The drawing by the keyboard: from one concept to the next by arrows, and what else keys do.
import { useState } from "../../dom.js";

const NARROW = Math.cos((Math.PI / 180) * 60);
const CLOSER = 1.3;

/** The concept that lies in a direction from another: of those it is joined to if there is one, else the nearest. */
export function beside(from, direction, graph, places) {
  const near = new Set(neighbours(graph, from));
  const found = [...graph.nodes.keys()].filter((key) => key !== from)
    .map((key) => ({ key, isNear: near.has(key), ...seen(places.get(from), places.get(key), direction) }))
    .filter((one) => one.straight > NARROW);
  found.sort((one, other) => other.isNear - one.isNear || one.cost - other.cost);
  return found[0]?.key ?? null;
}

/** The keys of what the lines that are drawn join a concept to. */
export const neighbours = (graph, key) => graph.links.flatMap(({ a, b }) => (a === key ? b : b === key ? a : []));

/** How straight in the direction it lies (1 is just there), and what the way costs. */
function seen([fromX, fromY], [x, y], [across, down]) {
  const distance = Math.hypot(x - fromX, y - fromY) || 1;
  const straight = ((x - fromX) * across + (y - fromY) * down) / distance;
  return { straight, cost: distance * (2 - straight) };
}

/** `{ cursor, setCursor, steer }`: the key of the concept the keyboard is at, and what hears the keyboard. */
export function useSteering({ graph, places, selected, choose, expand, leave, zoom, fit, show }) {
  const [at, setCursor] = useState(null);
  const cursor = graph.nodes.has(at) ? at : null;
  const step = (...direction) => {
    const from = cursor ?? selected ?? graph.centre ?? graph.nodes.keys().next().value;
    // The first arrow only shows where one is.
    const next = cursor === null ? from : beside(from, direction, graph, places) ?? from;
    setCursor(next);
    show(next);
  };
  const take = () => {
    if (cursor !== null && cursor !== selected) choose(cursor);
    else if (selected !== null) expand(selected);
  };
  const keys = {
    ArrowLeft: () => step(-1, 0), ArrowRight: () => step(1, 0), ArrowUp: () => step(0, -1), ArrowDown: () => step(0, 1),
    Enter: take, " ": take,
    "+": () => zoom(CLOSER), "=": () => zoom(CLOSER), "-": () => zoom(1 / CLOSER), 0: fit,
    Escape: () => { setCursor(null); leave(); },
  };
  const steer = (event) => {
    const isOurs = event.target === event.currentTarget && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!isOurs || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  };
  return { cursor, setCursor, steer };
}
