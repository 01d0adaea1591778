// What if: the same board as at the table, and the arrow keys go back and forth along the branch.

import { Board } from "./board.js";

const tell = (text) => {
  const note = document.querySelector(".bar .told");
  note.textContent = text;
};
const board = new Board(document.querySelector(".laid"), tell);
const list = document.querySelector(".line");
const here = list?.querySelector("[aria-current]");
if (here) list.scrollTop = here.offsetTop - list.offsetTop - list.clientHeight / 2;

const steps = { ArrowLeft: "prev", ArrowRight: "next" };

document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, select, textarea, pre, [data-token]") || event.altKey || event.ctrlKey || event.metaKey) return;
  const link = steps[event.key] && document.querySelector(`a[rel=${steps[event.key]}]`);
  if (link && !board.isBegun()) link.click();
});
