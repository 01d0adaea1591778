// One tree made like another, touching only what differs: what has the focus, is unfolded or scrolled stays so.

const OPEN = "details"; // whether one is unfolded is the reader's business

// `keeps` answers for an element whether it stays as it is.
export function morph(old, now, keeps) {
  if (old.isEqualNode(now)) return;
  if (old.nodeName !== now.nodeName || old.id !== now.id || old.nodeType !== Node.ELEMENT_NODE) return old.replaceWith(now);
  if (keeps(old, now)) return;
  for (const { name } of [...old.attributes]) if (!now.hasAttribute(name) && !(name === "open" && old.matches(OPEN))) old.removeAttribute(name);
  for (const { name, value } of now.attributes) if (old.getAttribute(name) !== value && !(name === "open" && old.matches(OPEN))) old.setAttribute(name, value);
  children(old, [...old.childNodes], [...now.childNodes], keeps);
}

// What is alike at both ends stays; of the rest each is made like the one in its place.
function children(parent, olds, nows, keeps) {
  const alike = (one, other) => one && other && one.isEqualNode(other);
  while (alike(olds.at(-1), nows.at(-1))) [olds.pop(), nows.pop()];
  while (alike(olds[0], nows[0])) [olds.shift(), nows.shift()];
  const end = olds.at(-1)?.nextSibling ?? null;
  for (const [at, now] of nows.entries()) {
    if (olds[at]) morph(olds[at], now, keeps);
    else parent.insertBefore(now, end);
  }
  for (const old of olds.slice(nows.length)) old.remove();
}
