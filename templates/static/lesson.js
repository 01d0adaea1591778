// Lessons: touching a place on the board follows the link of that place below it. Solved lessons are remembered in this
// browser.

const lesson = document.querySelector(".lesson");
const key = `lessons.${lesson.dataset.game}`;
const solved = new Set(JSON.parse(localStorage.getItem(key) ?? "[]"));

if ("solved" in lesson.dataset) {
  solved.add(lesson.dataset.number);
  localStorage.setItem(key, JSON.stringify([...solved]));
}
for (const link of lesson.querySelectorAll("[data-lesson]"))
  link.classList.toggle("done", solved.has(link.dataset.lesson));

lesson.querySelector(".position").addEventListener("click", (event) => {
  const token = event.target.closest("[data-token]")?.dataset.token.split(" ").at(-1);
  const links = [...lesson.querySelectorAll("[data-step]")].filter((link) => link.dataset.step === token);
  if (links.length === 1) links[0].click();
});
