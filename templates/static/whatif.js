// What if: the same board as at the table; the arrow keys go back and forth in the branch.

import { Board } from "./board.js";
import * as bubble from "./bubble.js";

const board = new Board(document.querySelector(".laid"), (text, at) => bubble.show(document.body, text, at));
const list = document.querySelector(".line");
const current = list?.querySelector("[aria-current]");
if (current) list.scrollTop = current.offsetTop - list.offsetTop - list.clientHeight / 2;

const LINKS = { ArrowLeft: "prev", ArrowRight: "next" };

document.addEventListener("keydown", (event) => {
  const isElsewhere = event.target.matches("input, select, textarea, pre, [data-token]");
  if (isElsewhere || event.altKey || event.ctrlKey || event.metaKey) return;
  const link = LINKS[event.key] && document.querySelector(`a[rel=${LINKS[event.key]}]`);
  if (link && !board.isBegun()) link.click();
});
