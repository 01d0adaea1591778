// On a small screen a board can be enlarged, and moved about with a finger.

const page = document.documentElement;

page.classList.add("scripted");
document.addEventListener("click", (event) => {
  const button = event.target.closest("button.larger");
  if (!button) return;
  const plate = button.closest(".plate");
  const large = page.classList.toggle("large");
  plate.tabIndex = large ? 0 : -1;
  if (large) show(plate.querySelector(".frame"), plate.querySelector(".spot.lit") ?? plate.querySelector(".board"));
});

// The middle of this in the middle of the frame.
function show(frame, part) {
  const [outer, inner] = [frame, part].map((one) => one.getBoundingClientRect());
  const left = inner.left + inner.width / 2 - outer.left - outer.width / 2;
  frame.scrollBy(left, inner.top + inner.height / 2 - outer.top - outer.height / 2);
}
