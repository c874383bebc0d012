import { inPath } from "../../api.js";

/** Where the proof of a quote is shown by itself. */
export const proofAddress = ({ address, start = null, end = null }) =>
  `/proof/${inPath(address)}${start !== null && end !== null ? `?start=${start}&end=${end}` : ""}`;
