// Draws a plan over the board: ghosts of the pieces that would move, and a number for each move. A touch on a number opens
// what can be done with the move, which is in the list of the plan.

import { GONE } from "./pending.js";
import { drawGoing, readDrawing } from "./pending-view.js";
import { layOut } from "./plan.js";

/** @param {HTMLElement} item @returns {import("./plan.js").Entry} */
function readEntry({ dataset }) {
  const { number = "", move = "", before = "", group = "" } = dataset;
  return { number, move, before: before.split("|").filter(Boolean), group, done: "done" in dataset };
}

/**
 * Open the entry with this number, and close the others.
 * @param {Element} list @param {string} number
 */
function openEntry(list, number) {
  for (const entry of /** @type {NodeListOf<HTMLDetailsElement>} */ (list.querySelectorAll("details")))
    entry.open = entry.closest("li")?.dataset.number === number && !entry.open;
}

/**
 * Draw the plan of a page, if it has one.
 * @param {Element} root @param {import("./stage-view.js").StageView} stage @param {import("./numbers.js").Numbers} numbers
 */
export function drawPlan(root, stage, numbers) {
  const list = root.querySelector(".plan");
  if (!list) return;
  const items = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("li[data-number]")]);
  const { pieces, added, drawing } = readDrawing(stage.svg);
  for (const { number, own, others, at } of layOut(items.map(readEntry), drawing)) {
    for (const [steps, look] of /** @type {const} */ ([
      [others, "others"],
      [own, "own"],
    ]))
      for (const step of steps.filter(({ turn }) => turn !== GONE))
        drawGoing(pieces[step.piece] ?? added[step.added], step, "ordered").classList.add(look);
    if (at) numbers.add(number, at, () => openEntry(list, number));
  }
  list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  closeBeside(root, list);
}

/**
 * Close what is open when something beside the plan is touched.
 * @param {Element} root @param {Element} list
 */
function closeBeside(root, list) {
  root.addEventListener("pointerdown", ({ target }) => {
    const touched = /** @type {Element} */ (target);
    if (!list.contains(touched) && !touched.closest(".badge")) openEntry(list, "");
  });
}
