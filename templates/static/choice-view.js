// Shows a choice on the board, in the tray and in the bar, and turns touches and keys into `touch` and `press`. It
// knows menus and drawings, and no game: an element with `data-token` can be touched. `data-early` marks what may be
// touched before its turn in the words, and `data-ghost` the piece that is shown where it would lie.

import { chain, isBegun, offers, press, reset, resume, save, start, touch } from "./choice.js";
import {
  describeChoice,
  describeGhost,
  describeMenu,
  explainRefusal,
  labelButton,
  labelConfirm,
  nameSpot,
} from "./choice-text.js";
import { getReach, noteButtons } from "./device.js";
import { isDrawn, markSpot, sizeHitAreas } from "./marks.js";
import { showPieces } from "./pending-view.js";
import { sound } from "./sound.js";
import { findNeighbour, pick } from "./targets.js";

/** @typedef {import("./choice.js").Spot} Spot */
/** @typedef {import("./choice.js").State} State */
/** @typedef {ReturnType<typeof offers>} Offers */

/** @type {typeof import("./drag-view.js") | null} */
let drags = null; // once the page was pressed

const SEND_MS = 2000; // in which a move that needs no confirming can be stopped
const TURNING_PAUSE_MS = 450; // after this the tile is no longer being turned
const BESIDE_TOUCH_PX = 8; // between a touch and what is said of it

/** @param {HTMLElement} element @returns {Spot} */
const readSpot = ({ dataset }) => ({ token: dataset.token ?? "", early: "early" in dataset });

/** @param {Iterable<HTMLElement>} elements @returns {Map<HTMLElement, Spot>} */
const readSpots = (elements) => new Map([...elements].map((element) => [element, readSpot(element)]));

export class ChoiceView {
  /**
   * @param {HTMLElement} root @param {import("./stage-view.js").StageView} stage
   * @param {import("./bubble.js").Tell} tell says something beside what was touched
   */
  constructor(root, stage, tell) {
    /** @type {(selector: string) => any} */
    const part = (selector) => root.querySelector(selector);
    const { words, said, ...menu } = JSON.parse(part("#menu").textContent);
    this.root = root;
    this.stage = stage;
    this.tell = tell;
    /** @type {import("./choice-text.js").Words} */
    this.words = words;
    this.form = part("form.deed");
    // In the bar: what is chosen or what can be done, the buttons of `offers`, the one that sends, the one that resets.
    /** @type {Record<string, any>} */
    this.bar = Object.fromEntries(["made", "what", "next", "confirm", "again"].map((name) => [name, part(`.${name}`)]));
    this.ghost = part("[data-ghost]");
    /** @type {import("./lookahead.js").Lookahead | null} */
    this.lookahead = null; // once a move was whole
    this.spots = readSpots(root.querySelectorAll(":is(.stage, .tray) [data-token]"));
    this.state = start(menu, [...this.spots.values()], this.ghost?.dataset.ghost, said);
    this.leaving = new AbortController();
    this.sending = 0; // the timer of a move that is sent without confirming
    this.hidePieces = () => {};
    this.startOver = this.bar.again.innerHTML; // while that timer runs the button says “undo” instead
    this.form.addEventListener("submit", () => this.onSubmit(), { signal: this.leaving.signal });
    /** @type {import("./drag-view.js").Dragging | null} */
    this.dragging = null;
    if (drags) this.dragging = new drags.Dragging(this, this.leaving.signal);
    else this.waitForPointer();
    this.listen();
    this.draw();
  }

  listen() {
    const { signal } = this.leaving;
    this.root.addEventListener("click", (event) => this.onClick(event), { signal });
    document.addEventListener("keydown", (event) => this.onKey(event), { signal });
    this.bar.again.addEventListener("click", () => this.reset(), { signal });
  }

  /** Load the script that drags when a pointer comes over the page; it may press at once, as a finger does. */
  waitForPointer() {
    const once = { once: true, capture: true, signal: this.leaving.signal };
    /** @type {PointerEvent | null} */
    let pressed = null;
    const load = async () => {
      drags = await import("./drag-view.js").catch(() => null);
      if (!drags || this.dragging || this.leaving.signal.aborted) return;
      this.dragging = new drags.Dragging(this, this.leaving.signal);
      if (pressed) this.dragging.onDown(pressed);
    };
    this.root.addEventListener("pointerover", load, once);
    this.root.addEventListener(
      "pointerdown",
      (event) => {
        pressed = event;
      },
      once,
    );
    this.root.addEventListener(
      "pointerup",
      () => {
        pressed = null;
      },
      once,
    );
  }

