// Rules: the number of a paragraph, pressed, is copied as a link that leads there.

const copied = document.querySelector(".copied");

document.querySelector(".rules").addEventListener("click", async (event) => {
  const number = event.target.closest("a.number");
  if (!number || !navigator.clipboard) return;
  await navigator.clipboard.writeText(number.href);
  number.after(copied);
  copied.hidden = false;
});

// A phone begins with the rules, not with their long list.
if (matchMedia("(width < 60rem)").matches) document.querySelector(".contents details").open = false;
