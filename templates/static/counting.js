// The counting at the end of a game, step by step: what was counted, where it is on the board, and who gained.

import { floatPoints, readScores, showScores } from "./animation.js";
import { findPlaces, markPlaces } from "./highlight.js";

/** @typedef {import("./stage-view.js").StageView} StageView */

const MARK = "counts"; // the class of what is counted
const KEYS = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" };

/** @type {StageView | null} */
let stage = null;
let at = 0; // the step that is shown
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
 * Show the first step.
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

/** @param {number} next */
function show(next) {
  const [steps, before] = [listSteps(), readScores()];
  at = Math.min(Math.max(next, 0), steps.length - 1);
  const { places = "", after = "" } = steps[at].dataset;
  for (const [number, step] of steps.entries()) step.toggleAttribute("aria-current", number === at);
  const [tale, number] = ["tale", "number"].map((name) => getBar().querySelector(`.${name}`));
  tale?.replaceChildren(...[...steps[at].childNodes].map((node) => node.cloneNode(true)));
  if (number) number.textContent = `${at + 1} / ${steps.length}`;
  getButton("back").disabled = at === 0;
  getButton("next").disabled = at === steps.length - 1;
  markPlaces(places.split(" "), MARK);
  const parts = findPlaces(places.split(" "));
  if (parts.length) stage?.frame(parts);
  showScores(after.split(" "));
  floatPoints(before, parts[0] ?? null);
}

/** @type {Record<string, () => void>} */
const ACTIONS = {
  first: () => show(0),
  back: () => show(at - 1),
  next: () => show(at + 1),
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
