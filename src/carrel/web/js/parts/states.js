// What a view shows when it has nothing to show: not yet, not at all, or not any more.
import { html } from "../dom.js";

/** While the first answer is awaited: lines where text will be. */
export const Loading = ({ lines = 4, label = "Loading" }) => html`
  <div class="loading" role="status" aria-label=${label}>
    ${Array.from({ length: lines }, (_, index) => html`<span class="loading-line" key=${index}></span>`)}
  </div>`;

/** Nothing is there, and what to do about it. */
export const Empty = ({ title, children }) => html`
  <div class="state"><h2 class="state-title">${title}</h2>${children}</div>`;

/** It failed: why, and what comes next. */
export const Failure = ({ problem, again }) => html`
  <div class="state is-failure" role="alert">
    <h2 class="state-title">${problem.message}</h2>
    ${problem.hint && html`<p>${problem.hint}</p>`}
    ${again && html`<button class="button" onClick=${again}>Try again</button>`}
  </div>`;

/** The state of what was asked for, or what `children` make of it once it is there. */
export function Asked({ asked, lines, children }) {
  if (asked.data !== null) {
    return html`
      ${asked.problem && html`<${Failure} problem=${asked.problem} again=${asked.again} />`}
      ${children(asked.data)}`;
  }
  return asked.problem
    ? html`<${Failure} problem=${asked.problem} again=${asked.again} />`
    : html`<${Loading} lines=${lines} />`;
}
