// The form for a new table: a bot or a free seat is added to the box without loading the page again.

const form = document.querySelector("form.new");
const box = form.elements.players;

for (const button of form.querySelectorAll("[data-line]"))
  button.addEventListener("click", (event) => {
    event.preventDefault();
    box.value = [box.value.trimEnd(), button.dataset.line].filter(Boolean).join("\n");
    box.rows = Math.max(box.rows, box.value.split("\n").length);
  });
