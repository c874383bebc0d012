// A paper, chosen by typing a part of its title, authors or id.
import { html, useRef, useState } from "../../dom.js";
import { get } from "../../api.js";
import { useAsked, useSettled } from "../../asking.js";
import { shortAuthors } from "../../wording.js";

const MOST = 8;

export function PaperPicker({ chosen, choose }) {
  const [typed, setTyped] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const input = useRef(null);
  const settled = useSettled(typed.trim(), 150);
  const asked = useAsked((until) => (settled ? get("/api/papers", { query: settled, limit: MOST }, { signal: until }) : null), [settled]);
  const papers = settled ? (asked.data?.papers ?? []).filter(({ id }) => !chosen.includes(id)) : [];
  const shows = isOpen && settled !== "" && !(asked.loading && !papers.length);
  const pick = (id) => { setTyped(""); setOpen(false); choose(id); };
  const move = (by) => { setOpen(true); setActive((old) => Math.min(papers.length - 1, Math.max(0, old + by))); };
  const keyed = (event) => {
    const work = {
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      Enter: () => shows && papers[active] && pick(papers[active].id),
      Escape: () => (shows ? setOpen(false) : input.current.blur()),
    }[event.key];
    if (work) { event.preventDefault(); work(); }
  };
  return html`
    <div class="filter picker">
      <label class="label" for="search-paper">Paper</label>
      <input class="field" id="search-paper" ref=${input} role="combobox" aria-autocomplete="list" aria-expanded=${shows} aria-controls="search-papers"
        aria-activedescendant=${shows && papers[active] ? `search-papers-${active}` : null} autocomplete="off" placeholder="title, author or id" value=${typed}
        onInput=${(event) => { setTyped(event.target.value); setOpen(true); setActive(0); }} onKeyDown=${keyed} onBlur=${() => setOpen(false)} />
      ${shows && html`
        <ul class="options" id="search-papers" role="listbox" aria-label="Papers">
          ${papers.length === 0 && html`<li class="option faint" role="option" aria-disabled="true" aria-selected="false">No paper has that.</li>`}
          ${papers.map((paper, index) => html`
            <li class="option" key=${paper.id} id=${`search-papers-${index}`} role="option" aria-selected=${index === active}
              onMouseDown=${(event) => { event.preventDefault(); pick(paper.id); }}>
              <bdi class="serif">${paper.title || paper.id}</bdi>
              <span class="faint">${[shortAuthors(paper.authors), paper.year].filter(Boolean).join(", ")}</span>
            </li>`)}
        </ul>`}
    </div>`;
}
