// What a menu allows, as data: an entry has `options` (whole rows of tokens), `items` to tick, or a number to give.

const same = (one, other) => one.length === other.length && one.every((word, at) => word === other[at]);
const begins = (args, said) => said.every((word, at) => args[at] === word);
export const unique = (list) => [...new Set(list)];

// What is left of the items when these are taken; nothing where they cannot all be taken.
function left(items, said) {
  const rest = [...items];
  for (const word of said) {
    const at = rest.indexOf(word);
    if (at < 0) return null;
    rest.splice(at, 1);
  }
  return rest;
}

// The rows of an entry that begin like this and in which `held` comes later.
export function rows(entry, said, held) {
  return (entry.options ?? []).filter((args) => begins(args, said) && (held === null || args.slice(said.length).includes(held)));
}

// The tokens that may follow `said` in this entry.
export function following(entry, said, held = null) {
  if (entry.options) return unique(rows(entry, said, held).filter((args) => args.length > said.length).map((args) => args[said.length]));
  return entry.items && said.length < entry.most ? unique(left(entry.items, said) ?? []) : [];
}

export function fits(entry, said, held = null) {
  if (entry.options) return rows(entry, said, held).length > 0;
  if (entry.items) return said.length <= entry.most && left(entry.items, said) !== null;
  return said.length === 0;
}

export function whole(entry, said) {
  if (entry.options) return entry.options.some((args) => same(args, said));
  return Boolean(entry.items) && said.length >= Math.max(entry.least, 1) && fits(entry, said);
}
