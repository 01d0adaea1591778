// On a small screen a board can be enlarged, and scrolled with a finger.

const page = document.documentElement;

page.classList.add("scripted");
document.addEventListener("click", (event) => {
  const plate = event.target.closest("button.larger")?.closest(".plate");
  if (!plate) return;
  const isLarge = page.classList.toggle("large");
  plate.tabIndex = isLarge ? 0 : -1;
  if (isLarge)
    scrollTo(plate.querySelector(".frame"), plate.querySelector(".spot.lit") ?? plate.querySelector(".board"));
});

/**
 * Scroll a frame until the middle of a part is in its middle.
 * @param {Element} frame @param {Element} part
 */
function scrollTo(frame, part) {
  const [outer, inner] = [frame, part].map((one) => one.getBoundingClientRect());
  const left = inner.left + inner.width / 2 - outer.left - outer.width / 2;
  frame.scrollBy(left, inner.top + inner.height / 2 - outer.top - outer.height / 2);
}
