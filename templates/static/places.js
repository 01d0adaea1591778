// What is told and where it happened light each other up: a sentence its places, and a place what was told of it last.

const clear = (name) => document.querySelectorAll(`.${name}`).forEach((one) => one.classList.remove(name));

function show(places) {
  clear("told-of");
  for (const place of places) {
    const sign = CSS.escape(place);
    for (const part of document.querySelectorAll(`[data-stage] :is([data-token="${sign}"], [data-place="${sign}"])`)) part.classList.add("told-of");
  }
}

function tell(place) {
  clear("tells");
  if (!place) return;
  const sign = CSS.escape(place);
  const panel = document.querySelector(".table")?.dataset.tab;
  for (const word of document.querySelectorAll(`#${panel} [data-at~="${sign}"]`)) word.classList.add("tells");
  const lines = [...document.querySelectorAll(`#${panel} [data-places~="${sign}"]`)];
  (panel === "log" ? lines[0] : lines.at(-1))?.classList.add("tells");
}

function over(event) {
  const near = (what) => event.target.closest?.(what);
  show((near("[data-at]")?.dataset.at ?? near("[data-places]")?.dataset.places)?.split(" ") ?? []);
  const part = near("[data-stage] :is([data-token], [data-place])");
  tell(part?.dataset.place ?? part?.dataset.token.split(" ")[0]);
}

for (const name of ["pointerover", "focusin", "pointerdown"]) document.addEventListener(name, over);
