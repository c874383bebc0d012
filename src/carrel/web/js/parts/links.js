// Links that open something here, and are links all the same.

/** What a click on a link does instead of following it; keys that open it elsewhere still do. */
export const instead = (work) => (event) => {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  work();
};
