// On a small screen a board can be enlarged, and moved about with a finger.

const page = document.documentElement;

page.classList.add("scripted");
document.addEventListener("click", (event) => {
  const button = event.target.closest("button.larger");
  if (!button) return;
  const plate = button.closest(".plate");
  const large = page.classList.toggle("large");
  plate.tabIndex = large ? 0 : -1;
  const frame = plate.querySelector(".frame");
  frame.scrollTo((frame.scrollWidth - frame.clientWidth) / 2, 0);
});
