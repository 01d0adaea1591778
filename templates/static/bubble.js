// One line beside what was touched, which goes by itself.

/** @typedef {{ left: number, top: number, width: number, height: number }} Place px of the window */
/** @typedef {(text: string, at: Place, rule?: string) => void} Tell `rule` is a paragraph of the rules */

const SHOWN_MS = 4000;
const GAP_PX = 8;

const bubble = document.createElement("p");
bubble.className = "bubble";
bubble.setAttribute("role", "status");
bubble.hidden = true;

let timer = 0;

/** Hide the line. */
export function hide() {
  bubble.hidden = true;
}

/**
 * Show a line above a place, or below one that is at the top of the window.
 * @param {HTMLElement} root @param {string} text @param {Place} at @param {HTMLElement | null} link after the text
 */
export function show(root, text, at, link = null) {
  if (bubble.parentElement !== root) root.append(bubble);
  bubble.replaceChildren(text, ...(link ? [" ", link] : []));
  bubble.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = bubble;
  const centred = at.left + at.width / 2 - width / 2;
  const left = Math.max(GAP_PX, Math.min(centred, innerWidth - width - GAP_PX));
  const above = at.top - height - GAP_PX;
  const top = above > GAP_PX ? above : at.top + at.height + GAP_PX;
  bubble.style.left = `${left}px`;
  bubble.style.top = `${Math.min(top, innerHeight - height - GAP_PX)}px`;
  clearTimeout(timer);
  timer = setTimeout(hide, SHOWN_MS);
}
