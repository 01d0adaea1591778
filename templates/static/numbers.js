// Numbers on the board: on places that are marked in an order, and on the moves of a plan. Their size does not depend
// on the zoom.

import { SVG } from "./marks.js";
import { spread } from "./plan.js";

/** @typedef {import("./stage.js").Box} Box */

const RADIUS_PX = 12;
const BASELINE_PX = 5; // of the digits, below the middle
const TOUCH_RADIUS_PX = 18;
const LARGE_PX = 48; // a place that is larger has its number within it, and not on its corner
const BESIDE_PX = 14; // between a piece and the middle of its number, across and up

/** @param {string} name of an SVG element @param {Record<string, string>} attributes */
function makeElement(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/**
 * Return a badge with a number, one unit of the drawing for each px.
 * @param {string} number
 */
function makeBadge(number) {
  const badge = makeElement("g", { class: "badge", "aria-hidden": "true" });
  const text = makeElement("text", { y: String(BASELINE_PX), "text-anchor": "middle" });
  text.textContent = number;
  badge.append(makeElement("circle", { r: String(RADIUS_PX) }), text);
  return badge;
}

export class Numbers {
  /** @param {import("./stage-view.js").StageView} stage */
  constructor(stage) {
    this.stage = stage;
    this.layer = makeElement("g", { class: "numbers" });
    /** @type {{ badge: Element, box: Box }[]} */
    this.badges = [];
    for (const spot of /** @type {NodeListOf<SVGElement>} */ (stage.svg.querySelectorAll("[data-mark]")))
      this.put(spot.dataset.mark ?? "", stage.measureBox(spot));
    stage.svg.append(this.layer);
    this.resize();
  }

  /**
   * Add a number to a box in the drawing; `resize` puts it there.
   * @param {string} number @param {Box} box
   */
  put(number, box) {
    const badge = makeBadge(number);
    this.layer.append(badge);
    this.badges.push({ badge, box });
    return badge;
  }

  /**
   * Add a number at a point, which can be touched.
   * @param {string} number @param {import("./stage.js").Point} point @param {() => void} onTouch
   */
  add(number, { x, y }, onTouch) {
    const beside = BESIDE_PX / this.stage.getScale();
    const badge = this.put(number, { x, y: y - beside, width: beside, height: 0 });
    badge.classList.add("touched");
    badge.prepend(makeElement("circle", { class: "area", r: String(TOUCH_RADIUS_PX) }));
    badge.addEventListener("click", (event) => {
      event.stopPropagation();
      onTouch();
    });
    this.stage.svg.append(this.layer);
    this.resize();
  }

  /** Keep the size of the badges on the screen, each at the upper right of its place and within it if that is large. */
  resize() {
    const scale = this.stage.getScale();
    const points = this.badges.map(({ box }) => {
      const isLarge = Math.min(box.width, box.height) * scale > LARGE_PX;
      const inset = isLarge ? RADIUS_PX / scale : 0;
      return { x: box.x + box.width - inset, y: box.y + inset };
    });
    for (const [index, right] of spread(points, scale).entries()) {
      const { x, y } = points[index];
      this.badges[index].badge.setAttribute("transform", `translate(${x + right / scale} ${y}) scale(${1 / scale})`);
    }
  }
}
