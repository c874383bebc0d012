// Before anything is drawn, so that nothing flashes: light or dark, as the reader chose or as the system has it.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const show = () => {
    let chosen = "system";
    try {
      chosen = JSON.parse(localStorage.getItem("carrel.theme"));
    } catch {
      // Without storage it is the system's.
    }
    document.documentElement.dataset.theme = ["light", "dark"].find((name) => name === chosen) ?? (dark.matches ? "dark" : "light");
  };
  dark.addEventListener("change", show);
  addEventListener("carrel:theme", show);
  show();
})();
