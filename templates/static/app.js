// Before anything is painted: with scripts the page of a table is laid out as an app, without them as a document.
const root = document.documentElement;
root.classList.add("app");

// Notes that the reader hid stay hidden on this device.
root.dataset.hidden = localStorage.getItem("hidden") ?? "";
addEventListener("click", (event) => {
  const note = event.target.closest("[data-dismiss]")?.dataset.dismiss;
  if (!note) return;
  root.dataset.hidden += ` ${note}`;
  localStorage.setItem("hidden", root.dataset.hidden);
});

// A paragraph of the rules opens where it is cited; the script for it is loaded when it is first needed.
addEventListener("click", (event) => {
  const link = event.target.closest("a.rule");
  const button = event.target.closest("[data-ask]");
  const shared = event.target.closest("[data-share]");
  if (shared) import("./share.js").then(({ share }) => share(shared));
  if ((!link && !button) || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  import("./rule-dialog.js").then((rules) => (link ? rules.open(link.href) : rules.askForThing(button.dataset.ask)));
});
