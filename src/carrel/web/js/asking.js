// What a view asks the server for, and how that stands.
import { useCallback, useEffect, useRef, useState } from "./dom.js";
import { reachable } from "./api.js";

/** `{ data, problem, loading, again }` of `fetch(signal)`, asked anew when one of `inputs` changes.
 *
 * What was there stays until the next is. A server that comes back is asked again.
 */
export function useAsked(fetch, inputs) {
  const [state, setState] = useState({ data: null, problem: null, loading: true });
  const [round, setRound] = useState(0);
  const again = useCallback(() => setRound((number) => number + 1), []);
  useEffect(() => {
    const calling = new AbortController();
    setState((old) => ({ ...old, loading: true }));
    Promise.resolve(fetch(calling.signal)).then(
      (data) => calling.signal.aborted || setState({ data, problem: null, loading: false }),
      (problem) => calling.signal.aborted || setState((old) => ({ data: old.data, problem, loading: false })),
    );
    return () => calling.abort();
  }, [...inputs, round]);
  const failed = useRef(false);
  failed.current = state.problem !== null;
  useEffect(() => reachable.listen((how) => how === "yes" && failed.current && again()), []);
  return { ...state, again };
}

/** The value, once it has not changed for a while. */
export function useSettled(value, milliseconds = 200) {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** `fetch` again and again while the view is looked at. */
export function useEvery(milliseconds, work, inputs = []) {
  useEffect(() => {
    const timer = setInterval(() => document.hidden || work(), milliseconds);
    return () => clearInterval(timer);
  }, inputs);
}

/** Whether a media query holds. */
export function useMedia(query) {
  const [holds, setHolds] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const listen = () => setHolds(list.matches);
    list.addEventListener("change", listen);
    return () => list.removeEventListener("change", listen);
  }, [query]);
  return holds;
}
