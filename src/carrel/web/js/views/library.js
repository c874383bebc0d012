// The library: its papers in a list of any length, what can be done with them, and where new ones are let in.
import { html, useLayoutEffect, useRef, useState } from "../dom.js";
import { useMedia } from "../asking.js";
import { beneath, useKeys } from "../keys.js";
import { go } from "../router.js";
import { plural } from "../wording.js";
import { paperAddress } from "../parts/papers.js";
import { leaving, RemovalBar, useSignal } from "../parts/removing.js";
import { Empty, Failure } from "../parts/states.js";
import { VirtualList } from "../parts/virtual.js";
import { AddButton, DropZone } from "./library/adding.js";
import { Filters } from "./library/filters.js";
import { Head, Row } from "./library/rows.js";
import { allOf, chosen, dismiss, listed, SelectionBar, takeOut, toggle } from "./library/selection.js";
import { useShelf } from "./library/shelf.js";
import { isNarrowed, wantedOf, widen } from "./library/wanted.js";

const HEIGHTS = { wide: 80, narrow: 88 };

export function View({ place }) {
  const wanted = wantedOf(place.query);
  const standing = useShelf(wanted);
  const { shelf } = standing;
  const shown = useShown(shelf);
  const isEmpty = shelf.total === 0 && !isNarrowed(wanted);
  return html`
    <${DropZone} />
    <header class="library-top">
      <h1>Library</h1>
      <span class="faint" role="status">${shelf.total !== null && !isEmpty && plural(shown.total, "paper")}</span>
      <${AddButton} isMain=${isEmpty} />
    </header>
    ${!isEmpty && html`<${Filters} place=${place} wanted=${wanted} />`}
    <${RemovalBar} />
    ${shelf.problem && html`<${Failure} problem=${shelf.problem} again=${shelf.renew} />`}
    ${isEmpty && html`<${Beginning} />`}
    ${shelf.total === 0 && !isEmpty && html`
      <${Empty} title="No paper fits"><p>Other words, years or tags may.</p><button class="button" onClick=${widen}>Show all papers</button><//>`}
    ${shelf.total !== 0 && !(shelf.problem && shelf.total === null) && html`
      <${Table} key=${standing.key} wanted=${wanted} standing=${standing} shown=${shown} />`}`;
}

const Beginning = () => html`
  <${Empty} title="Nothing here yet">
    <p>Drag papers into this window, or choose them: PDF, Markdown, plain text, JATS or TEI, or what Marker made of a PDF.</p>
    <p>A whole folder, a BibTeX file or a Zotero library come in by <code>carrel add PATH</code>.</p>
  <//>`;

/** The list without those that are to be removed: how many there are, and which paper is the nth. */
function useShown(shelf) {
  const papers = useSignal(leaving);
  const hidden = [];
  if (papers.size) shelf.rows.forEach((paper, index) => papers.has(paper.id) && hidden.push(index));
  const at = (number) => shelf.rows[hidden.reduce((index, gone) => (gone <= index ? index + 1 : index), number)];
  return { total: Math.max(0, (shelf.total ?? 0) - hidden.length), at };
}

function Table({ wanted, standing, shown }) {
  const { shelf } = standing;
  const picked = useSignal(chosen);
  const height = useMedia("(max-width: 640px)") ? HEIGHTS.narrow : HEIGHTS.wide;
  const element = useRef(null);
  const [current, setCurrent] = useState(standing.current ?? -1);
  standing.current = current;
  const total = shelf.total === null ? 12 : shown.total;
  useStaying(element, standing);
  const { move, enter, target } = useMoving(element, { height, total, current, setCurrent });
  const here = () => shown.at(target.current);
  useKeys(beneath({
    j: () => move(1),
    k: () => move(-1),
    x: () => (here() ? toggle(here()) : false),
    Enter: (event) => (here() && event.target === document.body ? go(paperAddress(here().id)) : false),
    Delete: () => (picked.size ? takeOut(listed(picked)) : here() ? takeOut([here()]) : false),
    Escape: () => (picked.size ? dismiss() : false),
  }), [shown, picked]);
  const row = (index) => {
    const one = shown.at(index);
    return html`
      <${Row} key=${index} index=${index} paper=${one} isCurrent=${index === current} isChosen=${picked.has(one?.id)}
        choose=${() => toggle(one)} enter=${() => enter(index)} />`;
  };
  return html`
    <${SelectionBar} picked=${picked} />
    <div class="library-table" role="table" aria-label="Papers" aria-rowcount=${total + 1} aria-busy=${shelf.total === null} ref=${element}>
      <${Head} wanted=${wanted} all=${allOf(wanted, shown.total, picked)} />
      <${VirtualList} role="rowgroup" label="Papers" total=${total} height=${height} row=${row} seen=${shelf.seen} />
    </div>`;
}

/** Who comes back finds the list where it was. */
function useStaying(element, standing) {
  useLayoutEffect(() => {
    const list = element.current.querySelector(".virtual");
    list.scrollTop = standing.top;
    const note = () => { standing.top = list.scrollTop; };
    list.addEventListener("scroll", note, { passive: true });
    return () => list.removeEventListener("scroll", note);
  }, []);
}

// Frames in which a line that was scrolled to should be there.
const PATIENCE = 120;

/** `move(step)` makes another line the current one, brings it into sight and gives it the focus once it
 * is there; `enter(index)` says that one has it. */
function useMoving(element, { height, total, current, setCurrent }) {
  // Keys may come faster than lines are drawn.
  const target = useRef(current);
  const enter = (index) => { target.current = index; setCurrent(index); };
  const focus = (index, frames) => {
    if (index !== target.current || !frames) return;
    const link = element.current?.querySelector(`[data-index="${index}"] .paper-link`);
    if (link) link.focus({ preventScroll: true });
    else requestAnimationFrame(() => focus(index, frames - 1));
  };
  const move = (step) => {
    enter(Math.max(0, Math.min(total - 1, target.current + step)));
    const list = element.current.querySelector(".virtual");
    const least = (target.current + 1) * height - list.clientHeight;
    list.scrollTop = Math.min(target.current * height, Math.max(least, list.scrollTop));
    focus(target.current, PATIENCE);
  };
  return { move, enter, target };
}
