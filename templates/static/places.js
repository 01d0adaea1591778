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
  const panel = document.querySelector(".table")?.dataset.tab;
  const lines = [...document.querySelectorAll(`#${panel} [data-places~="${CSS.escape(place)}"]`)];
  (panel === "log" ? lines[0] : lines.at(-1))?.classList.add("tells");
}

function over(event) {
  show(event.target.closest?.("[data-places]")?.dataset.places.split(" ") ?? []);
  const part = event.target.closest?.("[data-stage] :is([data-token], [data-place])");
  tell(part?.dataset.place ?? part?.dataset.token.split(" ")[0]);
}

for (const name of ["pointerover", "focusin", "pointerdown"]) document.addEventListener(name, over);
