// Draws a plan over the board: ghosts of the pieces that would move, and a number for each move. A touch on a number
// opens what can be done with the move, which is in the list of the plan.

import { GONE } from "./pending.js";
import { drawGoing, readDrawing } from "./pending-view.js";
import { layOut } from "./plan.js";

/** @param {HTMLElement} item @returns {import("./plan.js").Entry} */
function readEntry({ dataset }) {
  const { number = "", move = "", seat = "", before = "", group = "" } = dataset;
  return { number, move, seat, before: before.split("|").filter(Boolean), group, done: "done" in dataset };
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
 * @param {Element} root @param {import("./stage-view.js").StageView} stage
 * @param {import("./numbers.js").Numbers} numbers
 */
export function drawPlan(root, stage, numbers) {
  const list = root.querySelector(".plan");
  if (!list) return;
  const items = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("li[data-number]")]);
  const { pieces, added, drawing } = readDrawing(stage.svg, "[data-new], [data-plan]");
  const entries = items.map(readEntry);
  for (const entry of entries.filter(({ seat, done }) => seat === list.dataset.seat && !done)) markTray(root, entry);
  for (const { number, own, others, at } of layOut(entries, drawing)) {
    const steps = [...others.map((step) => ({ step, look: "others" })), ...own.map((step) => ({ step, look: "own" }))];
    for (const { step, look } of steps.filter(({ step: { turn } }) => turn !== GONE))
      drawGoing(added[step.added] ?? pieces[step.piece], step, "ordered").classList.add(look);
    if (at) numbers.add(number, at, () => openEntry(list, number));
  }
  list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  closeBeside(root, list);
}

/**
 * Put the number of a move on what it takes from the tray, such as a card.
 * @param {Element} root @param {import("./plan.js").Entry} entry
 */
function markTray(root, { move, number }) {
  const things = /** @type {HTMLElement[]} */ ([...root.querySelectorAll(".tray :is([data-token], [data-thing])")]);
  const words = move.split(" ");
  for (const { dataset } of things) {
    const { token = "", thing = token, verbs = words[0] } = dataset;
    if (words.includes(thing) && verbs.split(" ").includes(words[0]))
      dataset.mark = [dataset.mark, number].filter(Boolean).join(" ");
  }
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
