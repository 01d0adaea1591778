// Makes one tree like another and touches only what differs, so that the focus, scrolling and unfolded parts stay.

/** @typedef {(old: Element) => boolean} Keeps says whether an element stays as it is, with all that is in it */

/**
 * Make an element like a new one.
 * @param {Element} old @param {Element} fresh @param {Keeps} keeps
 */
export function morph(old, fresh, keeps) {
  if (old.isEqualNode(fresh)) return;
  if (!isSameElement(old, fresh)) old.replaceWith(fresh);
  else if (!keeps(old)) {
    copyAttributes(old, fresh);
    morphChildren(old, [...old.childNodes], [...fresh.childNodes], keeps);
  }
}

/** @param {Element} old @param {Element} fresh */
const isSameElement = (old, fresh) =>
  old.nodeType === Node.ELEMENT_NODE && old.nodeName === fresh.nodeName && old.id === fresh.id;

/**
 * Copy all attributes but the one that the reader sets: whether details are open.
 * @param {Element} old @param {Element} fresh
 */
function copyAttributes(old, fresh) {
  /** @param {string} name */
  const isSetByReader = (name) => name === "open" && old.matches("details");
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !isSetByReader(name)) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value && !isSetByReader(name)) old.setAttribute(name, value);
  }
}

/**
 * Keep equal children at both ends; make each of the others like the new one in its place.
 * @param {Element} parent @param {ChildNode[]} olds @param {ChildNode[]} freshOnes @param {Keeps} keeps
 */
function morphChildren(parent, olds, freshOnes, keeps) {
  /** @type {(one?: ChildNode, other?: ChildNode) => boolean} */
  const isEqual = (one, other) => Boolean(one && other && one.isEqualNode(other));
  while (isEqual(olds.at(-1), freshOnes.at(-1))) {
    olds.pop();
    freshOnes.pop();
  }
  while (isEqual(olds[0], freshOnes[0])) {
    olds.shift();
    freshOnes.shift();
  }
  const end = olds.at(-1)?.nextSibling ?? null;
  for (const [index, fresh] of freshOnes.entries()) {
    if (olds[index]) morph(/** @type {Element} */ (olds[index]), /** @type {Element} */ (fresh), keeps);
    else parent.insertBefore(fresh, end);
  }
  for (const old of olds.slice(freshOnes.length)) old.remove();
}
