// How a spot shows that it can be chosen, or is: a glow or a ring like its own outline, and an area that is big enough
// to be touched. The outline of a spot is its first child.

export const SVG = "http://www.w3.org/2000/svg";
const HALOS = ["halo wide", "halo under", "halo"];
const OWN_LOOK = ["id", "style", "fill", "stroke", "stroke-width", "stroke-dasharray", "fill-opacity", "opacity"];
const SMALL_PX = 40; // a smaller spot has thinner rings

/** @type {WeakMap<Element, string>} the mark that a spot has already */
const marked = new WeakMap();

/**
 * Mark one spot, for eyes, for the keyboard and for screen readers.
 * @param {Element} spot @param {import("./choice.js").Mark} mark @param {string} label
 */
export function markSpot(spot, { lit, chosen }, label) {
  const live = lit || chosen;
  const wanted = `${lit} ${chosen} ${label}`;
  if (marked.get(spot) === wanted && spot.hasAttribute("role")) return; // a newer page takes the marks away
  marked.set(spot, wanted);
  spot.classList.toggle("lit", lit);
  spot.classList.toggle("chosen", chosen);
  spot.setAttribute("role", "button");
  spot.setAttribute("aria-disabled", String(!live));
  spot.setAttribute("aria-pressed", String(chosen));
  spot.setAttribute("aria-label", label);
  if (live) spot.setAttribute("tabindex", "0");
  else spot.removeAttribute("tabindex");
  if (isDrawn(spot)) drawHalo(spot, live);
}

/**
 * Say whether a spot is part of the drawing, and not of the tray.
 * @param {Element} spot
 */
export const isDrawn = (spot) => spot instanceof SVGElement && spot.ownerSVGElement !== null;

/**
 * Draw the rings around a spot and the area that is touched, if it is live; else only remove them.
 * @param {Element} spot @param {boolean} live
 */
function drawHalo(spot, live) {
  for (const old of spot.querySelectorAll(":scope > .halo, :scope > .hit")) old.remove();
  const outline = spot.firstElementChild;
  if (!live || !outline) return;
  for (const name of HALOS) {
    const halo = /** @type {Element} */ (outline.cloneNode());
    for (const attribute of OWN_LOOK) halo.removeAttribute(attribute);
    halo.setAttribute("class", name);
    spot.append(halo);
  }
  const hit = document.createElementNS(SVG, "rect");
  hit.setAttribute("class", "hit");
  spot.append(hit);
}

/**
 * Give the areas that can be touched the same size on the screen at every zoom.
 * @param {Element} root @param {number} scale px for a unit of the drawing @param {number} reach px
 */
export function sizeHitAreas(root, scale, reach) {
  // First all sizes are read, then all are written: the browser would lay out the page again between the two.
  const sizes = [...root.querySelectorAll(".stage .hit")].map((hit) => {
    const spot = /** @type {SVGGElement} */ (hit.parentNode);
    return { hit, spot, box: /** @type {SVGGraphicsElement} */ (spot.firstElementChild).getBBox() };
  });
  for (const { hit, spot, box } of sizes) {
    const { x, y, width, height } = box;
    spot.classList.toggle("small", Math.min(width, height) * scale < SMALL_PX);
    const [wide, high] = [width, height].map((length) => Math.max(length, reach / scale));
    const area = { x: x + (width - wide) / 2, y: y + (height - high) / 2, width: wide, height: high };
    for (const [name, value] of Object.entries(area)) setChanged(hit, name, value.toFixed(1));
  }
}

/**
 * Set an attribute unless it has this value: to set it makes the browser lay out the page again.
 * @param {Element} one @param {string} name @param {string} value
 */
export function setChanged(one, name, value) {
  if (one.getAttribute(name) !== value) one.setAttribute(name, value);
}
