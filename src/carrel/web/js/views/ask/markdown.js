// An answer as Markdown, to be put into notes.
import { text } from "../../api.js";
import { outward } from "../../wording.js";

/** Words that stay words wherever the notes are shown. */
const escaped = (words) => words.replace(/[\\`*_[\]<>|~$]/g, "\\$&").replace(/^(\s*)([#+-]|\d+[.)])(?=\s)/gm, "$1\\$2").replace(/\s*\n\s*/g, " ");

const FENCE = "````";

/** The answer with `[n]`, and each n with its source and its quote; with the references in a style, if one is named. */
export async function asMarkdown({ question, response }, style = "") {
  const said = response.statements.map((one) => `${escaped(one.text)} ${one.citations.map((number) => `[${number}]`).join("")}`);
  const parts = [`## ${escaped(question)}`, ...(said.length ? said : [escaped(response.answer)]), ...response.citations.map(sourced)];
  if (style) parts.push(`${FENCE}${style === "csl" ? "json" : style}\n${(await references(response, style)).trim()}\n${FENCE}`);
  return `${parts.join("\n\n")}\n`;
}

export const references = (response, style) =>
  text("/api/export", { paper: [...new Set(response.citations.map((one) => one.paperId))], style });

function sourced({ id, authors, title, year, page, url, quote }) {
  const link = outward(url) && `<${url.replace(/[\s<>]/g, encodeURIComponent)}>`;
  const source = [authors.map(escaped).join(", "), `*${escaped(title)}*`, year, page && `p. ${page}`, link];
  return `[${id}] ${source.filter(Boolean).join(", ")}\n\n> ${escaped(quote)}`;
}
