// Lays a newer page of a table into the one that is open: pieces glide to where they are now, and the rest is made like
// the new page.

import { glide, locatePieces } from "./animation.js";
import { morph } from "./morph.js";

export { floatPoints, readScores } from "./animation.js";

const FRAME = "figure.stage .frame"; // around the world
const WRITABLE = "textarea, [type=text], [type=number], [type=date], [type=email]";

/** Say whether an element stays as it is: the world, which is replaced before, and what the reader is writing. */
const isKept = (old) => old.matches(FRAME) || (old.matches(WRITABLE) && old.value !== old.defaultValue);

/**
 * Make all but the world like the new page.
 * @param {Element} table @param {Element} fresh
 */
export const morphTable = (table, fresh) => morph(table, fresh, isKept);

/**
 * Replace the world and let pieces glide; return the one that moved last. Return null if none did, or without a board.
 * @param {Element} fresh the table of the new page
 */
export async function replaceWorld(fresh) {
  const frame = document.querySelector(FRAME);
  if (!frame) return null;
  const old = document.querySelector("[data-stage]");
  const before = locatePieces(old);
  frame.replaceChildren(...fresh.querySelector(FRAME).childNodes);
  const world = document.querySelector("[data-stage]");
  world.setAttribute("viewBox", old.getAttribute("viewBox"));
  const piece = glide(before, world);
  // The pieces are seen on their way before the rest of the page is made like the new one, which takes a while.
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return piece;
}
