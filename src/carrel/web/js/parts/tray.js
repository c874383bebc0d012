// What is being taken in, in a corner of every view.
import { html, useEffect, useState } from "../dom.js";
import { styled } from "../later.js";
import { count } from "../wording.js";
import { Icon } from "./icons.js";
import { cancel, dismiss, intake, isUnderway, retry } from "./intake.js";
import { PaperLink } from "./papers.js";

const STEPS = {
  queued: "Waits for its turn", fetch: "Fetching", read: "Reading", embed: "Embedding", index: "Indexing", wait: "Waits for another process",
};
// Sending is the smaller part of the way.
const SENDING = 0.15;
const share = ({ sent, progress }) => SENDING * sent + (1 - SENDING) * progress;
const percent = (entry) => Math.round(share(entry) * 100);

function words(entry) {
  if (entry.state === "waiting") return "Waits to be sent";
  if (entry.state === "sending") return `Sending, ${Math.round(entry.sent * 100)} %`;
  if (entry.state === "working") return STEPS[entry.step] ?? "Taking in";
  return { done: "In the library", cancelled: "Called off" }[entry.state] ?? entry.problem.message;
}

function summary(entries) {
  const number = (...states) => entries.filter(({ state }) => states.includes(state)).length;
  const underway = entries.filter(isUnderway).length;
  const sent = entries.length - number("refused");
  const main = underway ? `Taking in ${count(sent - underway + 1)} of ${count(sent)}` : `${count(number("done"))} taken in`;
  const others = { failed: number("failed"), known: number("known"), "left out": number("refused") };
  return [main, ...Object.entries(others).filter(([, some]) => some).map(([name, some]) => `${count(some)} ${name}`)].join(" · ");
}

export function Tray({ view }) {
  const [entries, setEntries] = useState(intake.value);
  const [isOpen, setOpen] = useState(view === "library");
  const [isStyled, setStyled] = useState(false);
  const isNeeded = entries.length > 0;
  useEffect(() => intake.listen(setEntries), []);
  useEffect(() => { if (isNeeded) styled("library").then(() => setStyled(true)); }, [isNeeded]);
  // It is in the way elsewhere.
  useEffect(() => setOpen(view === "library"), [view]);
  if (!isNeeded || !isStyled) return null;
  const underway = entries.filter(isUnderway);
  const whole = entries.reduce((sum, entry) => sum + (isUnderway(entry) ? share(entry) : 1), 0) / entries.length;
  return html`
    <section class=${isOpen ? "tray is-open" : "tray"} aria-label="Documents being taken in">
      <header class="tray-head">
        <button class="tray-toggle" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
          <span class="tray-sign" data-state=${underway.length ? "working" : "over"}><${Icon} name=${underway.length ? "again" : "check"} size="16" /></span>
          <span role="status">${summary(entries)}</span><${Icon} name=${isOpen ? "down" : "up"} size="16" />
        </button>
        ${!underway.length && html`<button class="icon-button" aria-label="Clear the list" onClick=${() => dismiss()}><${Icon} name="close" size="16" /></button>`}
      </header>
      ${underway.length > 0 && html`<${Bar} value=${Math.round(whole * 100)} label="All documents" />`}
      ${isOpen && html`<ul class="tray-list">${entries.map((entry) => html`<${Entry} key=${entry.key} entry=${entry} />`)}</ul>`}
    </section>`;
}

const Bar = ({ value, label }) => html`
  <div class="tray-bar" role="progressbar" aria-label=${label} aria-valuenow=${value} aria-valuemin="0" aria-valuemax="100">
    <span style=${{ width: `${value}%` }}></span>
  </div>`;

const Entry = ({ entry }) => html`
  <li class=${`tray-entry is-${entry.state}`}>
    <div class="tray-what">
      ${entry.paperId ? html`<${PaperLink} id=${entry.paperId} title=${entry.title || entry.name} />` : html`<bdi class="tray-name" title=${entry.name}>${entry.name}</bdi>`}
      <span class="tray-words">${words(entry)}</span>
      ${entry.problem?.hint && html`<span class="tray-hint">${entry.problem.hint}</span>`}
      ${isUnderway(entry) && html`<${Bar} value=${percent(entry)} label=${entry.name} />`}
    </div>
    <${Choice} entry=${entry} />
  </li>`;

function Choice({ entry: { key, name, state, file } }) {
  if (isUnderway({ state })) return html`<button class="icon-button" aria-label=${`Call off ${name}`} onClick=${() => cancel(key)}><${Icon} name="close" size="16" /></button>`;
  const canRetry = file && ["failed", "cancelled"].includes(state);
  return html`
    <span class="tray-choice">
      ${canRetry && html`<button class="button" onClick=${() => retry(key)}>Try again</button>`}
      ${state === "known" && file && html`<button class="button" onClick=${() => retry(key, { force: true })}>Read it again</button>`}
      <button class="icon-button" aria-label=${`Clear ${name}`} onClick=${() => dismiss(key)}><${Icon} name="close" size="16" /></button>
    </span>`;
}
