// The counting at the end of a game, step by step: what was counted, where it is on the board, and who gained.

import { floatPoints, readScores, showScores } from "./animation.js";
import { findPlaces, markPlaces } from "./highlight.js";

/** @typedef {import("./stage-view.js").StageView} StageView */

const MARK = "counts"; // the class of the places whose points are counted
const KEYS = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" };

/** @type {StageView | null} */
let stage = null;
let current = 0; // the index of the step that is shown
/** @type {string[]} */
let scoresNow = []; // at the end of the game

const getTable = () => /** @type {HTMLElement} */ (document.querySelector(".table"));
const getBar = () => /** @type {HTMLElement} */ (document.querySelector(".film.count"));
/** @param {string} name @returns {HTMLButtonElement} */
const getButton = (name) => /** @type {HTMLButtonElement} */ (getBar().querySelector(`[data-count=${name}]`));
/** @returns {HTMLElement[]} */
const listSteps = () => [...document.querySelectorAll(".counted li")];
const isOpen = () => getTable().classList.contains("counting");

/**
 * Show the first step, from the scores before it on; nothing if the counting is open, or if nothing was counted.
 * @param {StageView | null} board on which the places are marked
 */
export function open(board) {
  if (isOpen() || !listSteps().length) return;
  stage = board;
  scoresNow = readScores();
  getTable().classList.add("filming", "counting");
  getBar().hidden = false;
  showScores((listSteps()[0].dataset.before ?? "").split(" "));
  show(0);
  getButton("next").focus();
}

/** Return to the end of the game. */
export function stop() {
  if (!isOpen()) return;
  markPlaces([], MARK);
  showScores(scoresNow);
  getTable().classList.remove("filming", "counting");
  getBar().hidden = true;
  for (const step of listSteps()) step.removeAttribute("aria-current");
  document.querySelector("[data-count=open]")?.focus();
}

/**
 * Show one step: its sentence in the bar, its places on the board, and the scores after it.
 * @param {number} index of the step; below the first one it means that, and beyond the last one that
 */
function show(index) {
  const steps = listSteps();
  const last = steps.length - 1;
  current = Math.min(Math.max(index, 0), last);
  for (const [other, step] of steps.entries()) step.toggleAttribute("aria-current", other === current);
  const tale = getBar().querySelector(".tale");
  tale?.replaceChildren(...[...steps[current].childNodes].map((node) => node.cloneNode(true)));
  const number = getBar().querySelector(".number");
  if (number) number.textContent = `${current + 1} / ${steps.length}`;
  getButton("back").disabled = current === 0;
  getButton("next").disabled = current === last;
  const { places = "", after = "" } = steps[current].dataset;
  markPlaces(places.split(" "), MARK);
  const parts = findPlaces(places.split(" "));
  if (parts.length) stage?.frame(parts);
  const scoresBefore = readScores();
  showScores(after.split(" "));
  floatPoints(scoresBefore, parts[0] ?? null);
}

/** @type {Record<string, () => void>} */
const ACTIONS = {
  first: () => show(0),
  back: () => show(current - 1),
  next: () => show(current + 1),
  last: () => show(listSteps().length - 1),
  close: stop,
};

document.addEventListener("click", (event) => {
  /** @type {HTMLElement | null} */
  const button = /** @type {Element} */ (event.target).closest("[data-count]");
  if (isOpen()) ACTIONS[button?.dataset.count ?? ""]?.();
});
document.addEventListener("keydown", (event) => {
  if (!isOpen()) return;
  if (event.key === "Escape") return stop();
  const action = KEYS[/** @type {keyof typeof KEYS} */ (event.key)];
  if (!action) return;
  event.preventDefault();
  ACTIONS[action]();
});
