// Pieces, tiles and cards can be dragged to their places, beside being touched; what is dragged follows the pointer.

import { reducedMotion } from "./device.js";
import { isFar, pickUp, putDown } from "./drag.js";
import { SVG } from "./marks.js";
import { findOrigin } from "./pending-view.js";

/**
 * @typedef {import("./drag.js").Point} Point
 *
 * What a pointer is pressed on: the spot to touch, if it has one, and the picture that is carried.
 * @typedef {{ spot: HTMLElement | null, body: SVGGraphicsElement }} Source
 * @typedef {import("./choice.js").State} State
 * @typedef {Source & { id: number, start: Point, before: State | null, carried?: SVGSVGElement }} Grip
 */

const RETURN_MS = 160;
const CLOSE = 4; // units between a spot and the piece that is on it
const GHOST = "[data-ghost]:not([display=none])";
const CLICK_MS = 50; // after the end of a drag, in which a click belongs to it

/**
 * Return a function that says whether another element is at the same place of the drawing.
 * @param {Element} one @returns {(other: SVGGraphicsElement) => boolean}
 */
function isOn(one) {
  const place = findOrigin(/** @type {SVGGraphicsElement} */ (one));
  return (other) => Math.hypot(findOrigin(other).x - place.x, findOrigin(other).y - place.y) < CLOSE;
}

/** @param {Element} one @param {Point} at */
function contains(one, { x, y }) {
  const { left, right, top, bottom } = one.getBoundingClientRect();
  return left <= x && x <= right && top <= y && y <= bottom;
}

export class Dragging {
  /** @param {import("./choice-view.js").ChoiceView} view @param {AbortSignal} signal ends it */
  constructor(view, signal) {
    this.view = view;
    /** @type {Grip | null} */
    this.grip = null;
    view.root.addEventListener("pointerdown", (event) => this.onDown(event), { signal, capture: true });
    addEventListener("pointermove", (event) => this.onMove(event), { signal });
    addEventListener("pointerup", (event) => this.onUp(event), { signal });
    addEventListener("pointercancel", () => this.cancel(), { signal });
    addEventListener("keydown", (event) => event.key === "Escape" && this.cancel(), { signal, capture: true });
    signal.addEventListener("abort", () => this.cancel());
  }

  /**
   * Hold what may be dragged; the board below it is not moved then. A second finger ends it.
   * @param {PointerEvent} event
   */
  onDown(event) {
    if (this.grip) return this.cancel();
    const target = /** @type {Element} */ (event.target);
    const at = { x: event.clientX, y: event.clientY };
    if (event.button || !target.closest(".stage, .tray") || this.view.root.matches(".filming")) return;
    const source = target.closest(".tray") ? findInTray(target) : this.findOnBoard(target, at);
    if (!source || !pickUp(this.view.state, source.spot && this.view.getSpot(source.spot))) return;
    this.grip = { ...source, id: event.pointerId, start: at, before: null };
    event.stopPropagation();
    this.view.stage.release(event.pointerId);
  }

  /**
   * Return the piece at a point that can be dragged: one on a spot, the ghost, or one that is dragged without a spot.
   * @param {Element} target @param {Point} at @returns {Source | null}
   */
  findOnBoard(target, at) {
    const { spot } = this.view.pickSpot(target, at.x, at.y);
    const { svg } = this.view.stage;
    /** @param {string} selector */
    const all = (selector) => /** @type {SVGGraphicsElement[]} */ ([...svg.querySelectorAll(selector)]);
    if (spot?.matches("svg :is(.lit, .chosen)")) {
      const onSpot = all(`[data-piece], .planned, ${GHOST}`).findLast(isOn(spot));
      if (onSpot) return { spot, body: onSpot };
    }
    const body = all(`[data-drag], ${GHOST}`).findLast((one) => contains(one, at));
    if (!body) return null;
    const isGhost = body.matches(GHOST); // then its spot is the one that was chosen for it
    const ghostSpot = isGhost ? /** @type {any} */ (all(".chosen").find(isOn(body))) : null;
    return { spot: ghostSpot ?? null, body };
  }

  /**
   * Let what is held follow the pointer, from the moment that it is far enough away to be dragged.
   * @param {PointerEvent} event
   */
  onMove({ pointerId, clientX, clientY }) {
    const { grip } = this;
    const at = { x: clientX, y: clientY };
    if (!grip || grip.id !== pointerId || (!grip.carried && !isFar(grip.start, at))) return;
    if (!grip.carried) this.begin(grip);
    const { carried } = grip;
    if (carried) carried.style.translate = `${at.x - grip.start.x}px ${at.y - grip.start.y}px`;
    this.markBelow(this.findBelow(at));
  }

