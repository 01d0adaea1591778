// A board that can be played on: the stage, and where it is one's turn the choices on it.

import { choices } from "./choice.js";
import { stage } from "./stage.js";

const NONE = { begun: () => false, state: () => null, resume() {}, over() {}, size() {}, leave() {} };

export function lay(root, tell, kept = null) {
  const figure = root.querySelector("figure.stage");
  if (!figure) return { ...NONE, scene: null };
  let made = null;
  const scene = stage(figure, () => made?.size(), kept);
  const views = { in: () => scene.zoom(1.6, undefined, undefined, true), out: () => scene.zoom(1 / 1.6, undefined, undefined, true), whole: scene.whole, names: () => named(root) };
  const leaving = new AbortController();
  root.addEventListener("click", (event) => views[event.target.closest("[data-view]")?.dataset.view]?.(), { signal: leaving.signal });
  const list = root.querySelector("details.offers:not([data-folded])");
  if (list) {
    list.open = JSON.parse(root.querySelector("#menu").textContent).said.length > 0;
    list.dataset.folded = "";
  }
  if (root.querySelector("#menu")) made = choices(root, scene, tell);
  else scene.frame([], false);
  return { ...(made ?? NONE), scene, leave: () => (leaving.abort(), made?.leave()) };
}

function named(root) {
  const on = root.querySelector("figure.stage").classList.toggle("named");
  root.querySelector("[data-view=names]").setAttribute("aria-pressed", String(on));
}
