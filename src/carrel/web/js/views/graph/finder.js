// A box in which a concept is found by the first letters of its name.
import { html, classes, useEffect, useId, useState } from "../../dom.js";
import { get } from "../../api.js";
import { useAsked, useSettled } from "../../asking.js";
import { Icon } from "../../parts/icons.js";
import { plural } from "../../wording.js";
import { spoken } from "./model.js";

const SHOWN = 8;
const NOTHING = { concepts: [], total: 0 };

export function Finder({ value, choose }) {
  const [text, setText] = useState(value);
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const id = useId();
  useEffect(() => { setText(value); setOpen(false); }, [value]);
  const sought = useSettled(text.trim(), 120);
  const isSeeking = isOpen && sought !== "";
  const asked = useAsked((signal) => (isSeeking ? get("/api/concepts", { query: sought, limit: SHOWN }, { signal }) : NOTHING), [sought, isSeeking]);
  const found = isSeeking ? asked.data?.concepts ?? [] : [];
  const isKnown = isSeeking && !asked.loading;
  const take = (name) => { setOpen(false); setChosen(-1); choose(name); };
  const keys = {
    ArrowDown: () => { setOpen(true); setChosen((chosen + 1) % Math.max(1, found.length)); },
    ArrowUp: () => setChosen((chosen - 1 + found.length) % Math.max(1, found.length)),
    Enter: () => text.trim() && take(found[chosen]?.name ?? text.trim()),
    Escape: () => { if (isOpen) setOpen(false); else setText(""); },
  };
  const press = (event) => {
    if (!keys[event.key] || event.isComposing) return;
    event.preventDefault();
    keys[event.key]();
  };
  const write = (event) => { setText(event.target.value); setOpen(true); setChosen(-1); };
  return html`
    <div class="graph-finder" role="search" onFocusOut=${(event) => event.currentTarget.contains(event.relatedTarget) || setOpen(false)}>
      <${Icon} name="search" size="17" />
      <input class="field" data-primary type="text" autocomplete="off" spellcheck="false" maxlength="200" dir="auto"
        placeholder="Find a concept" aria-label="Find a concept" role="combobox" aria-autocomplete="list"
        aria-expanded=${found.length > 0} aria-controls=${id} aria-activedescendant=${found[chosen] ? `${id}-${chosen}` : null}
        value=${text} onInput=${write} onKeyDown=${press} />
      <ul class="graph-finder-found card" id=${id} role="listbox" aria-label="Concepts" hidden=${found.length === 0}>
        ${found.map((concept, index) => html`
          <li key=${concept.key} id=${`${id}-${index}`} role="option" aria-selected=${index === chosen}
            class=${classes("graph-finder-one", { "is-on": index === chosen })}
            onPointerDown=${(event) => { event.preventDefault(); take(concept.name); }}>
            <bdi>${concept.name}</bdi><span class="faint small">${spoken(concept)}</span>
          </li>`)}
      </ul>
      <p class="unseen" role="status">${isKnown && `${plural(asked.data?.total ?? 0, "concept")} found`}</p>
      ${isKnown && found.length === 0 && html`
        <p class="graph-finder-found graph-finder-none card faint small">No concept is called so.</p>`}
    </div>`;
}
