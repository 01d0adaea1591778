// The board on the page: moved and zoomed by wheel, finger, mouse and keys, and framed on what can be chosen.

import { getReach, reducedMotion } from "./device.js";
import { setChanged } from "./marks.js";
import {
  approachPoint,
  canTouch,
  clampView,
  dragView,
  findBestView,
  findShown,
  fitWorld,
  frameView,
  interpolate,
  isCrowded,
  measureGap,
  parseBox,
  pinchView,
  showsNearlyAll,
  surround,
  zoomView,
} from "./stage.js";

/** @typedef {import("./stage.js").View} View */
/** @typedef {import("./stage.js").Point} Point */

const DRAG_PX = 7; // a pointer that moves less does not drag
const GLIDE_MS = 240;
const DOUBLE_CLICK_ZOOM = 1.8;
const DOUBLE_CLICK_MS = 1000; // a second click that comes later is not a double one
const SETTLE_MS = 120; // after this a view is not moved any more
const WHEEL_PACE = 0.0016; // of the zoom, for each px of a wheel
const PINCH_PACE = 0.01; // the same for a pinch on a touchpad, which browsers report as a wheel with the control key

export class StageView {
  /**
   * @param {HTMLElement} figure
   * @param {() => void} onZoom called after each change of the view
   * @param {View | null} moved the view of the page before this one, if the player had moved it
   */
  constructor(figure, onZoom, moved = null) {
    this.figure = figure;
    this.onZoom = onZoom;
    this.svg = /** @type {SVGSVGElement} */ (figure.querySelector("[data-stage]"));
    this.map = figure.querySelector(".mini");
    this.view = moved;
    this.isMoved = Boolean(moved); // by the player, since something was framed
    /** @type {Element[]} */
    this.framed = [];
    this.gap = Infinity; // between the nearest two that can be touched
    this.clearGap = Infinity; // the same between those that have to be told apart at first sight
    this.animation = 0;
    this.settling = 0;
    /** @type {import("./stage.js").Stage | null} */
    this.drawn = null; // the stage on which the view was drawn last
    /** @type {Map<number, { start: Point, at: Point }>} */
    this.pointers = new Map();
    this.dragged = false;
    this.touchedAt = -Infinity; // ms; when a spot was touched last
    this.listen();
  }

  listen() {
    const { svg } = this;
    svg.addEventListener("pointerdown", (event) => this.onDown(event));
    svg.addEventListener("pointermove", (event) => this.onMove(event));
    for (const name of /** @type {const} */ (["pointerup", "pointercancel", "lostpointercapture"])) {
      svg.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
    }
    svg.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    svg.addEventListener("dblclick", (event) => {
      const wasTouch = event.timeStamp - this.touchedAt < DOUBLE_CLICK_MS;
      if (!wasTouch) this.zoom(DOUBLE_CLICK_ZOOM, event.clientX, event.clientY, true);
    });
    new ResizeObserver(() => this.onResize()).observe(svg);
  }

  /** @returns {import("./stage.js").Stage} */
  measureStage() {
    const { dataset, clientWidth, clientHeight } = this.svg;
    const world = parseBox(dataset.box ?? "");
    const home = dataset.focus ? parseBox(dataset.focus) : world;
    return { window: { width: clientWidth || 1, height: clientHeight || 1 }, world, home, reach: getReach() };
  }

  /** Return how many px a unit of the drawing is wide; 1 before a view is shown. */
  getScale() {
    return this.view?.scale ?? 1;
  }

  /** Return the view if the player has moved it, else null. */
  getMovedView() {
    return this.isMoved ? this.view : null;
  }

  /**
   * Remember that a click means a spot, so that two quick ones do not zoom as well.
   * @param {MouseEvent} event
   */
  noteTouch({ timeStamp }) {
    this.touchedAt = timeStamp;
  }

