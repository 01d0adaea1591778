// A sentence of the log and the places it names highlight each other: pointing at a sentence marks its places, and
// pointing at a place marks the last sentence about it.

/** @param {string} name of a class */
function removeClass(name) {
  for (const element of document.querySelectorAll(`.${name}`)) element.classList.remove(name);
}

/**
 * Return the parts of the board that are these places.
 * @param {string[]} places
 */
export function findPlaces(places) {
  const names = places.filter(Boolean).map((place) => CSS.escape(place));
  const selectors = names.map((name) => `[data-stage] :is([data-token="${name}"], [data-place="${name}"])`);
  return selectors.length ? [...document.querySelectorAll(selectors.join(", "))] : [];
}

/**
 * Mark these places on the board, and no others.
 * @param {string[]} places @param {string} mark the name of a class
 */
export function markPlaces(places, mark = "mentioned") {
  removeClass(mark);
  for (const part of findPlaces(places)) part.classList.add(mark);
}

/**
 * In the open panel mark the words that name a place, and the last sentence about it; nothing without a place.
 * @param {string | undefined} place
 */
function markSentences(place) {
  removeClass("tells");
  if (!place) return;
  const name = CSS.escape(place);
  const panel = document.querySelector(".table")?.dataset.tab;
  for (const word of document.querySelectorAll(`#${panel} [data-at~="${name}"]`)) word.classList.add("tells");
  const lines = [...document.querySelectorAll(`#${panel} [data-places~="${name}"]`)];
  const last = panel === "log" ? lines[0] : lines.at(-1); // the log begins with the newest
  last?.classList.add("tells");
}

/**
 * Mark what belongs to the thing that is pointed at: the places of a word or a sentence, or the sentences about a part
 * of the board.
 * @param {Event} event
 */
export function point(event) {
  /** @param {string} selector */
  const closest = (selector) => event.target.closest?.(selector); // the document itself has no `closest`
  const places = closest("[data-at]")?.dataset.at ?? closest("[data-places]")?.dataset.places ?? "";
  markPlaces(places.split(" "));
  const part = closest("[data-stage] :is([data-token], [data-place])");
  const [firstToken] = part?.dataset.token?.split(" ") ?? [];
  markSentences(part?.dataset.place ?? firstToken);
}

for (const name of ["pointerover", "focusin", "pointerdown"]) document.addEventListener(name, point);
