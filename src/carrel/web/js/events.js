// Something that happens and that several parts of the page want to hear of.

export function signal(value) {
  const listeners = new Set();
  return {
    get value() { return value; },
    set(next) {
      value = next;
      for (const listener of [...listeners]) listener(value);
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
