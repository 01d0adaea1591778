// What this device asks for.

export const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
const touchScreen = matchMedia("(pointer: coarse), (width < 48rem), (height < 30rem)");

/** Return how wide in px a thing has to be that is touched. */
export const getReach = () => (touchScreen.matches ? 44 : 24);
