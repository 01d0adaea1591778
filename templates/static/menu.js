// What a menu allows: an entry has `options` (whole rows of tokens), `items` to tick, or a number to give.

/** @typedef {{ verb: string, options?: string[][], items?: string[], least?: number, most?: number }} Entry */

/** @type {(one: string[], other: string[]) => boolean} */
const isEqual = (one, other) => one.length === other.length && startsWith(one, other);

/** @type {(row: string[], tokens: string[]) => boolean} */
const startsWith = (row, tokens) => tokens.every((token, index) => row[index] === token);

/** @template T @param {T[]} list @returns {T[]} */
export const dedupe = (list) => [...new Set(list)];

/**
 * Return the items that remain when `tokens` are taken; null if they cannot all be taken.
 * @param {string[]} items @param {string[]} tokens
 */
function removeTokens(items, tokens) {
  const rest = [...items];
  for (const token of tokens) {
    const index = rest.indexOf(token);
    if (index < 0) return null;
    rest.splice(index, 1);
  }
  return rest;
}

/**
 * Return the rows of an entry that begin with `tokens` and in which `early` comes later.
 * @param {Entry} entry @param {string[]} tokens @param {string | null} early
 */
export function findRows(entry, tokens, early = null) {
  const begun = (entry.options ?? []).filter((row) => startsWith(row, tokens));
  return early === null ? begun : begun.filter((row) => row.indexOf(early, tokens.length) >= 0);
}

/**
 * Return the tokens that may follow `tokens` in an entry.
 * @param {Entry} entry @param {string[]} tokens @param {string | null} early @returns {string[]}
 */
export function findNext(entry, tokens, early = null) {
  if (entry.options) {
    const longer = findRows(entry, tokens, early).filter((row) => row.length > tokens.length);
    return dedupe(longer.map((row) => row[tokens.length]));
  }
  if (!entry.items || early !== null || tokens.length >= (entry.most ?? 0)) return [];
  return dedupe(removeTokens(entry.items, tokens) ?? []);
}

/**
 * Say whether `tokens` begin a move of an entry in which `early` comes later, or are one.
 * @param {Entry} entry @param {string[]} tokens @param {string | null} early
 */
export function fits(entry, tokens, early = null) {
  if (entry.options) return findRows(entry, tokens, early).length > 0;
  if (early !== null) return false;
  if (entry.items) return tokens.length <= (entry.most ?? 0) && removeTokens(entry.items, tokens) !== null;
  return tokens.length === 0;
}

/**
 * Say whether the verb of an entry alone may be a move.
 * @param {Entry} entry
 */
export const isBare = ({ options }) => options?.some((row) => !row.length) ?? false;

/**
 * Say whether `tokens` are a whole move of an entry.
 * @param {Entry} entry @param {string[]} tokens
 */
export function isWhole(entry, tokens) {
  if (entry.options) return entry.options.some((row) => isEqual(row, tokens));
  return Boolean(entry.items) && tokens.length >= Math.max(entry.least ?? 0, 1) && fits(entry, tokens);
}
