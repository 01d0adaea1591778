// Lays a newer page of a table into the one that is open: pieces glide to where they are now, and the rest is made like
// the new page.

import { glide, locatePieces } from "./animation.js";
import { morph } from "./morph.js";

export { floatPoints, readScores } from "./animation.js";

const WORLD = "figure.stage .frame";
const WRITABLE = "textarea, [type=text], [type=number], [type=date], [type=email]";

/** Say whether an element stays as it is: the world, which is replaced before, and what the reader is writing. */
const isKept = (old) => old.matches(WORLD) || (old.matches(WRITABLE) && old.value !== old.defaultValue);

/**
 * Make all but the world like the new page.
 * @param {Element} table @param {Element} fresh
 */
export const morphTable = (table, fresh) => morph(table, fresh, isKept);

/**
 * Replace the world and let pieces glide; return the one that moved last.
 * @param {Element} fresh
 */
export async function replaceWorld(fresh) {
  const frame = document.querySelector(WORLD);
  if (!frame) return null;
  const old = document.querySelector("[data-stage]");
  const before = locatePieces(old);
  frame.replaceChildren(...fresh.querySelector(WORLD).childNodes);
  const world = document.querySelector("[data-stage]");
  world.setAttribute("viewBox", old.getAttribute("viewBox"));
  const piece = glide(before, world);
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return piece;
}
