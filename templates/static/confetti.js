// Confetti for the winner, in the colours of the table; none for players who prefer reduced motion.

import { reducedMotion } from "./device.js";

const CELEBRATED_KEY = "celebrated"; // in this browser: the won tables that had their confetti, parted by blanks
const MAX_CELEBRATED = 50;
const PIECES = 90;
const LONGEST_MS = 2600;
const MOST_DELAY_MS = 400;
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#f0e442"];

/** @param {number} least @param {number} most */
const pickRandom = (least, most) => least + Math.random() * (most - least);

/** @param {number} number */
function makePiece(number) {
  const piece = document.createElement("span");
  piece.className = "confetto";
  piece.ariaHidden = "true";
  piece.style.background = COLOURS[number % COLOURS.length];
  piece.style.left = `${pickRandom(0, 100)}vw`;
  return piece;
}

/**
 * Let a piece fall from above the window until it is below, while it turns and drifts to a side; then remove it.
 * @param {HTMLElement} piece
 */
function drop(piece) {
  const [drift, turns] = [pickRandom(-12, 12), pickRandom(-3, 3)];
  const frames = [
    { transform: "translate(0, -5vh) rotate(0)", opacity: 1 },
    { transform: `translate(${drift / 2}vw, 50vh) rotate(${turns / 2}turn)`, opacity: 1 },
    { transform: `translate(${drift}vw, 105vh) rotate(${turns}turn)`, opacity: 0.6 },
  ];
  const duration = pickRandom(LONGEST_MS / 2, LONGEST_MS);
  const options = { duration, delay: pickRandom(0, MOST_DELAY_MS), easing: "ease-in", fill: "both" };
  piece.animate(frames, /** @type {KeyframeAnimationOptions} */ (options)).onfinish = () => piece.remove();
}

/**
 * Let confetti fall over the page, once on this device for each game that its reader won.
 * @param {string} table
 */
export function celebrate(table) {
  const celebrated = (localStorage.getItem(CELEBRATED_KEY) ?? "").split(" ");
  if (celebrated.includes(table)) return;
  localStorage.setItem(CELEBRATED_KEY, [...celebrated, table].slice(-MAX_CELEBRATED).join(" "));
  if (reducedMotion.matches) return;
  const pieces = Array.from({ length: PIECES }, (_, number) => makePiece(number));
  document.body.append(...pieces);
  pieces.forEach(drop);
}
