// Arriving at a view: what the browser's tab says, and where somebody who does not see the page goes on.
import { useEffect, useRef } from "./dom.js";

const NAMES = {
  ask: "Ask", search: "Search", library: "Library", paper: "Paper", proof: "Proof", graph: "Graph", health: "Health",
};
const SOUGHT = ["q", "query", "name"];

/** "What is asked · Ask · Carrel"; of a paper and a proof, their heading. */
function titled(place, heading) {
  const sought = SOUGHT.map((name) => place.query.get(name)).find(Boolean);
  const subject = ["paper", "proof"].includes(place.view) ? heading?.textContent.trim() : sought;
  return [subject, NAMES[place.view], "Carrel"].filter(Boolean).join(" · ");
}

function show(place) {
  const title = titled(place, document.querySelector("main h1"));
  if (document.title !== title) document.title = title;
}

/** Reading goes on at the heading of the view, unless the view itself has put the focus somewhere. */
function goOn(main) {
  const heading = main.querySelector("h1");
  if (document.activeElement !== main || !heading) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

export function useArrival(place) {
  const path = useRef(place.path);
  useEffect(() => {
    const main = document.getElementById("main");
    const hasMoved = path.current !== place.path;
    path.current = place.path;
    // Who writes in the view goes on writing; who came by a link of the bar leaves it.
    if (hasMoved && !main.contains(document.activeElement)) main.focus({ preventScroll: true });
    const look = () => { show(place); if (hasMoved) goOn(main); };
    const watching = new MutationObserver(look);
    watching.observe(main, { childList: true, subtree: true, characterData: true });
    look();
    return () => watching.disconnect();
  }, [place]);
}
