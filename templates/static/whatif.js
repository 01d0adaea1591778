// What if: the same board as at the table; the arrow keys go back and forth in the branch.

import { Board } from "./board.js";
import * as bubble from "./bubble.js";
import { showPieces } from "./pending-view.js";
import { updateRail } from "./rail.js";

const board = new Board(document.querySelector(".table"), (text, at) => bubble.show(document.body, text, at));
const list = document.querySelector(".line");
const current = list?.querySelector("[aria-current]");
if (current) list.scrollTop = current.offsetTop - list.offsetTop - list.clientHeight / 2;

const LINKS = { ArrowLeft: "prev", ArrowRight: "next" };

document.addEventListener("keydown", (event) => {
  const isElsewhere = event.target.matches("input, select, textarea, pre, [data-token], [role=tab]");
  if (isElsewhere || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const link = LINKS[event.key] && document.querySelector(`a[rel=${LINKS[event.key]}]`);
  if (link && !board.isBegun()) link.click();
});
document.addEventListener("pointerdown", ({ target }) => target.closest(".bubble") || bubble.hide());
document.addEventListener("submit", ({ target: form }) => {
  if (form.matches(".deed")) showPieces(document.querySelector("[data-stage]"), [form.elements.move.value], "pending");
});
updateRail();