  /** Stop listening; the page is replaced by a newer one. */
  leave() {
    this.stopSending();
    this.leaving.abort();
  }

  isBegun() {
    return isBegun(this.state);
  }

  save() {
    return save(this.state);
  }

  /** @param {ReturnType<typeof save>} saved */
  resume(saved) {
    const next = resume(this.state, saved);
    if (next !== this.state) this.update(next);
  }

  reset() {
    this.update(reset(this.state));
  }

  /**
   * Show another state, stop what was about to be sent, and look for a second move.
   * @param {State} state
   */
  update(state) {
    this.stopSending();
    if (this.state.first && !state.first) this.lookahead?.hide();
    this.state = state;
    if (!state.first) this.keepSpots(state.spots);
    this.draw();
    this.lookAhead();
  }

  /**
   * Forget all spots but these: those of a second move that is given up are off the page.
   * @param {Spot[]} spots
   */
  keepSpots(spots) {
    for (const [element, spot] of this.spots) if (!spots.includes(spot)) this.spots.delete(element);
  }

  /** @param {HTMLElement} element */
  touch(element) {
    this.choose(touch(this.state, this.getSpot(element)), element);
  }

  /**
   * Return the spot of an element, which is new to the page if it is not known yet.
   * @param {HTMLElement} element
   */
  getSpot(element) {
    return this.spots.get(element) ?? readSpot(element);
  }

  /**
   * Show the state after an element was touched, and why it could not be chosen.
   * @param {State} state @param {HTMLElement} element
   */
  choose(state, element) {
    this.update(state);
    sound(state.refused ? "refused" : "touch");
    if (state.refused) {
      const { text, rule } = explainRefusal(state, state.refused, this.words);
      const why = isBegun(state) ? "" : element.dataset.why;
      this.tell(why || text, element.getBoundingClientRect(), rule);
    }
    this.sendAtOnce();
  }

  /**
   * Say why nothing happens where the board is touched beside all that can be chosen.
   * @param {MouseEvent} event
   */
  explainTouch({ target, clientX, clientY }) {
    const touched = /** @type {Element} */ (target);
    if (!touched.closest("[data-stage]") || this.leaving.signal.aborted) return;
    /** @type {HTMLElement | null} */
    const reason = touched.closest("[data-why]");
    const width = 2 * BESIDE_TOUCH_PX;
    const around = new DOMRect(clientX - BESIDE_TOUCH_PX, clientY - BESIDE_TOUCH_PX, width, width);
    this.tell(reason?.dataset.why ?? this.words.touch, around);
  }

  /**
   * Send a move that can mean nothing else in a moment, if the player wishes moves to be made without confirming. Until
   * then it can be undone.
   */
  sendAtOnce() {
    if (!("atOnce" in this.form.dataset) || !offers(this.state).isFinal) return;
    this.bar.confirm.classList.add("soon");
    this.bar.again.textContent = `↶ ${this.words.undo}`;
    this.sending = setTimeout(() => this.form.requestSubmit(this.bar.confirm), SEND_MS);
  }

  /** Do not send what was about to be sent. */
  stopSending() {
    clearTimeout(this.sending);
    this.bar.confirm.classList.remove("soon");
    this.bar.again.innerHTML = this.startOver;
  }

  /** Take the planned pieces off the board: from now on the page shows those of the move that is sent. */
  onSubmit() {
    this.stopSending();
    this.hidePieces();
  }

  /** Put a second move after one that is whole, if the server says that the seat may go on. */
  async lookAhead() {
    const { state } = this;
    const { moves, ghost } = offers(state);
    const { atOnce, foresee } = this.form.dataset;
    if (state.first || !moves[0] || atOnce !== undefined || !foresee) return;
    const pause = new Promise((done) => setTimeout(done, ghost.length ? TURNING_PAUSE_MS : 0));
    const { Lookahead } = await import("./lookahead.js");
    this.lookahead ??= new Lookahead(this.root, foresee);
    const [next] = await Promise.all([this.lookahead.fetchNext(moves[0]), pause]);
    if (!next || this.state !== state || this.leaving.signal.aborted) return;
    const spots = readSpots(this.lookahead.show(next));
    this.spots = new Map([...this.spots, ...spots]);
    this.state = chain(state, next, [...spots.values()]);
    const holdNewButtons = noteButtons();
    const isFocused = document.activeElement === this.bar.confirm;
    this.draw();
    holdNewButtons();
    if (isFocused && this.bar.confirm.hidden) [...spots.keys()].find((one) => one.tabIndex >= 0)?.focus();
  }

