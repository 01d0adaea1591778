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
 * Open the entry with this number, or close it if it is open, and close the others; an empty number closes all.
 * @param {Element} list @param {string} number
 */
function openEntry(list, number) {
  for (const entry of /** @type {NodeListOf<HTMLDetailsElement>} */ (list.querySelectorAll("details"))) {
    const isMeant = entry.closest("li")?.dataset.number === number;
    entry.open = isMeant && !entry.open;
  }
}

/**
 * Draw the plan of a page, if it has one.
 * @param {Element} root @param {import("./stage-view.js").StageView} stage
 * @param {import("./numbers.js").Numbers} numbers
 * @param {AbortSignal} signal that ends its listening
 */
export function drawPlan(root, stage, numbers, signal) {
  const list = root.querySelector(".plan");
  if (!list) return;
  const items = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("li[data-number]")]);
  const drawn = readDrawing(stage.svg, "[data-new], [data-plan]");
  const entries = items.map(readEntry);
  for (const entry of entries) {
    if (entry.seat === list.dataset.seat && !entry.done) markTray(root, entry);
  }
  for (const { number, own, others, at } of layOut(entries, drawn.drawing)) {
    drawSteps(drawn, others, "others");
    drawSteps(drawn, own, "own");
    if (at) numbers.add(number, at, () => openEntry(list, number));
  }
  list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  closeBeside(root, list, signal);
}

/**
 * Draw ghosts of the pieces that move or are added; a piece that is taken off the board has none.
 * @param {ReturnType<typeof readDrawing>} drawn @param {import("./pending.js").Step[]} steps
 * @param {"own" | "others"} look the class of the ghosts
 */
function drawSteps({ pieces, added }, steps, look) {
  for (const step of steps) {
    if (step.turn === GONE) continue;
    const ghost = drawGoing(added[step.added] ?? pieces[step.piece], step, "ordered");
    ghost.classList.add(look);
  }
}

/**
 * Put the number of a move on what it takes from the tray, such as a card, beside the numbers of earlier moves there. A
 * thing may say which verbs take it.
 * @param {Element} root @param {import("./plan.js").Entry} entry
 */
function markTray(root, { move, number }) {
  const things = /** @type {HTMLElement[]} */ ([...root.querySelectorAll(".tray :is([data-token], [data-thing])")]);
  const words = move.split(" ");
  const [verb] = words;
  for (const { dataset } of things) {
    const name = dataset.thing ?? dataset.token ?? "";
    const isTaken = dataset.verbs === undefined || dataset.verbs.split(" ").includes(verb);
    if (isTaken && words.includes(name)) dataset.mark = [dataset.mark, number].filter(Boolean).join(" ");
  }
}

/**
 * Close what is open when something beside the plan is touched.
 * @param {Element} root @param {Element} list @param {AbortSignal} signal
 */
function closeBeside(root, list, signal) {
  /** @param {Event} event */
  const close = ({ target }) => {
    const touched = /** @type {Element} */ (target);
    if (!list.contains(touched) && !touched.closest(".badge")) openEntry(list, "");
  };
  root.addEventListener("pointerdown", close, { signal });
}
