// What the same seat could do after a whole move that ends no turn and draws nothing, as the server works it out. The
// spots of the second move are drawn over the board and put beside what is in the tray.

import { SVG } from "./marks.js";

/** @typedef {import("./choice.js").Menu & { drawn: HTMLElement[], inTray: HTMLElement[] }} Next */

export class Lookahead {
  /** @param {Element} root @param {string | undefined} address without one, nothing is looked up */
  constructor(root, address) {
    this.root = root;
    this.address = address;
    this.layer = document.createElementNS(SVG, "g");
    /** @type {Map<string, Promise<Next | null>>} */
    this.answers = new Map();
    /** @type {HTMLElement[]} */
    this.inTray = [];
  }

  /**
   * Return what could be done after a move; null if its turn ends or chance decides. Each move is asked for once.
   * @param {string} move
   */
  async fetchNext(move) {
    if (!this.address) return null;
    const answer = this.answers.get(move) ?? this.fetchPage(`${this.address}?${new URLSearchParams({ move })}`);
    this.answers.set(move, answer);
    return answer;
  }

  /** @param {string} address @returns {Promise<Next | null>} */
  async fetchPage(address) {
    const answer = await fetch(address).catch(() => null);
    if (answer?.status !== 200) return null;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const { menu, labels, rules } = JSON.parse(page.querySelector("script")?.textContent ?? "");
    /** @param {string} selector */
    const all = (selector) => [.../** @type {NodeListOf<HTMLElement>} */ (page.querySelectorAll(selector))];
    return { menu, labels, rules, drawn: all("[data-stage] [data-token]"), inTray: all(".tray [data-token]") };
  }

  /**
   * Show the spots of the second move and return them.
   * @param {Next} next
   */
  show({ drawn, inTray }) {
    this.layer.replaceChildren(...drawn);
    this.root.querySelector("[data-stage]")?.append(this.layer);
    this.root.querySelector(".tray")?.append(...inTray);
    this.inTray = inTray;
    return [...drawn, ...inTray];
  }

  hide() {
    this.layer.remove();
    for (const element of this.inTray) element.remove();
    this.inTray = [];
  }
}