  /** Show the state on the spots, in the bar, in the form and on the board. */
  draw() {
    const now = offers(this.state);
    for (const [element, spot] of this.spots) {
      const mark = now.marks.get(spot) ?? { lit: false, chosen: false };
      const states = [mark.chosen && this.words.chosen, mark.lit && this.words.can];
      markSpot(element, mark, [this.getName(element), ...states].filter(Boolean).join(", "));
    }
    this.drawBar(now);
    this.fillForm(now);
    this.drawGhost(now.ghost);
    this.drawPieces(now);
    const shown = this.listShown(now);
    const staysInSight = !shown.length && this.isBegun() && this.stage.view; // as a whole move does
    if (staysInSight) this.resize();
    else this.stage.frame(shown);
  }

  /** @param {Offers} now */
  drawBar({ buttons, complete, canConfirm, ghost }) {
    const { made, what, next, confirm, again } = this.bar;
    const isBegun = this.isBegun();
    made.hidden = !isBegun;
    what.hidden = isBegun;
    again.hidden = !isBegun;
    const unseen = document.createElement("span");
    unseen.className = "unseen";
    unseen.textContent = ` ${describeGhost(this.state.first ?? this.state, ghost)}`;
    made.replaceChildren(describeChoice(this.state, this.words), ...(ghost.length ? [unseen] : []));
    if (!isBegun) what.textContent = describeMenu(this.state, this.words);
    next.replaceChildren(...buttons.map((button) => this.makeButton(button)));
    confirm.hidden = !canConfirm;
    confirm.textContent = labelConfirm(this.state, complete, this.words);
  }

  /**
   * Write into the form what would be sent, and what is chosen of the only move or, without its verb, of the first one.
   * @param {Offers} now
   */
  fillForm({ moves: [move, second = ""] }) {
    const { first, verb, tokens } = this.state;
    this.form.elements.move.value = move;
    this.form.dataset.second = second;
    const said = first ? ["", ...first.tokens] : [verb ?? "", ...tokens];
    this.form.dataset.said = said.join(" ");
  }

  /** @param {string[]} tokens where the ghost lies and how it is turned; empty where it is not shown */
  drawGhost([token, turn = "0"]) {
    if (!this.ghost) return;
    const place = token && [...this.spots.keys()].find((element) => element.dataset.token === token);
    this.ghost.setAttribute("display", place ? "inline" : "none");
    if (place) this.ghost.setAttribute("transform", `${place.getAttribute("transform")} rotate(${turn})`);
  }

  /**
   * Show the pieces of a whole move where they would go.
   * @param {Offers} now
   */
  drawPieces({ moves, canConfirm }) {
    this.hidePieces();
    this.hidePieces = canConfirm ? showPieces(this.stage.svg, moves, "planned") : () => {};
  }

  /**
   * Return what the window has to show: the spots that can be chosen next, and the one that begins the move.
   * @param {Offers} now
   */
  listShown({ marks }) {
    const { spots, tokens } = this.state;
    const shown = [...this.spots].filter(
      ([element, spot]) =>
        isDrawn(element) && spots.includes(spot) && (marks.get(spot)?.lit || spot.token === tokens[0]),
    );
    return shown.map(([element]) => element);
  }

  /** Fit the areas that can be touched to the zoom. */
  resize() {
    sizeHitAreas(this.root, this.stage.getScale(), getReach());
  }

  /**
   * Return the element of a button. A whole move is sent by the form itself, and all others are pressed.
   * @param {import("./choice.js").Button} button
   */
  makeButton(button) {
    const { kind, verb, token } = button;
    const made = document.createElement("button");
    made.textContent = labelButton(this.state, button, this.words);
    made.type = kind === "move" ? "submit" : "button";
    if (kind === "move" || kind === "end") {
      made.className = "main";
      made.dataset.whole = verb;
    } else if (kind !== "turn") made.dataset.say = token || verb;
    made.addEventListener("click", () => {
      if (kind === "move") this.form.elements.move.value = [verb, ...this.state.tokens].join(" ");
      else this.press(button);
    });
    return made;
  }

