// Lessons: a place that is touched on the board is the link below it, and what was solved stays in this browser.

const lesson = document.querySelector(".lesson");
const kept = `lessons.${lesson.dataset.game}`;
const solved = new Set(JSON.parse(localStorage.getItem(kept) ?? "[]"));

if ("solved" in lesson.dataset) {
  solved.add(lesson.dataset.number);
  localStorage.setItem(kept, JSON.stringify([...solved]));
}
for (const link of lesson.querySelectorAll("[data-lesson]")) link.classList.toggle("done", solved.has(link.dataset.lesson));

lesson.querySelector(".position").addEventListener("click", (event) => {
  const token = event.target.closest("[data-token]")?.dataset.token.split(" ").at(-1);
  const links = [...lesson.querySelectorAll("[data-step]")].filter((link) => link.dataset.step === token);
  if (links.length === 1) links[0].click();
});
