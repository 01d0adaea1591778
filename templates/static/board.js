// A move put together token by token, on the board or with buttons. This script knows menus and drawings, and no game:
// a menu entry says what may follow what has been said, and an element of the drawing whose id is a token can be clicked.

const key = (words) => JSON.stringify(words);

// The tokens that may follow `said` in this entry.
function following(entry, said) {
  if (entry.options) {
    const rest = entry.options.filter((args) => args.length > said.length && said.every((word, at) => args[at] === word));
    return [...new Set(rest.map((args) => args[said.length]))];
  }
  if (entry.items && said.length < entry.most) {
    const left = [...entry.items];
    for (const word of said) {
      const at = left.indexOf(word);
      if (at < 0) return [];
      left.splice(at, 1);
    }
    return [...new Set(left)];
  }
  return [];
}

function fits(entry, said) {
  if (entry.options) return entry.options.some((args) => said.every((word, at) => args[at] === word));
  if (!entry.items) return said.length === 0;
  const left = [...entry.items];
  return said.length <= entry.most && said.every((word) => {
    const at = left.indexOf(word);
    if (at < 0) return false;
    left.splice(at, 1);
    return true;
  });
}

function whole(entry, said) {
  if (entry.options) return entry.options.some((args) => key(args) === key(said));
  return Boolean(entry.items) && said.length >= Math.max(entry.least, 1) && fits(entry, said);
}

