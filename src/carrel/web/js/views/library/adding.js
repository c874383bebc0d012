// New papers: dropped anywhere on the view, or chosen.
import { html, useEffect, useRef, useState } from "../../dom.js";
import { plural } from "../../wording.js";
import { Icon } from "../../parts/icons.js";
import { catchUp, ENDINGS, endingOf, leaveOut, takeIn } from "../../parts/intake.js";

const ACCEPTED = ENDINGS.map((ending) => `.${ending}`).join(",");
// Papers, not a whole disk.
const MOST = 2000;
const isReadable = ({ name }) => ENDINGS.includes(endingOf(name)) && !name.split("/").some((part) => part.startsWith("."));

/** Files of a folder: those that can be read, and a word about the others. */
function takeInFolder(folder, files) {
  const readable = files.filter(isReadable).slice(0, MOST);
  takeIn(readable);
  const others = files.filter((one) => !isReadable(one));
  const endings = [...new Set(others.map(({ name }) => endingOf(name)).filter(Boolean))].slice(0, 6);
  if (others.length) leaveOut(folder, { message: `${plural(others.length, "file")} of other kinds left out`, hint: endings.map((one) => `.${one}`).join(", ") });
  if (files.length >= MOST) leaveOut(folder, { message: `Only the first ${MOST} files were looked at`, hint: "'carrel add' takes whole folders." });
}

const asFile = (entry) => new Promise((resolve, reject) => { entry.file(resolve, reject); });
const someOf = (reader) => new Promise((resolve, reject) => { reader.readEntries(resolve, reject); });

async function filesIn(folder, found = []) {
  const reader = folder.createReader();
  for (let some = await someOf(reader); some.length && found.length < MOST; some = await someOf(reader)) {
    for (const entry of some) {
      if (entry.isDirectory) await filesIn(entry, found);
      else if (found.length < MOST) found.push({ file: await asFile(entry), name: entry.fullPath.slice(1) });
    }
  }
  return found;
}

async function drop(transfer) {
  // Both must be read before anything is awaited: then the browser forgets them.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const files = [...transfer.files];
  const folders = entries.filter((entry) => entry.isDirectory);
  const names = new Set(folders.map(({ name }) => name));
  takeIn(files.filter(({ name }) => !names.has(name)).map((file) => ({ file, name: file.name })));
  for (const folder of folders) {
    await filesIn(folder).then(
      (found) => takeInFolder(folder.name, found),
      (failure) => leaveOut(folder.name, { message: "The folder cannot be read", hint: String(failure.message) }),
    );
  }
}

const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");

/** Shown over the whole window while files are dragged into it. */
export function DropZone() {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    // Whoever may not hand in documents has none to follow.
    catchUp().catch(() => {});
    const listeners = {
      dragenter: () => setOver(true),
      dragover: () => setOver(true),
      dragleave: (event) => event.relatedTarget === null && setOver(false),
      drop: (event) => { setOver(false); drop(event.dataTransfer); },
    };
    const heard = Object.entries(listeners).map(([name, work]) => [name, (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      work(event);
    }]);
    for (const [name, listener] of heard) addEventListener(name, listener);
    return () => { for (const [name, listener] of heard) removeEventListener(name, listener); };
  }, []);
  return isOver && html`<div class="drop-zone"><p>Let go to add them to the library</p></div>`;
}

export function AddButton({ isMain }) {
  const files = useRef(null);
  const folder = useRef(null);
  const chosen = (event) => {
    takeIn([...event.target.files].map((file) => ({ file, name: file.name })));
    event.target.value = "";
  };
  const chosenFolder = (event) => {
    const found = [...event.target.files].map((file) => ({ file, name: file.webkitRelativePath || file.name }));
    if (found.length) takeInFolder(found[0].name.split("/")[0], found.slice(0, MOST));
    event.target.value = "";
  };
  return html`
    <span class="library-add">
      <input type="file" multiple hidden accept=${ACCEPTED} aria-label="Papers to add" ref=${files} onChange=${chosen} />
      <input type="file" webkitdirectory hidden aria-label="Folder to add" ref=${folder} onChange=${chosenFolder} />
      <button class="button is-quiet library-folder" onClick=${() => folder.current.click()}>Add a folder</button>
      <button class=${isMain ? "button is-main" : "button"} title="Or drag them anywhere into this window" onClick=${() => files.current.click()}>
        <${Icon} name="add" size="18" />Add papers
      </button>
    </span>`;
}
