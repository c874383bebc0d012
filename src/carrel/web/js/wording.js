// How things are said.

export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

export const count = (number) => Number(number).toLocaleString("en");

/** "Vaswani", "Vaswani and Shazeer", "Vaswani et al."; names are "First Last" or "Last, First". */
export function shortAuthors(authors) {
  const last = (authors ?? []).map((name) => (name.includes(",") ? name.split(",")[0] : name.split(" ").at(-1)));
  if (last.length < 3) return last.join(" and ");
  return `${last[0]} et al.`;
}

export const milliseconds = (number) =>
  number >= 10_000 ? `${(number / 1000).toFixed(0)} s` : number >= 1000 ? `${(number / 1000).toFixed(1)} s` : `${Math.round(number)} ms`;

const UNITS = [["year", 31_536_000], ["month", 2_592_000], ["day", 86_400], ["hour", 3600], ["minute", 60]];

/** "3 hours ago". */
export function ago(time) {
  const seconds = (Date.now() - new Date(time).getTime()) / 1000;
  const [unit, size] = UNITS.find(([, least]) => seconds >= least) ?? [];
  return unit ? `${plural(Math.floor(seconds / size), unit)} ago` : "just now";
}

/** A link out, if it is one that may be followed. */
export const outward = (url) => (/^https?:\/\//i.test(url ?? "") ? url : null);