  /**
   * Let go of the board: this pointer drags something on it.
   * @param {number} pointerId
   */
  release(pointerId) {
    this.pointers.delete(pointerId);
  }

  /** Say whether the last touch dragged the board. */
  wasDragged() {
    return this.dragged;
  }

  /**
   * Frame these parts of the drawing, unless the player has moved the view and all of them can be touched in it. Those
   * with `data-beside` need not be told apart at first sight.
   * @param {Element[]} parts
   */
  frame(parts, slowly = true) {
    const boxes = parts.map((part) => this.measureBox(part));
    this.framed = parts;
    this.gap = measureGap(boxes);
    this.clearGap = measureGap(boxes.filter((_, index) => !parts[index].hasAttribute("data-beside")));
    const next = frameView(this.measureStage(), this.getMovedView(), boxes, this.clearGap);
    if (next === this.view) return this.draw(next);
    this.isMoved = false;
    return this.go(next, slowly);
  }

  /**
   * Zoom by a factor around a point of the screen, or the middle; say whether that goes any further.
   * @param {number} factor @param {number} [clientX] @param {number} [clientY]
   */
  zoom(factor, clientX, clientY, slowly = false) {
    if (!this.view) return false;
    const at = clientX === undefined || clientY === undefined ? undefined : this.toOffset({ x: clientX, y: clientY });
    const next = zoomView(this.measureStage(), this.view, factor, at);
    const changes = next.scale !== this.view.scale;
    this.move(next, slowly);
    return changes;
  }

  /**
   * Zoom by a factor and bring a point of the screen into the middle; say whether that goes any closer.
   * @param {number} factor @param {number} clientX @param {number} clientY
   */
  approach(factor, clientX, clientY) {
    if (!this.view) return false;
    const at = this.toOffset({ x: clientX, y: clientY });
    const next = approachPoint(this.measureStage(), this.view, factor, at);
    const changes = next.scale !== this.view.scale;
    if (changes) this.move(next, true);
    return changes;
  }

  /**
   * Move the board to the right and down.
   * @param {Point} by px
   */
  drag(by, slowly = false) {
    if (this.view) this.move(dragView(this.view, by), slowly);
  }

  showAll() {
    this.move(fitWorld(this.measureStage()), true);
  }

  /**
   * Show a view that the player chose.
   * @param {View} view
   */
  move(view, slowly = false) {
    this.isMoved = true;
    this.go(view, slowly);
  }

  /**
   * Show a view at once, or glide there.
   * @param {View} next
   */
  go(next, slowly = true) {
    cancelAnimationFrame(this.animation);
    const [start, from] = [performance.now(), this.view];
    if (!slowly || reducedMotion.matches || !from) return this.draw(next);
    /** @param {number} now */
    const step = (now) => {
      const part = Math.min(Math.max((now - start) / GLIDE_MS, 0), 1);
      this.draw(interpolate(from, next, part));
      if (part < 1) this.animation = requestAnimationFrame(step);
    };
    this.animation = requestAnimationFrame(step);
  }

  /**
   * Show the nearest view that is possible in the window as it is now.
   * @param {View} next
   */
  draw(next) {
    const { svg, figure } = this;
    const stage = this.measureStage();
    this.drawn = stage;
    this.view = clampView(stage, next);
    const { x, y, width, height } = findShown(stage, this.view);
    const viewBox = [x, y, width, height].map((length) => length.toFixed(2)).join(" ");
    for (const one of [svg, ...figure.querySelectorAll(".past")]) setChanged(one, "viewBox", viewBox);
    const unit = String(1 / this.view.scale);
    if (figure.style.getPropertyValue("--px") !== unit) figure.style.setProperty("--px", unit);
    // In a crowd only what is drawn can be touched, and not the area around it.
    figure.classList.toggle("crowded", isCrowded(stage, this.view, this.gap));
    this.drawMap(stage, { x, y, width, height });
    this.onZoom();
  }

