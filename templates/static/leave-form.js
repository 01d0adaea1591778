// A form that opens a table or takes a seat is replaced by the home page in the history when it is sent: Back from the
// table leads home, and not to a form that could be sent again.

const home = document.querySelector(".masthead .name").href;

document.querySelector("form[data-leave]").addEventListener("submit", () => history.replaceState(null, "", home));
// On the way back the browser may show the form from its memory, at the address of the home page: load that page.
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
