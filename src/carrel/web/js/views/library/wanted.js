// What is to be listed, as the address of the view says it.
import { useEffect, useRef, useState } from "../../dom.js";
import { goWith } from "../../router.js";

/** Each way to sort, and the direction one expects of it. */
const SORTS = { title: "asc", year: "desc", added: "desc" };
const WHOLE = /^\d{1,4}$/;

const year = (text) => (WHOLE.test(text ?? "") ? Number(text) : "");

/** Of the place's parameters those of `GET /api/papers`; what makes no sense is left out. */
export function wantedOf(query) {
  const sort = Object.hasOwn(SORTS, query.get("sort") ?? "") ? query.get("sort") : "added";
  const order = ["asc", "desc"].includes(query.get("order")) ? query.get("order") : SORTS[sort];
  return {
    query: (query.get("q") ?? "").slice(0, 500),
    tag: query.getAll("tag").slice(0, 20),
    venue: (query.get("venue") ?? "").slice(0, 500),
    yearMin: year(query.get("from")),
    yearMax: year(query.get("to")),
    sort,
    order,
  };
}

export const isNarrowed = (wanted) =>
  Boolean(wanted.query || wanted.tag.length || wanted.venue || wanted.yearMin !== "" || wanted.yearMax !== "");

export const widen = () => goWith({ q: "", tag: [], venue: "", from: "", to: "" });

/** What is expected need not stand in the address. */
export const sortIn = (sort, order) => goWith({ sort: sort === "added" ? "" : sort, order: order === SORTS[sort] ? "" : order });

/** Sort by it; by what it is sorted by already, the other way round. */
export function sortBy(sort, wanted) {
  const turned = wanted.order === "asc" ? "desc" : "asc";
  sortIn(sort, wanted.sort === sort ? turned : SORTS[sort]);
}

export const toggleTag = (tag, wanted) =>
  goWith({ tag: wanted.tag.includes(tag) ? wanted.tag.filter((one) => one !== tag) : [...wanted.tag, tag] });

const SETTLES = 250;

/** What is written in a field and soon stands in the address: `[text, setText]`. */
export function useParameter(place, name) {
  const there = place.query.get(name) ?? "";
  const [text, setText] = useState(there);
  const told = useRef(there);
  useEffect(() => {
    if (there === told.current) return;
    told.current = there;
    setText(there);
  }, [there]);
  useEffect(() => {
    const timer = setTimeout(() => {
      if (text.trim() === told.current) return;
      told.current = text.trim();
      goWith({ [name]: text.trim() }, { replace: true });
    }, SETTLES);
    return () => clearTimeout(timer);
  }, [text]);
  return [text, setText];
}
