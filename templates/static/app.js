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

// An address is shared or copied by its button; as below, the script is loaded when it is first needed.
addEventListener("click", (event) => {
  const button = event.target.closest("[data-share]");
  if (button) import("./share.js").then(({ share }) => share(button));
});

// A paragraph of the rules opens where it is cited, or is that of the thing which is touched after “What is this?”.
addEventListener("click", (event) => {
  const citation = event.target.closest("a.rule");
  const question = event.target.closest("[data-ask]");
  if ((!citation && !question) || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  import("./rule-dialog.js").then((rules) => {
    if (citation) rules.open(citation.href);
    else rules.askForThing(question.dataset.ask);
  });
});
