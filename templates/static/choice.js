// A move put together token by token, on the board, in the tray, or with buttons. This script knows menus and drawings,
// and no game: a menu entry says what may follow, and an element with `data-token` can be touched.
//
// `data-token` may hold several tokens, which are said together, or a verb, which begins a move. `data-early` marks what
// may be touched before its turn in the words. `data-ghost` is a piece that lies where it was put for a try: touching
// the place again turns it on to the next token that fits.

import { lookAhead } from "./ahead.js";
import { fits, following, rows, unique, whole } from "./menu.js";
import { reach } from "./stage.js";

const PAUSE = 450; // ms after which whoever turns a tile has turned it

// The tokens that are drawn, and among them those that say several at once.
function known(spots) {
  const tokens = spots.map((spot) => spot.dataset.token);
  return [new Set(tokens), new Set(tokens.filter((token) => token.includes(" ")))];
}

export function choices(root, scene, tell) {
  const { words, said: begun, ...own } = JSON.parse(root.querySelector("#menu").textContent);
  let { menu, labels, rules } = own;
  const form = root.querySelector("form.deed");
  const made = root.querySelector(".made");
  const what = root.querySelector(".what");
  const next = root.querySelector(".next");
  const confirm = root.querySelector(".confirm");
  const again = root.querySelector(".again");
  const ghost = root.querySelector("[data-ghost]");
  const ahead = lookAhead(root, form.dataset.foresee);
  let spots = [...root.querySelectorAll(".stage [data-token], .tray [data-token]")];
  let [drawn, joined] = known(spots);
  let verb = begun[0] ?? null;
  let said = begun.slice(1);
  let held = null; // what was touched before its turn
  let turned = null; // how the ghost lay last
  let first = null; // the move before this one, where two are put together and sent in order

  const entries = () => menu.filter((entry) => verb === null || entry.verb === verb);
  const alive = () => entries().filter((entry) => fits(entry, said, held));
  const label = (entry, token) => labels[entry.verb]?.tokens[token] ?? token;
  const complete = () => alive().filter((entry) => whole(entry, said) && held === null && (said.length || verb !== null));
  const shadow = () => !first && ghost && said.length && alive().find((entry) => entry.verb === ghost.dataset.ghost);

  function sentence(entry) {
    const told = entry.verb === ghost?.dataset.ghost ? [] : said.map((token) => label(entry, token));
    return labels[entry.verb].verb + (told.length ? `${words.colon} ${told.join(entry.items ? ", " : " → ")}` : "");
  }

  // Whether all that can follow this token here is touched together with it.
  function direct(entry, token) {
    const rests = entry.options ? rows(entry, [...said, token], held).map((args) => `${args.slice(said.length).join(" ")} `) : [];
    return rests.length > 0 && rests.every((rest) => [...joined].some((one) => rest.startsWith(`${one} `)));
  }

  // What saying these tokens would make of the choice; nothing where they cannot be said now.
  function step(tokens) {
    const [token] = tokens;
    if (tokens.length === 1) {
      if (!said.length && verb === null && menu.some((entry) => entry.verb === token)) return { verb: token, said: [] };
      return alive().some((entry) => following(entry, said, held).includes(token) && !direct(entry, token)) ? { said: [...said, token] } : null;
    }
    for (let known = tokens.length - 1; known >= 0; known -= 1) {
      const [head, rest] = [tokens.slice(0, known), tokens.slice(known)];
      const longer = [...said, ...rest];
      const follows = said.slice(-known).join(" ") === head.join(" ");
      if ((known === 0 || follows) && alive().some((entry) => fits(entry, longer, held))) return { said: longer };
    }
    return null;
  }

  function offered(spot) {
    if (first?.spots.includes(spot)) return first.lit.includes(spot) ? { said: [] } : null;
    const tokens = spot.dataset.token.split(" ");
    const found = step(tokens);
    if (found) return found;
    if ("early" in spot.dataset && held === null && entries().some((entry) => rows(entry, said, tokens[0]).length)) return { said, held: tokens[0] };
    return null;
  }

  const chosen = (spot) => (first?.spots.includes(spot) ? first.said.includes(spot.dataset.token) : ` ${said.join(" ")} ${held ?? ""} `.includes(` ${spot.dataset.token} `) || (!said.length && verb === spot.dataset.token));

  function choose(spot) {
    if (first && first.spots.includes(spot)) back();
    const found = offered(spot);
    if (shadow() && spot.dataset.token === said[0]) turn();
    else if (found) take(found);
    else if (!restart(spot)) tell(words.not.replace("{what}", nameOf(spot)), rules[(alive()[0] ?? menu[0]).verb]);
    settle();
  }

  function take(found) {
    verb = found.verb ?? verb;
    said = found.said;
    held = found.held ?? held;
    if (held !== null && said.includes(held)) held = null;
    lie();
    hurry();
  }

  // The choice with its consequences shown.
  function show() {
    draw();
    const [only, ...others] = complete();
    look(only && !others.length ? form.elements.move.value : "");
  }

  // After a touch also this: where that is wished, a move that cannot mean anything else is made at once.
  function settle() {
    show();
    const [only, ...others] = complete();
    if ("atOnce" in form.dataset && only && !others.length && alive().length === 1 && !following(only, said).length && !shadow()) form.requestSubmit(confirm);
  }

  // After a whole move the server may know what the same seat could do next: that is put together with it, and both
  // are sent in order. Whoever touches something of the first move again is back at that.
  async function look(move) {
    if (first || !move || "atOnce" in form.dataset) return;
    const [next] = await Promise.all([ahead.after(move), new Promise((done) => setTimeout(done, shadow() ? PAUSE : 0))]);
    if (!next || first || form.elements.move.value !== move || leaving.signal.aborted) return;
    first = { menu, labels, rules, spots, verb, said, move, made: made.textContent, lit: spots.filter((spot) => spot.classList.contains("lit")) };
    ({ menu, labels, rules } = next);
    [verb, said, held] = [null, [], null];
    spots = [...spots, ...ahead.show(next)];
    [drawn, joined] = known(next.spots);
    draw();
  }

  function back() {
    ({ menu, labels, rules, spots, verb, said } = first);
    [first, held] = [null, null];
    [drawn, joined] = known(spots);
    ahead.hide();
  }

  // What does not follow here may follow earlier: another stone is taken up instead. The last one again is put down.
  function restart(spot) {
    const tokens = spot.dataset.token.split(" ");
    const [kept, before] = [said, { verb, held }];
    if (alive().some((entry) => entry.items) && said.includes(tokens[0])) {
      said = said.filter((_, at) => at !== kept.lastIndexOf(tokens[0]));
      return true;
    }
    const again = chosen(spot) && said.at(-1) === tokens.at(-1);
    held = null;
    for (let length = kept.length - 1; length >= 0; length -= 1) {
      said = kept.slice(0, length);
      if (again) return true;
      const found = offered(spot);
      if (found) {
        take(found);
        return true;
      }
    }
    if (!kept.length && (verb !== null || before.held !== null)) {
      verb = null;
      const found = offered(spot);
      if (found && !chosen(spot)) take(found);
      return true;
    }
    [said, verb, held] = [kept, before.verb, before.held];
    return false;
  }

  // Where only one thing can follow, it need not be chosen; what was touched early waits for what comes before it.
  function hurry() {
    for (;;) {
      const living = alive();
      const rest = unique(living.flatMap((entry) => following(entry, said, held)));
      if (held !== null && rest.length && !living.some((entry) => whole(entry, said))) {
        const row = rows(living[0], said, held)[0];
        [said, held] = [row.slice(0, row.indexOf(held, said.length) + 1), null];
        continue;
      }
      if (!said.length || rest.length !== 1 || living.some((entry) => entry.items || whole(entry, said))) return;
      said = [...said, rest[0]];
    }
  }

  // A ghost lies down as it lay before where that fits, and otherwise as it first may.
  function lie() {
    const entry = shadow();
    if (!entry || said.length !== 1) return;
    const ways = following(entry, said);
    said = [said[0], ways.includes(turned) ? turned : ways[0]];
  }

  function turn() {
    const ways = following(shadow(), said.slice(0, 1));
    turned = ways[(ways.indexOf(said[1]) + 1) % ways.length];
    said = [said[0], turned];
  }

  function draw() {
    const found = new Map(spots.map((spot) => [spot, offered(spot)]));
    for (const spot of spots) mark(spot, found.get(spot), chosen(spot));
    const living = alive();
    const ready = complete();
    const something = said.length > 0 || verb !== null || held !== null || first !== null;
    made.hidden = !something;
    what.hidden = something;
    again.hidden = !something;
    const own = first && !said.length && verb === null ? "" : unique(living.map(sentence)).join(" / ");
    made.textContent = something ? [first?.made, own].filter(Boolean).join("; ") : "";
    const open = living.some((entry) => following(entry, said, held).some((token) => drawn.has(token) || joined.size));
    if (!something) what.textContent = [unique(menu.map((entry) => labels[entry.verb].verb)).join(" · "), open ? words.touch : ""].filter(Boolean).join(". ");
    next.replaceChildren(...buttons(living, ready));
    confirm.hidden = ready.length !== 1 && !first;
    confirm.textContent = ready.length === 1 && living.length > 1 && !first ? labels[ready[0].verb].verb : words.whole;
    const move = ready.length === 1 ? [ready[0].verb, ...said].join(" ") : "";
    form.elements.move.value = first ? first.move : move;
    form.dataset.then = first ? move : "";
    form.dataset.said = [first ? "" : verb ?? "", ...(first ?? { said }).said].join(" ");
    layGhost();
    scene.frame(spots.filter((spot) => spot.ownerSVGElement && spot.classList.contains("lit") && !first?.spots.includes(spot)));
    size();
  }

  // What has no place on the board or in the tray, and whole moves where there are several.
  function buttons(living, ready) {
    if (shadow()) return [turning(following(shadow(), said.slice(0, 1)))].flat();
    const rest = living.filter((entry) => said.length || verb !== null || !entry.options?.some((args) => !args.length));
    const bare = said.length || verb !== null ? [] : menu.filter((entry) => entry.options?.some((args) => !args.length) && !drawn.has(entry.verb));
    const steps = unique(rest.flatMap((entry) => following(entry, said, held))).filter((token) => !drawn.has(token) && ![...joined].some((one) => one.split(" ").at(-1) === token || (!said.length && one.startsWith(`${token} `))));
    const wholes = ready.length > 1 ? ready.map(wholeMove) : [];
    return [
      ...(first && ghost ? [turning(following(first.menu.find((entry) => entry.verb === ghost.dataset.ghost), first.said.slice(0, 1)))].flat() : []),
      ...steps.map((token) => button(label(living.find((entry) => following(entry, said, held).includes(token)), token), () => { take({ said: [...said, token] }); settle(); }, token)),
      ...bare.map((entry) => button(labels[entry.verb].verb, () => { take({ verb: entry.verb, said: [] }); settle(); }, entry.verb)),
      ...wholes,
    ];
  }

  function turning(ways) {
    if (ways.length < 2) return [];
    return button(`⟳ ${words.turn}`, () => {
      if (first) back();
      turn();
      settle();
    });
  }

  function button(text, then, token = "") {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    if (token) made.dataset.say = token;
    made.addEventListener("click", then);
    return made;
  }

  function wholeMove(entry) {
    const made = button(sentence(entry), () => {
      form.elements.move.value = [entry.verb, ...said].join(" ");
    });
    made.type = "submit";
    made.className = "main";
    made.dataset.whole = entry.verb;
    return made;
  }

  function layGhost() {
    if (!ghost) return;
    const lies = first ? first.said : shadow() ? said : [];
    const place = lies.length && spots.find((spot) => spot.dataset.token === lies[0]);
    ghost.setAttribute("display", place ? "inline" : "none");
    if (place) ghost.setAttribute("transform", `${place.getAttribute("transform")} rotate(${lies[1] ?? 0})`);
  }

  function nameOf(spot) {
    if (spot.dataset.name) return spot.dataset.name;
    const token = spot.dataset.token.split(" ").at(-1);
    const entry = menu.find((one) => labels[one.verb].tokens[token] !== undefined);
    const place = entry ? label(entry, token) : (labels[token]?.verb ?? token);
    return spot.dataset.what ? `${spot.dataset.what}, ${place}` : place;
  }

  function mark(spot, reachable, taken) {
    spot.classList.toggle("lit", Boolean(reachable) || (taken && shadow() !== undefined && spot.dataset.token === said[0]));
    spot.classList.toggle("chosen", taken);
    spot.setAttribute("role", "button");
    spot.setAttribute("aria-disabled", String(!reachable && !taken));
    spot.setAttribute("aria-pressed", String(taken));
    spot.setAttribute("aria-label", [nameOf(spot), taken ? words.chosen : reachable ? words.can : ""].filter(Boolean).join(", "));
    if (reachable || taken) spot.setAttribute("tabindex", "0");
    else spot.removeAttribute("tabindex");
    if (spot.ownerSVGElement) ring(spot, reachable || taken);
  }

  // A glow or a ring like the spot's own outline, which is its first child, and the area that can be touched.
  function ring(spot, live) {
    for (const old of spot.querySelectorAll(":scope > .halo, :scope > .hit")) old.remove();
    if (!live) return;
    const outline = spot.firstElementChild;
    for (const name of ["halo wide", "halo under", "halo"]) {
      const copy = outline.cloneNode();
      for (const part of ["id", "style", "fill", "stroke", "stroke-width", "stroke-dasharray", "fill-opacity", "opacity"]) copy.removeAttribute(part);
      copy.setAttribute("class", name);
      spot.append(copy);
    }
    const hit = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    hit.setAttribute("class", "hit");
    spot.append(hit);
  }

  // Hit areas keep their size on the screen while the world is zoomed.
  function size() {
    const wide = reach() / scene.scale();
    for (const hit of root.querySelectorAll(".stage .hit")) {
      const { x, y, width, height } = hit.parentNode.firstElementChild.getBBox();
      hit.parentNode.classList.toggle("small", Math.min(width, height) * scene.scale() < 40);
      const [own, tall] = [Math.max(wide, width), Math.max(wide, height)];
      for (const [name, value] of Object.entries({ x: x + (width - own) / 2, y: y + (height - tall) / 2, width: own, height: tall })) hit.setAttribute(name, value.toFixed(1));
    }
  }

  // What a touch means: of the things that can be chosen and are touched the nearest; where two are too near, a closer look.
  // What a move to come would choose lies upon the world, and is meant before what lies under it.
  function touched(event) {
    if (!event.target.closest("[data-stage]")) return event.target.closest("[data-token]");
    const all = spots.filter((spot) => spot.ownerSVGElement && spot.matches(".lit, .chosen")).flatMap((spot) => {
      const { left, right, top, bottom } = spot.querySelector(":scope > .hit").getBoundingClientRect();
      const hit = left <= event.clientX && event.clientX <= right && top <= event.clientY && event.clientY <= bottom;
      return hit ? [{ spot, far: Math.hypot(event.clientX - (left + right) / 2, event.clientY - (top + bottom) / 2) }] : [];
    });
    all.sort((one, other) => one.far - other.far);
    const upon = all.filter(({ spot }) => first && !first.spots.includes(spot));
    const near = upon.length ? upon : all;
    if (near.length > 1 && near[1].far - near[0].far < reach() / 3) {
      const far = apart(near[0].spot, near[1].spot);
      if (far < reach() / 2 && scene.zoom(Math.max(2, reach() / 2 / far), event.clientX, event.clientY, true)) return null;
    }
    return near[0]?.spot ?? event.target.closest("[data-token]");
  }

  function apart(one, other) {
    const [a, b] = [one, other].map((spot) => spot.getBoundingClientRect());
    return Math.hypot(a.left + a.width / 2 - b.left - b.width / 2, a.top + a.height / 2 - b.top - b.height / 2);
  }

  function clicked(event) {
    if (root.classList.contains("filming")) return;
    if (scene.dragged() && event.target.closest("[data-stage]")) return;
    const spot = touched(event);
    if (spot) choose(spot);
  }

  function pressed(event) {
    if (root.classList.contains("filming")) return;
    if (event.key === "Escape" && !event.target.matches("input, textarea")) over();
    const spot = document.activeElement?.closest?.("[data-token][tabindex]");
    if (!spot) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose(spot);
      onward(spot);
    } else if (event.key.startsWith("Arrow") && !event.shiftKey) {
      event.preventDefault();
      beside(spot, event.key)?.focus();
    }
  }

  // The focus goes to what was just offered, or to the button that sends the move.
  function onward(spot) {
    if (!confirm.hidden && !next.childElementCount) return confirm.focus();
    const lit = spots.filter((one) => one.classList.contains("lit") && one !== spot);
    (lit.length ? spot : next.querySelector("button") ?? spot).focus();
  }

  // The nearest thing that can be chosen in this direction, as one sees it.
  function beside(spot, key) {
    const [right, down] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    const centre = (one) => {
      const { left, top, width, height } = one.getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    };
    const [x, y] = centre(spot);
    const ways = spots.filter((one) => one !== spot && one.hasAttribute("tabindex")).map((one) => {
      const [left, top] = centre(one);
      const [along, across] = [(left - x) * right + (top - y) * down, Math.abs((left - x) * down) + Math.abs((top - y) * right)];
      return { one, along, far: along + 2 * across };
    });
    return ways.filter(({ along }) => along > 1).sort((a, b) => a.far - b.far)[0]?.one;
  }

  function over() {
    if (first) back();
    [said, verb, held] = [[], null, null];
    draw();
  }

  const leaving = new AbortController();
  root.addEventListener("click", clicked, { signal: leaving.signal });
  document.addEventListener("keydown", pressed, { signal: leaving.signal });
  again.addEventListener("click", over, { signal: leaving.signal });
  draw();

  return {
    begun: () => said.length > 0 || verb !== null || first !== null,
    state: () => ({ verb: (first ?? { verb }).verb, said: (first ?? { said }).said, held: first ? null : held }),
    resume(old) {
      if (!menu.some((entry) => (old.verb === null || entry.verb === old.verb) && fits(entry, old.said, old.held))) return;
      ({ verb, said, held } = old);
      show();
    },
    over,
    size,
    leave: () => leaving.abort(),
  };
}
