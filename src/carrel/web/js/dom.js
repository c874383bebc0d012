// What every view is written with.
import { h, render, Fragment, createContext } from "../vendor/preact.js";
import htm from "../vendor/htm.js";

export { h, render, Fragment, createContext };
export {
  useState, useReducer, useEffect, useLayoutEffect, useMemo, useCallback, useRef, useContext, useId, useErrorBoundary,
} from "../vendor/hooks.js";

export const html = htm.bind(h);

/** The class names that hold: `classes("hit", { "is-open": open })`. */
export const classes = (...names) =>
  names.flatMap((name) => (typeof name === "object" && name ? Object.keys(name).filter((key) => name[key]) : name || []))
    .join(" ");
