// What this device asks for, and what its hands need.

export const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
const touchScreen = matchMedia("(pointer: coarse), (width < 48rem), (height < 30rem)");

/** Return how wide in px a thing has to be that is touched. */
export const getReach = () => (touchScreen.matches ? 44 : 24);

const HELD_MS = 400; // in which a press that was meant for another button may still come

/** Return the buttons in the bar that can be seen. @returns {HTMLButtonElement[]} */
const listButtons = () => [...document.querySelectorAll(".bar button")].filter((one) => one.offsetParent);

/**
 * Note the buttons of the bar before the page changes it, and return a function to call after that. It makes the
 * buttons that are new do nothing for a moment: a finger that was about to press another one may be over them.
 */
export function noteButtons() {
  const known = listButtons().map((one) => one.textContent);
  return () => {
    const added = listButtons().filter((one) => !known.includes(one.textContent));
    for (const one of added) one.inert = true;
    setTimeout(() => {
      for (const one of added) one.inert = false;
    }, HELD_MS);
  };
}
