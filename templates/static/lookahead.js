// What the same seat could do after a whole move that ends no turn and draws nothing, as the server works it out. The
// spots of the second move are drawn over the board and put into the tray, each once.

import { SVG } from "./marks.js";

/**
 * The menu of the second move, its spots that are `drawn` and `inTray`, and hidden pieces that it may have `added`.
 * @typedef {import("./choice.js").Menu & Record<"drawn" | "added" | "inTray", HTMLElement[]>} Next
 */

export class Lookahead {
  /** @param {Element} root @param {string} address of what the server works out */
  constructor(root, address) {
    this.root = root;
    this.address = address;
    this.layer = document.createElementNS(SVG, "g");
    /** @type {Map<string, Promise<Next | null>>} */
    this.answers = new Map();
    /** @type {Map<HTMLElement, HTMLElement | undefined>} what is shown in the tray, and what it replaces there */
    this.inTray = new Map();
  }

  /**
   * Return what could be done after a move; null if its turn ends or chance decides. Each move is asked for once.
   * @param {string} move
   */
  async fetchNext(move) {
    const answer = this.answers.get(move) ?? this.fetchPage(`${this.address}?${new URLSearchParams({ move })}`);
    this.answers.set(move, answer);
    return answer;
  }

  /**
   * Load and read what could be done; null if that is nothing, and without a connection.
   * @param {string} address @returns {Promise<Next | null>}
   */
  async fetchPage(address) {
    const answer = await fetch(address).catch(() => null);
    if (answer?.status !== 200) return null;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const { menu, labels, rules } = JSON.parse(page.querySelector("script")?.textContent ?? "");
    /** @param {string} selector */
    const all = (selector) => [.../** @type {NodeListOf<HTMLElement>} */ (page.querySelectorAll(selector))];
    const added = all("[data-stage] [data-new]");
    return { menu, labels, rules, added, drawn: all("[data-stage] [data-token]"), inTray: all(".tray [data-token]") };
  }

  /**
   * Show the spots of the second move and return them. In the tray each takes the place of the one with its token.
   * @param {Next} next
   */
  show({ drawn, added, inTray }) {
    this.layer.replaceChildren(...added, ...drawn);
    this.root.querySelector("[data-stage]")?.append(this.layer);
    const tray = this.root.querySelector(".tray");
    const olds = new Map();
    for (const old of tray?.querySelectorAll("[data-token]") ?? []) olds.set(old.dataset.token, old);
    for (const element of inTray) {
      const old = olds.get(element.dataset.token);
      if (old) old.replaceWith(element);
      else tray?.append(element);
      this.inTray.set(element, old);
    }
    return [...drawn, ...inTray];
  }

  /** Take the spots of the second move off the page, and put those that they replaced back into the tray. */
  hide() {
    this.layer.remove();
    for (const [element, old] of this.inTray) {
      if (old) element.replaceWith(old);
      else element.remove();
    }
    this.inTray.clear();
  }
}
