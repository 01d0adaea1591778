// What this device asks for, and what its hands need.

export const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
const touchScreen = matchMedia("(pointer: coarse), (width < 48rem), (height < 30rem)");

/** Return how wide in px a thing has to be that is touched. */
export const getReach = () => (touchScreen.matches ? 44 : 24);

const HELD_MS = 400; // in which a press that meant another button still comes

/** @returns {HTMLButtonElement[]} */
const listButtons = () => [...document.querySelectorAll(".bar button")].filter((one) => one.offsetParent);

/**
 * Note the buttons of the bar. Return what lets those that are new by then be pressed a moment later only: they came
 * under a finger that was about to press another one.
 */
export function noteButtons() {
  const known = listButtons().map((one) => one.textContent);
  return () => {
    const held = listButtons().filter((one) => !known.includes(one.textContent));
    for (const one of held) one.inert = true;
    setTimeout(() => {
      for (const one of held) one.inert = false;
    }, HELD_MS);
  };
}
