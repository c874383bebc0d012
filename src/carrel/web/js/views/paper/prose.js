// The text of a paper as it was stored, set to be read. Nothing in it is markup to us but its lines.
import { html } from "../../dom.js";

const FENCE = /^\s*(```|~~~)/;
const TABLE = /^\s*\|.*\|\s*$/;
const RULE = /^\s*\|[\s:|-]+\|\s*$/;
const ITEM = /^\s*(?:[-*•–]|\d{1,3}[.)])\s+/;
const HEADING = /^#{1,6}\s+/;
const FORMULA = /^\s*(\$\$|\\\[|\\begin\{)/;

/** Runs of lines that belong together; what is fenced is one, empty lines included. */
function blocksOf(text) {
  const blocks = [[]];
  let isFenced = false;
  for (const line of text.split(/\r?\n/)) {
    const isFence = FENCE.test(line);
    if (isFence && !isFenced) blocks.push([]);
    if (line.trim() || isFenced) blocks.at(-1).push(line);
    else blocks.push([]);
    if (isFence && isFenced) blocks.push([]);
    if (isFence) isFenced = !isFenced;
  }
  return blocks.filter((lines) => lines.length);
}

export const Prose = ({ text }) => html`
  <div class="prose">${blocksOf(text).map((lines, index) => html`<${Block} key=${index} lines=${lines} />`)}</div>`;

function Block({ lines }) {
  if (FENCE.test(lines[0])) return html`<pre class="prose-code" tabindex="0"><code>${lines.filter((line) => !FENCE.test(line)).join("\n")}</code></pre>`;
  if (lines.length > 1 && lines.every((line) => TABLE.test(line))) return html`<${Table} lines=${lines} />`;
  if (FORMULA.test(lines[0])) return html`<pre class="prose-formula" tabindex="0">${lines.join("\n")}</pre>`;
  if (lines.every((line) => ITEM.test(line) || /^\s{2,}/.test(line)) && ITEM.test(lines[0])) return html`<${List} lines=${lines} />`;
  if (HEADING.test(lines[0])) {
    return html`<p class="prose-heading" dir="auto">${lines[0].replace(HEADING, "")}</p>${lines.length > 1 && html`<${Block} lines=${lines.slice(1)} />`}`;
  }
  return html`<p dir="auto">${lines.join("\n")}</p>`;
}

/** Lines that go on with an item belong to it. */
function List({ lines }) {
  const items = [];
  for (const line of lines) ITEM.test(line) ? items.push(line) : items.push(`${items.pop()} ${line.trim()}`);
  return html`<ul class="prose-list">${items.map((item, index) => html`<li key=${index} dir="auto">${item.replace(/^\s*[-*•–]\s+/, "")}</li>`)}</ul>`;
}

const cellsOf = (line) => line.trim().slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim());

function Table({ lines }) {
  const hasHead = RULE.test(lines[1]);
  const rows = lines.filter((line) => !RULE.test(line)).map(cellsOf);
  const body = hasHead ? rows.slice(1) : rows;
  return html`
    <div class="prose-table" tabindex="0" role="region" aria-label="Table">
      <table>
        ${hasHead && html`<thead><tr>${rows[0].map((cell, index) => html`<th key=${index} scope="col">${cell}</th>`)}</tr></thead>`}
        <tbody>${body.map((row, number) => html`<tr key=${number}>${row.map((cell, index) => html`<td key=${index}>${cell}</td>`)}</tr>`)}</tbody>
      </table>
    </div>`;
}
