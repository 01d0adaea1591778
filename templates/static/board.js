// A board on the page: its window, and where it is the reader's turn the choice of a move.

import { ChoiceView } from "./choice-view.js";
import { StageView } from "./stage-view.js";

const BUTTON_ZOOM = 1.6;

export class Board {
  /**
   * @param {HTMLElement} root
   * @param {import("./bubble.js").Tell} tell says something beside what was touched
   * @param {import("./stage.js").View | null} moved the view of the page before this one, if the player had moved it
   */
  constructor(root, tell, moved = null) {
    this.root = root;
    this.leaving = new AbortController();
    /** @type {ChoiceView | null} */
    this.choice = null;
    /** @type {HTMLElement | null} */
    const figure = root.querySelector("figure.stage");
    /** @type {import("./numbers.js").Numbers | null} */
    this.numbers = null;
    this.stage = figure && new StageView(figure, () => this.resize(), moved);
    if (!this.stage) return;
    this.showNames(localStorage.getItem("names") === "on");
    root.addEventListener("click", (event) => this.onClick(event), { signal: this.leaving.signal });
    const menu = root.querySelector("#menu");
    this.unfoldMoves(menu);
    if (menu) this.choice = new ChoiceView(root, this.stage, tell);
    else this.stage.frame([], false);
    if (root.querySelector("[data-stage] [data-mark], .plan")) this.drawNumbers(this.stage);
  }

  /**
   * Draw the numbers of marked places or of a plan; few pages have any.
   * @param {StageView} stage
   */
  async drawNumbers(stage) {
    const [{ Numbers }, { drawPlan }] = await Promise.all([import("./numbers.js"), import("./plan-view.js")]);
    if (this.leaving.signal.aborted) return;
    this.numbers = new Numbers(stage);
    drawPlan(this.root, stage, this.numbers, this.leaving.signal);
  }

  /** Fit what has one size on the screen to the zoom. */
  resize() {
    this.choice?.resize();
    this.numbers?.resize();
  }

  /** Stop listening; the page is replaced by a newer one. */
  leave() {
    this.leaving.abort();
    this.choice?.leave();
  }

  /** Say whether a part of a move is chosen. */
  isBegun() {
    return this.choice?.isBegun() ?? false;
  }

  /**
   * Open the list of moves if one is already begun. It happens once; from then on the reader opens and closes it.
   * @param {Element | null} menu
   */
  unfoldMoves(menu) {
    /** @type {HTMLDetailsElement | null} */
    const list = this.root.querySelector("details.offers:not([data-folded])");
    if (!list) return;
    list.open = JSON.parse(menu?.textContent ?? "").said.length > 0;
    list.dataset.folded = "";
  }

  /** @param {MouseEvent} event */
  onClick(event) {
    /** @type {HTMLElement | null} */
    const button = /** @type {Element} */ (event.target).closest("[data-view]");
    /** @type {Record<string, () => void>} */
    const actions = {
      in: () => this.zoom(BUTTON_ZOOM),
      out: () => this.zoom(1 / BUTTON_ZOOM),
      whole: () => this.stage?.showAll(),
      names: () => this.toggleNames(),
    };
    actions[button?.dataset.view ?? ""]?.();
  }

  /** @param {number} factor */
  zoom(factor) {
    this.stage?.zoom(factor, undefined, undefined, true);
  }

  /** Show or hide the coordinates on the board and in the sentences; this device remembers it. */
  toggleNames() {
    const shown = !document.documentElement.classList.contains("named");
    localStorage.setItem("names", shown ? "on" : "off");
    this.showNames(shown);
  }

  /** @param {boolean} shown */
  showNames(shown) {
    document.documentElement.classList.toggle("named", shown);
    this.root.querySelector("[data-view=names]")?.setAttribute("aria-pressed", String(shown));
  }
}
