// Where a text says what was asked: its words marked, and the stretch that has most of them.
import { html } from "../../dom.js";

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const FIELDS = /(?<!\S)(author|title|venue|tag|year):("[^"]*"|“[^”]*”|\S+)/giu;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const SMALL = new Set(("a about all also an and any are as at be been between but by can did do does for from had has have how i if in into is it its "
  + "many may more most much not of on one only or other our out over some such than that the their them then there these they this those to under up "
  + "was we were what when where which while who why will with without would you").split(" "));

const folded = (word) => word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** Near enough to see: "queries" and "query", "ranked" and "ranking" are one word. */
function stem(word) {
  const plain = folded(word);
  if (plain.length < 5) return plain.replace(/s$/, "");
  return plain.replace(/ies$/, "y").replace(/(?<=.{3})(ations?|ings?|ed|es|s)$/, "").replace(/e$/, "");
}

/** What to mark for a query: its words, and those that it was understood by. */
export function termsOf(query, understood = []) {
  const meant = understood.filter(({ kind }) => kind === "spelling" || kind === "acronym").map(({ to }) => to);
  const words = [query.replace(FIELDS, " "), ...meant].join(" ").match(WORD) ?? [];
  const told = words.filter((word) => !SMALL.has(folded(word)));
  return {
    stems: new Set(told.map(stem)),
    parts: told.filter((word) => UNSPACED.test(word)),
  };
}

/** Stretches `[start, end]` of the text that say one of the terms, in order. */
function spots(text, terms) {
  const found = [];
  for (const match of text.matchAll(WORD)) {
    if (terms.stems.has(stem(match[0]))) found.push([match.index, match.index + match[0].length]);
  }
  for (const part of terms.parts) {
    for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found.push([at, at + part.length]);
  }
  return found.sort(([one], [other]) => one - other);
}

/** The text with its terms marked. It is text, whatever it looks like. */
export function Marked({ text, terms }) {
  const pieces = [];
  let end = 0;
  for (const [from, to] of spots(text, terms)) {
    if (from < end) continue;
    pieces.push(text.slice(end, from), html`<mark key=${from}>${text.slice(from, to)}</mark>`);
    end = to;
  }
  return html`${[...pieces, text.slice(end)]}`;
}

const PICTURE = /!\[([^\]]*)\]\([^)]*\)/g;

/** Lines that end where the file's did run on; what is a list, a table, a quote or a heading keeps its own. A picture is
 * told by its words. */
export const flowing = (text) => text.replace(PICTURE, "$1").replace(/(?<!\n)\n(?!\n|\s*(?:[-*+|>#]|\d+[.)]))/g, " ");

const SENTENCE = /[.!?。！？]["”’)]?\s+|\n+/gu;
const LENGTH = 420;
const SLACK = 120;

/** `{ start, end }` of a stretch worth reading first: from the sentence on that has most of the terms. */
export function excerpt(text, terms, length = LENGTH) {
  if (text.length <= length + SLACK) return { start: 0, end: text.length };
  const found = spots(text, terms);
  const starts = [0, ...[...text.matchAll(SENTENCE)].map((match) => match.index + match[0].length)];
  const worth = (start) => new Set(found.filter(([from]) => from >= start && from < start + length)
    .map(([from, to]) => stem(text.slice(from, to)))).size;
  let start = 0;
  let best = worth(0);
  for (const one of starts) {
    if (worth(one) > best && one + length / 3 < text.length) [start, best] = [one, worth(one)];
  }
  const space = text.lastIndexOf(" ", start + length);
  return { start, end: start + length >= text.length ? text.length : space > start + length / 2 ? space : start + length };
}