  /**
   * Begin to drag what is held, which chooses its spot.
   * @param {Grip} grip
   */
  begin(grip) {
    const { view } = this;
    grip.carried = drawCarried(grip.body);
    grip.before = view.state;
    const held = pickUp(view.state, grip.spot && view.getSpot(grip.spot));
    if (held && held !== view.state) view.update(held);
    grip.body.classList.add("leaving");
    document.body.classList.add("dragging");
  }

  /**
   * Return the spot below the pointer; null beside the spots and beside the board.
   * @param {Point} at
   */
  findBelow({ x, y }) {
    const below = document.elementFromPoint(x, y);
    return below?.closest("[data-stage]") ? this.view.pickSpot(below, x, y).spot : null;
  }

  /**
   * Mark the spot below the pointer if what is dragged can be put there, and no other.
   * @param {HTMLElement | null} spot
   */
  markBelow(spot) {
    for (const one of this.view.root.querySelectorAll(".over")) {
      if (one !== spot) one.classList.remove("over");
    }
    if (spot?.matches(".lit")) spot.classList.add("over");
  }

  /**
   * Put down what is dragged. What was only pressed is let go; the click that follows touches it.
   * @param {PointerEvent} event
   */
  onUp({ pointerId, clientX, clientY }) {
    const { grip, view } = this;
    if (!grip || grip.id !== pointerId) return;
    if (!grip.carried || !grip.before) return this.end();
    ignoreClick();
    const below = this.findBelow({ x: clientX, y: clientY });
    const from = grip.spot && view.getSpot(grip.spot);
    const to = below && view.getSpot(below);
    const next = putDown(grip.before, view.state, from, to);
    const isBack = next === grip.before || next.refused !== null;
    this.end(isBack);
    if (below) view.choose(next, below);
    else view.update(next);
  }

  /** Let go of what is held, and choose again what was chosen before; nothing if nothing is held. */
  cancel() {
    const { grip } = this;
    this.end(true);
    if (grip?.before && !this.view.leaving.signal.aborted) this.view.update(grip.before);
  }

  /** Let go of what is held; `returns` says that it goes back to where it was. */
  end(returns = false) {
    const { grip } = this;
    this.grip = null;
    this.markBelow(null);
    document.body.classList.remove("dragging");
    grip?.body.classList.remove("leaving");
    const { carried } = grip ?? {};
    if (!carried || !returns || reducedMotion.matches) return carried?.remove();
    carried.animate([{}, { translate: "0 0" }], { duration: RETURN_MS, easing: "ease-out" }).onfinish = () =>
      carried.remove();
  }
}

/**
 * Return the card, courier or tile of the tray that can be dragged.
 * @param {Element} target @returns {Source | null}
 */
function findInTray(target) {
  /** @type {HTMLElement | null} */
  const thing = target.closest(".thing:is([data-token], [data-drag])");
  const body = /** @type {SVGGraphicsElement | null} */ (thing?.querySelector("svg") ?? null);
  if (!thing || !body) return null;
  return { spot: thing.dataset.token ? thing : null, body };
}

/**
 * Draw a copy of a thing over the page, where that thing is.
 * @param {SVGGraphicsElement} body
 */
function drawCarried(body) {
  const { left, top, width, height } = body.getBoundingClientRect();
  const isPicture = body instanceof SVGSVGElement;
  const box = isPicture ? body.viewBox.baseVal : body.getBBox();
  const carried = document.createElementNS(SVG, "svg");
  carried.setAttribute("class", "carried");
  carried.setAttribute("viewBox", `${box.x} ${box.y} ${box.width} ${box.height}`);
  Object.assign(carried.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
  const copy = /** @type {SVGElement} */ (body.cloneNode(true));
  if (isPicture) carried.append(...copy.childNodes);
  else {
    // A part of the board stays turned as it is, but its place is now that of the copy on the page.
    const turn = copy.getAttribute("transform")?.match(/rotate\(.*\)/)?.[0] ?? "";
    copy.setAttribute("transform", turn);
    carried.append(copy);
  }
  document.body.append(carried);
  return carried;
}

/** Let the click that follows the end of a drag do nothing. */
function ignoreClick() {
  /** @param {Event} event */
  const stop = (event) => {
    event.preventDefault();
    event.stopPropagation();
  };
  addEventListener("click", stop, { capture: true });
  setTimeout(() => removeEventListener("click", stop, { capture: true }), CLICK_MS);
}
