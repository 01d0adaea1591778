// The form for a new table: a bot or a free seat is added to the list of players, one a line, without loading the page
// again.

const form = document.querySelector("form.new");
const { players } = form.elements; // a text area

for (const button of form.querySelectorAll("[data-line]"))
  button.addEventListener("click", (event) => {
    event.preventDefault();
    const lines = [players.value.trimEnd(), button.dataset.line];
    players.value = lines.filter(Boolean).join("\n");
    players.rows = Math.max(players.rows, players.value.split("\n").length);
  });
