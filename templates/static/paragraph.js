// A paragraph of the rules, opened where it is cited; and “What is this?”, which asks for the paragraph of a thing.

const box = document.createElement("dialog");
box.className = "paragraph";
document.body.append(box);
const style = document.createElement("link");
style.rel = "stylesheet";
style.href = new URL("book.css", import.meta.url);
document.head.append(style);

let book = "";

box.addEventListener("click", (event) => {
  const link = event.target.closest('a[href*="#"]');
  if (event.target === box || event.target.closest("[data-close]")) box.close();
  else if (link && link.hash) {
    event.preventDefault();
    open(`${book}${link.hash}`);
  }
});

// The page of the paragraph by itself; where it cannot be had, the page of all the rules.
export async function open(address) {
  const [path, key] = address.split("#");
  book = path;
  try {
    const answer = await fetch(`${path}/${key}`);
    if (!answer.ok) throw answer.status;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    box.replaceChildren(page.querySelector("[data-close]"), page.querySelector("article"));
    for (const one of box.querySelectorAll("[id]")) one.removeAttribute("id");
    box.querySelector("[data-close]").hidden = false;
    if (!box.open) box.showModal();
    box.scrollTop = 0;
  } catch {
    location.href = address;
  }
}

// The next thing that is touched is looked up, and not played.
export async function ask(rules) {
  const things = await (await fetch(`${rules}/things.json`)).json();
  document.body.classList.add("asking");
  addEventListener(
    "click",
    (event) => {
      document.body.classList.remove("asking");
      const thing = event.target.closest("[data-token]");
      const piece = [...document.querySelectorAll("[data-piece]")].findLast((one) => holds(one, event));
      if (!thing && !piece) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      const token = thing?.dataset.token ?? "";
      const names = piece ? [piece.dataset.piece] : [token, ...token.split(" ").reverse()];
      const found = things.find((one) => names.some((name) => name && new RegExp(`^(?:${one.pattern})$`).test(name)));
      open(`${rules}#${found?.rule ?? "short"}`);
    },
    { capture: true, once: true },
  );
}

// Pieces let a touch through to their space, so they are found by where they are.
function holds(piece, { clientX, clientY }) {
  const { left, right, top, bottom } = piece.getBoundingClientRect();
  return left <= clientX && clientX <= right && top <= clientY && clientY <= bottom;
}
