// Papers that were picked out of the list, and what can be done with them together.
import { html, useState } from "../../dom.js";
import { get } from "../../api.js";
import { signal } from "../../events.js";
import { count, plural } from "../../wording.js";
import { ExportDialog } from "../../parts/exporting.js";
import { Icon } from "../../parts/icons.js";
import { leaving, propose } from "../../parts/removing.js";
import { say } from "../../parts/toasts.js";
import { WINDOW } from "./shelf.js";

const MOST = 1000;

/** By id, the titles of those that are chosen; they stay so in other views. */
export const chosen = signal(new Map());

export const listed = (picked) => [...picked].map(([id, title]) => ({ id, title }));

export const dismiss = () => chosen.set(new Map());

export function toggle({ id, title }) {
  const next = new Map(chosen.value);
  if (!next.delete(id)) next.set(id, title);
  chosen.set(next);
}

export function takeOut(papers) {
  propose(papers);
  dismiss();
}

/** The box that stands for all that are listed. */
export function allOf(wanted, total, picked) {
  const isChosen = total > 0 && picked.size >= total;
  const label = total > MOST ? `Filter first: at most ${count(MOST)} can be selected at once` : "Select all";
  return { isChosen, label, isDisabled: !total || total > MOST, choose: () => (isChosen ? dismiss() : chooseAll(wanted, total)) };
}

async function chooseAll(wanted, total) {
  const found = new Map();
  try {
    for (let offset = 0; offset < total; offset += WINDOW) {
      const page = await get("/api/papers", { ...wanted, offset, limit: WINDOW });
      for (const { id, title } of page.papers) if (!leaving.value.has(id)) found.set(id, title);
    }
    chosen.set(found);
  } catch (problem) {
    say(problem.message);
  }
}

export function SelectionBar({ picked }) {
  const [ids, setIds] = useState(null);
  return html`
    ${picked.size > 0 && html`
      <div class="selection" role="toolbar" aria-label="Selected papers">
        <span role="status">${plural(picked.size, "paper")} selected</span>
        <button class="button" onClick=${() => setIds([...picked.keys()])}><${Icon} name="save" size="18" />Export</button>
        <button class="button is-danger" onClick=${() => takeOut(listed(picked))}><${Icon} name="trash" size="18" />Remove</button>
        <button class="icon-button" aria-label="Select none" title="Select none (Esc)" onClick=${dismiss}><${Icon} name="close" size="18" /></button>
      </div>`}
    ${ids && html`<${ExportDialog} ids=${ids} close=${() => setIds(null)} />`}`;
}
