// References to be cited elsewhere.
import { html, useState } from "../dom.js";
import { text } from "../api.js";
import { useAsked } from "../asking.js";
import { plural } from "../wording.js";
import { Dialog } from "./dialogs.js";
import { Icon } from "./icons.js";
import { Asked } from "./states.js";
import { say } from "./toasts.js";

const STYLES = {
  bibtex: { name: "BibTeX", file: "carrel.bib", joined: (parts) => parts.join("\n") },
  csl: { name: "CSL-JSON", file: "carrel.json", joined: (parts) => JSON.stringify(parts.flatMap((part) => JSON.parse(part)), null, 2) },
};
// Ids stand in the address, which has its limits.
const AT_ONCE = 100;

async function references(ids, style) {
  const parts = [];
  for (let start = 0; start < ids.length; start += AT_ONCE) {
    parts.push(await text("/api/export", { paper: ids.slice(start, start + AT_ONCE), style }));
  }
  return STYLES[style].joined(parts);
}

const copy = (content) => navigator.clipboard.writeText(content).then(
  () => say("Copied"),
  () => say("This browser does not let the page copy; mark the text and copy it yourself"),
);

function save(content, name) {
  const url = URL.createObjectURL(new Blob([content], { type: "text/plain" }));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function ExportDialog({ ids, close }) {
  const [style, setStyle] = useState("bibtex");
  const asked = useAsked(() => references(ids, style).then((content) => ({ style, content })), [style]);
  return html`
    <${Dialog} title=${ids.length === 1 ? "Cite this paper" : `Cite ${plural(ids.length, "paper")}`} close=${close} wide>
      <div class="export-tools">
        <span class="segments" role="group" aria-label="Style">
          ${Object.entries(STYLES).map(([key, { name }]) => html`
            <button key=${key} class="segment" aria-pressed=${key === style} onClick=${() => setStyle(key)}>${name}</button>`)}
        </span>
        <span class="export-work">
          <button class="button" disabled=${asked.loading || !asked.data} onClick=${() => copy(asked.data.content)}><${Icon} name="copy" size="18" />Copy</button>
          <button class="button" disabled=${asked.loading || !asked.data} onClick=${() => save(asked.data.content, STYLES[asked.data.style].file)}><${Icon} name="save" size="18" />Save</button>
        </span>
      </div>
      <${Asked} asked=${asked} lines="6">
        ${({ content }) => html`<textarea class="field export-text" readonly rows="14" aria-label="References" spellcheck="false" value=${content}></textarea>`}
      <//>
    <//>`;
}
