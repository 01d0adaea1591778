// Before anything is painted: with a script the page of a table is laid out as an app, without one as a document.
document.documentElement.classList.add("app");

// What is cited of the rules opens in place; the script for it comes when it is first asked for.
addEventListener("click", (event) => {
  const link = event.target.closest("a.rule");
  const ask = event.target.closest("[data-ask]");
  if ((!link && !ask) || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  import("./paragraph.js").then((rules) => (link ? rules.open(link.href) : rules.ask(ask.dataset.ask)));
});
