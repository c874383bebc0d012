// Papers that are to be removed. Until that is confirmed it can be taken back, and nobody but this page knows of it.
import { html, useEffect, useState } from "../dom.js";
import { inPath, remove } from "../api.js";
import { signal } from "../events.js";
import { plural } from "../wording.js";
import { say } from "./toasts.js";

/** By id, the titles of papers that are to go. */
export const leaving = signal(new Map());
const busy = signal(null);

export const propose = (papers) =>
  leaving.set(new Map([...leaving.value, ...papers.map(({ id, title }) => [id, title || id])]));

const takeBack = () => leaving.set(new Map());

/** Have them removed, one after the other; those that cannot be come back. */
async function confirm() {
  const papers = [...leaving.value];
  const removed = [];
  const refused = [];
  for (const [index, [id, title]] of papers.entries()) {
    busy.set(`${index + 1} of ${papers.length}`);
    await remove(`/api/papers/${inPath(id)}`).then(() => removed.push(id), (problem) => refused.push({ title, problem }));
  }
  busy.set(null);
  tell(removed.length, refused);
  dispatchEvent(new CustomEvent("carrel:changed", { detail: { removed } }));
  takeBack();
}

function tell(number, refused) {
  if (number) say(`${plural(number, "paper")} removed`);
  for (const { title, problem } of refused.slice(0, 3)) say(`“${title}” could not be removed: ${problem.message}`, { stays: 0, kind: "is-danger" });
}

export function useSignal(source) {
  const [value, setValue] = useState(source.value);
  useEffect(() => source.listen(setValue), [source]);
  return value;
}

/** What will be removed, and the choice. */
export function RemovalBar() {
  const papers = useSignal(leaving);
  const progress = useSignal(busy);
  if (!papers.size) return null;
  const [title] = papers.values();
  const what = papers.size === 1 ? `“${title}”` : plural(papers.size, "paper");
  return html`
    <div class="removal" role="alertdialog" aria-label="Remove papers" aria-describedby="removal-words">
      <p id="removal-words"><strong><bdi>${what}</bdi> will be removed.</strong> <span>Nothing is removed before you say so, or if you leave this page. Files stay where they are.</span></p>
      <div class="removal-choice">
        <button class="button" disabled=${progress !== null} onClick=${takeBack}>Undo</button>
        <button class="button is-danger" disabled=${progress !== null} onClick=${confirm}>${progress ? `Removing ${progress}` : "Remove for good"}</button>
      </div>
    </div>`;
}