  /** @param {import("./choice.js").Button} button */
  press(button) {
    this.update(press(this.state, button));
    if (button.kind === "end") this.form.requestSubmit(this.bar.confirm);
    else this.sendAtOnce();
  }

  /** @param {HTMLElement} element */
  getName({ dataset }) {
    return dataset.name || nameSpot(this.state, dataset.token ?? "", dataset.what);
  }

  /**
   * Return the spot that a touch means; null if it means none. If it may mean two, move closer to them and return
   * undefined.
   * @param {MouseEvent} event @returns {HTMLElement | null | undefined}
   */
  findSpot({ target, clientX, clientY }) {
    const { spot, zoom } = this.pickSpot(/** @type {Element} */ (target), clientX, clientY);
    return zoom && this.stage.approach(zoom.factor, zoom.x, zoom.y) ? undefined : spot;
  }

  /**
   * Return the spot at a point of the screen, and the zoom that would tell it from another one. The spots of a second
   * move are drawn over the others, and come first.
   * @param {Element} touched @param {number} clientX @param {number} clientY
   */
  pickSpot(touched, clientX, clientY) {
    /** @type {HTMLElement | null} */
    const direct = touched.closest("[data-token]");
    if (!touched.closest("[data-stage]")) return { spot: direct, zoom: null };
    const live = [...this.spots.keys()].filter((one) => isDrawn(one) && one.matches(".lit, .chosen"));
    /** @param {HTMLElement[]} elements */
    const pickFrom = (elements) => pick(elements.map(measureTarget), clientX, clientY, getReach());
    const { first, spots } = this.state;
    const above = first ? pickFrom(live.filter((one) => spots.includes(this.getSpot(one)))) : null;
    const { target, zoom } = above?.target ? above : pickFrom(live);
    return { spot: target?.element ?? direct, zoom };
  }

  /** @param {MouseEvent} event */
  onClick(event) {
    const target = /** @type {Element} */ (event.target);
    if (this.root.classList.contains("filming") || (this.stage.wasDragged() && target.closest("[data-stage]"))) return;
    const spot = this.findSpot(event);
    if (spot !== null) this.stage.noteTouch(event);
    if (spot) this.touch(spot);
    else if (spot === null && this.listShown(offers(this.state)).length) this.explainTouch(event);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (this.root.classList.contains("filming")) return;
    if (event.key === "Escape" && !(/** @type {Element} */ (event.target).matches("input, textarea"))) this.reset();
    /** @type {HTMLElement | null | undefined} */
    const spot = document.activeElement?.closest("[data-token][tabindex]");
    const chooses = event.key === "Enter" || event.key === " ";
    const moves = event.key.startsWith("Arrow") && !event.shiftKey;
    if (!spot || (!chooses && !moves)) return;
    event.preventDefault();
    if (chooses) {
      this.touch(spot);
      this.focusNext(spot);
    } else this.focusBeside(spot, event.key);
  }

  /**
   * Move the focus to the button that sends the move, or the first one of what can be chosen only there. While other
   * spots can be chosen, it stays.
   * @param {HTMLElement} spot
   */
  focusNext(spot) {
    const { confirm, next } = this.bar;
    const canGoOn = [...this.spots.keys()].some((one) => one !== spot && one.classList.contains("lit"));
    const button = next.querySelector("button");
    if (!confirm.hidden && !button) confirm.focus();
    else if (canGoOn || !button) spot.focus();
    else button.focus();
  }

  /**
   * Move the focus to the next spot in the direction of an arrow key, if there is one.
   * @param {HTMLElement} spot @param {string} key
   */
  focusBeside(spot, key) {
    const others = [...this.spots.keys()].filter((one) => one !== spot && one.hasAttribute("tabindex"));
    const boxes = others.map((one) => one.getBoundingClientRect());
    others[findNeighbour(spot.getBoundingClientRect(), boxes, key)]?.focus();
  }
}

/**
 * Return where a spot is on the screen, and the area around it that can be touched.
 * @param {HTMLElement} element
 */
function measureTarget(element) {
  const outline = element.getBoundingClientRect();
  const hit = element.querySelector(":scope > .hit")?.getBoundingClientRect() ?? outline;
  return { element, hit, outline };
}
