// Results that come page by page.
import { useEffect, useState } from "../../dom.js";
import { get, inPath } from "../../api.js";
import { useAsked } from "../../asking.js";

const NONE = { of: null, pages: [], loading: false, problem: null };

/** `{ pages, problem, loading, next, more, moreLoading, moreProblem, again }` of a search; no pages where nothing is asked. */
export function usePages(path, parameters) {
  const key = JSON.stringify(parameters);
  const first = useAsked((until) => (parameters.query ? get(path, parameters, { signal: until }) : null), [path, key]);
  const [rest, setRest] = useState(NONE);
  const further = rest.of === first.data ? rest : NONE;
  const pages = first.data ? [first.data, ...further.pages] : [];
  const next = pages.at(-1)?.nextCursor ?? null;
  const more = () => {
    if (!next || further.loading) return;
    const keep = (changes) => setRest((old) => ({ ...(old.of === first.data ? old : NONE), of: first.data, ...changes }));
    keep({ loading: true, problem: null });
    get(path, { ...parameters, cursor: next }).then(
      (page) => keep({ pages: [...further.pages, page], loading: false }),
      (problem) => keep({ loading: false, problem }),
    );
  };
  return {
    pages, next, more, again: first.again,
    problem: first.problem, loading: first.loading, moreLoading: further.loading, moreProblem: further.problem,
  };
}

const known = new Map();
addEventListener("carrel:changed", () => known.clear());
const MOST = 50;

/** The records of papers, by id, as far as they have come. */
export function usePapers(ids) {
  const [, setRound] = useState(0);
  const missing = [...new Set(ids)].filter((id) => !known.has(id)).slice(0, MOST);
  useEffect(() => {
    if (!missing.length) return undefined;
    const calling = new AbortController();
    get("/api/papers", { paper: missing, limit: MOST }, { signal: calling.signal }).then(({ papers }) => {
      for (const paper of papers) known.set(paper.id, paper);
      setRound((number) => number + 1);
    }, () => {});  // A hit without its authors is still a hit.
    return () => calling.abort();
  }, [missing.join("\n")]);
  return known;
}

/** The chapters of the one paper that is searched; none where there are several, or none. */
export function useChapters(ids) {
  const id = ids.length === 1 ? ids[0] : "";
  const asked = useAsked((until) => (id ? get(`/api/papers/${inPath(id)}`, {}, { signal: until }) : null), [id]);
  return (id && asked.data?.chapters) || [];
}
