// A form that opens a table leaves the history to the home page: Back from the table does not lead to the form.

const home = document.querySelector(".masthead .name").href;

document.querySelector("form[data-leave]").addEventListener("submit", () => history.replaceState(null, "", home));
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