export function lay() {
  const embedded = document.getElementById("menu");
  const bar = document.querySelector("form.bar");
  const drawing = document.querySelector("figure.plate svg");
  if (!embedded || !bar || !drawing) return null;
  const { menu, labels, said: begun } = JSON.parse(embedded.textContent);
  const spots = new Map([...drawing.querySelectorAll(".spot[id]")].map((spot) => [spot.id, spot]));
  const output = bar.querySelector("output");
  const next = bar.querySelector(".next");
  const lead = document.querySelector(".lead-in");
  const confirm = bar.querySelector(".confirm");
  const onward = bar.querySelector(".onward");
  let verb = begun[0] ?? null; // settled only by a link of the forms; otherwise every entry takes part
  let said = begun.slice(1);

  const entries = () => menu.filter((entry) => verb === null || entry.verb === verb);
  const alive = () => entries().filter((entry) => fits(entry, said));
  const label = (entry, token) => labels[entry.verb]?.tokens[token] ?? token;
  const sentence = (entry) => [labels[entry.verb].verb + (said.length ? ":" : ""), said.map((token) => label(entry, token)).join(entry.items ? ", " : " → ")].join(" ");

  function choose(token) {
    if (alive().some((entry) => following(entry, said).includes(token))) {
      said.push(token);
    } else if (said.includes(token) && alive().some((entry) => entry.items)) {
      said.splice(said.indexOf(token), 1);
    } else {
      restart(token);
    }
    const own = said.length;
    hurry();
    draw();
    if ("atOnce" in bar.dataset && said.length === own && finished()) bar.requestSubmit(confirm);
  }

  // A whole move, to which nothing can be added and which cannot mean anything else.
  function finished() {
    const living = alive();
    return living.length === 1 && whole(living[0], said) && !following(living[0], said).length;
  }

  // A token that does not follow here may follow earlier: another stone is taken up instead. The last one again is put down.
  function restart(token) {
    const again = said.at(-1) === token;
    for (let length = said.length - 1; length >= 0; length -= 1) {
      const earlier = said.slice(0, length);
      if (again || entries().some((entry) => fits(entry, earlier) && following(entry, earlier).includes(token))) {
        said = again ? earlier : [...earlier, token];
        return;
      }
    }
  }

  // Where only one thing can follow, it need not be chosen.
  function hurry() {
    for (;;) {
      const living = alive();
      const rest = [...new Set(living.flatMap((entry) => following(entry, said)))];
      if (!said.length || rest.length !== 1 || living.some((entry) => entry.items || whole(entry, said))) return;
      said.push(rest[0]);
    }
  }

  function draw() {
    const living = alive();
    const after = new Map();
    for (const entry of living) for (const token of following(entry, said)) if (!after.has(token)) after.set(token, label(entry, token));
    for (const [token, spot] of spots) mark(spot, after.get(token), said.includes(token) ? label(living[0], token) : undefined);
    const complete = living.filter((entry) => whole(entry, said) && (said.length || verb !== null));
    bar.hidden = !said.length;
    lead.hidden = ![...after.keys()].some((token) => spots.has(token));
    onward.hidden = lead.hidden || complete.length > 0;
    output.textContent = said.length ? [...new Set(living.map(sentence))].join(" / ") : "";
    confirm.hidden = complete.length !== 1;
    confirm.value = "";
    if (complete.length === 1) bar.elements.move.value = [complete[0].verb, ...said].join(" ");
    const steps = said.length ? [...after].filter(([token]) => !spots.has(token)).map(([token, text]) => step(text, () => choose(token))) : [];
    const ways = complete.length > 1 ? complete.map((entry) => whole_step(entry)) : [];
    next.replaceChildren(...steps, ...ways);
    next.hidden = !next.childElementCount;
  }

  function step(text, then) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", then);
    return button;
  }

  function whole_step(entry) {
    const button = step(sentence(entry), () => {
      bar.elements.move.value = [entry.verb, ...said].join(" ");
    });
    button.type = "submit";
    button.className = "main";
    return button;
  }

  function mark(spot, reachable, chosen) {
    const live = reachable !== undefined || chosen !== undefined;
    spot.classList.toggle("lit", reachable !== undefined);
    spot.classList.toggle("chosen", chosen !== undefined);
    for (const old of spot.querySelectorAll(".halo")) old.remove();
    if (!live) {
      for (const name of ["tabindex", "role", "aria-label", "aria-pressed"]) spot.removeAttribute(name);
      return;
    }
    spot.setAttribute("tabindex", "0");
    spot.setAttribute("role", "button");
    spot.setAttribute("aria-label", reachable ?? chosen);
    spot.setAttribute("aria-pressed", String(chosen !== undefined));
    spot.firstElementChild.after(halo(spot, "halo under"), halo(spot, "halo"));
  }

  // A ring like the spot's own outline, which is its first child; around everything where that is no plain shape.
  function halo(spot, name) {
    const outline = spot.firstElementChild;
    const simple = ["circle", "rect", "ellipse", "path", "polygon"].includes(outline.tagName);
    const ring = simple ? outline.cloneNode() : document.createElementNS("http://www.w3.org/2000/svg", "rect");
    if (!simple) {
      const { x, y, width, height } = spot.getBBox();
      for (const [part, size] of Object.entries({ x, y, width, height, rx: Math.min(width, height) / 5 })) ring.setAttribute(part, size);
    }
    for (const part of ["id", "style", "fill", "stroke", "opacity"]) ring.removeAttribute(part);
    ring.setAttribute("class", name);
    return ring;
  }

  function clicked(event) {
    const spot = event.target.closest?.(".spot.lit, .spot.chosen") ?? null;
    const other = event.target.closest?.(".spot[id]");
    if (spot) choose(spot.id);
    else if (other && said.length) choose(other.id);
  }

  function pressed(event) {
    if (event.key === "Escape") over();
    const spot = document.activeElement?.closest?.(".spot[tabindex]");
    if (!spot || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    choose(spot.id);
    if (!confirm.hidden && next.hidden) confirm.focus();
    else spot.focus();
  }

  function over() {
    said = [];
    verb = null;
    draw();
  }

  drawing.addEventListener("click", clicked);
  document.addEventListener("keydown", pressed);
  bar.querySelector(".again").addEventListener("click", over);
  drawing.closest("figure").classList.add("live");
  closeWhatTheBoardSays();
  draw();

  // The list folds up where every move can begin on the board.
  function closeWhatTheBoardSays() {
    const list = document.querySelector("details.offers");
    const onBoard = menu.every((entry) => {
      const first = following(entry, []);
      return first.length > 0 && first.every((token) => spots.has(token));
    });
    if (list && onBoard && !begun.length) list.open = false;
  }

  return {
    begun: () => said.length > 0,
    leave: () => document.removeEventListener("keydown", pressed),
  };
}
