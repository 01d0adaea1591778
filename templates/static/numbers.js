// Numbers on places of the board that are marked in an order. They have the same size at every zoom.

import { SVG } from "./marks.js";

const RADIUS_PX = 12;

/** @param {string} name @param {Record<string, string>} attributes */
function make(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/**
 * Return a badge with a number, one unit of the drawing for each px.
 * @param {string} number @param {string} look the name of a class
 */
export function makeBadge(number, look = "") {
  const badge = make("g", { class: `badge ${look}`.trim(), "aria-hidden": "true" });
  const text = make("text", { y: "5", "text-anchor": "middle" });
  text.textContent = number;
  badge.append(make("circle", { r: String(RADIUS_PX) }), text);
  return badge;
}

export class Numbers {
  /** @param {import("./stage-view.js").StageView} stage */
  constructor(stage) {
    this.stage = stage;
    const layer = make("g", { class: "numbers" });
    this.badges = [...stage.svg.querySelectorAll("[data-mark]")].map((spot) => {
      const badge = makeBadge(/** @type {SVGElement} */ (spot).dataset.mark ?? "");
      layer.append(badge);
      return { badge, box: stage.measureBox(spot) };
    });
    stage.svg.append(layer);
    this.resize();
  }

  /** Keep the size of the badges on the screen, each at the upper right of its place and within it if that is large. */
  resize() {
    const size = 1 / this.stage.getScale();
    for (const { badge, box } of this.badges) {
      const inset = Math.min(box.width, box.height) > 4 * RADIUS_PX * size ? RADIUS_PX * size : 0;
      const [x, y] = [box.x + box.width - inset, box.y + inset];
      badge.setAttribute("transform", `translate(${x} ${y}) scale(${size})`);
    }
  }
}
