// Rules: pressing the number of a paragraph copies a link to it.

const copied = document.querySelector(".copied");

document.querySelector(".rules").addEventListener("click", async (event) => {
  const number = event.target.closest("a.number");
  if (!number || !navigator.clipboard) return;
  await navigator.clipboard.writeText(number.href);
  number.after(copied);
  copied.hidden = false;
});

// A wide window has room for the long table of contents beside the rules.
if (matchMedia("(width >= 60rem)").matches) document.querySelector(".contents details").open = true;