  /**
   * Show on the small map which part of the world is seen.
   * @param {import("./stage.js").Stage} stage @param {import("./stage.js").Box} shown
   */
  drawMap(stage, shown) {
    if (!this.map) return;
    this.map.toggleAttribute("hidden", showsNearlyAll(stage, shown));
    const frame = this.map.querySelector(".shown");
    for (const [name, value] of Object.entries(shown)) if (frame) setChanged(frame, name, String(value));
    clearTimeout(this.settling);
    this.settling = setTimeout(async () => (await import("./small-map.js")).place(this.svg, this.map), SETTLE_MS);
  }

  /**
   * Return where a part of the drawing is, in units of the world.
   * @param {Element} part
   */
  measureBox(part) {
    const outline = /** @type {SVGGraphicsElement} */ (part.firstElementChild ?? part);
    const { x, y, width, height } = outline.getBBox();
    const [toScreen, worldToScreen] = [outline.getScreenCTM(), this.svg.getScreenCTM()];
    const corners = [
      [x, y],
      [x + width, y],
      [x, y + height],
      [x + width, y + height],
    ].map(([left, top]) =>
      new DOMPoint(left, top).matrixTransform(worldToScreen?.inverse().multiply(toScreen ?? undefined)),
    );
    return surround(corners.map((corner) => ({ x: corner.x, y: corner.y, width: 0, height: 0 })));
  }

  /** @param {Point} point px on the screen @returns {Point} px from the middle of the window */
  toOffset({ x, y }) {
    const { left, top } = this.svg.getBoundingClientRect();
    const { width, height } = this.measureStage().window;
    return { x: x - left - width / 2, y: y - top - height / 2 };
  }

  /**
   * Remember where a pointer is pressed; only the first button of a mouse counts.
   * @param {PointerEvent} event
   */
  onDown({ button, pointerId, clientX, clientY }) {
    if (button) return;
    if (!this.pointers.size) this.dragged = false;
    const start = { x: clientX, y: clientY };
    this.pointers.set(pointerId, { start, at: start });
  }

  /**
   * Drag the board with one pointer, or pinch it with two, once a pointer is far enough from where it was pressed.
   * @param {PointerEvent} event
   */
  onMove({ pointerId, clientX, clientY }) {
    const pointer = this.pointers.get(pointerId);
    if (!pointer || !this.view) return;
    const isFar = Math.hypot(clientX - pointer.start.x, clientY - pointer.start.y) > DRAG_PX;
    if (!this.dragged && !isFar) return;
    if (!this.dragged) this.svg.setPointerCapture(pointerId);
    this.dragged = true;
    const before = this.listPoints();
    pointer.at = { x: clientX, y: clientY };
    const after = this.listPoints();
    if (after.length > 1) this.move(pinchView(this.measureStage(), this.view, before, after));
    else this.drag({ x: after[0].x - before[0].x, y: after[0].y - before[0].y });
  }

  /** Return where the pressed pointers are, in px from the middle of the window. */
  listPoints() {
    return [...this.pointers.values()].map(({ at }) => this.toOffset(at));
  }

  /** @param {WheelEvent} event */
  onWheel(event) {
    event.preventDefault();
    const pace = event.ctrlKey ? PINCH_PACE : WHEEL_PACE;
    this.zoom(Math.exp(-event.deltaY * pace), event.clientX, event.clientY);
  }

  /** Frame what is framed again, unless the player has moved the view and sees as much as before. */
  onResize() {
    if (!this.view) return;
    const boxes = this.framed.filter((part) => part.isConnected).map((part) => this.measureBox(part));
    const [before, now] = [this.drawn, this.measureStage()];
    const isLost = before && canTouch(before, this.view, boxes) && !canTouch(now, this.view, boxes);
    if (this.isMoved && !isLost) return this.draw(this.view);
    this.isMoved = false;
    this.go(findBestView(now, boxes, this.clearGap), false);
  }
}
