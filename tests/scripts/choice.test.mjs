// The state machine of a choice, played on the menus of all four games: what is lit can follow, what follows can be
// reached, and each whole move of a menu can be made.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  chain,
  findNextTokens,
  isBegun,
  offers,
  press,
  reset,
  resume,
  save,
  start,
  touch,
} from "../../templates/static/choice.js";
import { begin, isPossible, makeMove, menus, movesOf, wholeVerbs } from "./hand.mjs";

const MOST_MOVES = 24; // of one menu, spread evenly
const TOUCHES = 30; // of one menu, at random

const sample = (list, most) => list.filter((_, at) => at % Math.ceil(list.length / most) === 0);
const words = ({ verb, tokens, early }) => [verb, ...tokens, early].filter((one) => one !== null);
const text = (state) => JSON.stringify([state.verb, state.tokens, state.early]);

/** Numbers from 0 to 1 that are the same in every run. */
function* chances(seed) {
  for (let value = seed; ; ) {
    value = (value * 1103515245 + 12345) % 2 ** 31;
    yield value / 2 ** 31;
  }
}

const known = new Map();

/** All states that are passed on the way to the moves of a menu, each once. */
function statesOf(one) {
  if (!known.has(one)) known.set(one, findStates(one));
  return known.get(one);
}

function findStates(one) {
  const states = new Map();
  for (const move of sample(movesOf(one.menu), MOST_MOVES)) {
    for (const state of makeMove(begin(one), move)) states.set(text(state), state);
  }
  return [...states.values()];
}

/** What is offered in a state, held to the rows of the menu. */
function checkState(menu, state) {
  const { marks, buttons, complete, moves } = offers(state);
  const own = wholeVerbs(menu, state);
  assert.deepEqual(
    complete.map((entry) => entry.verb),
    own,
  );
  assert.equal(moves.at(-1), own.length === 1 ? [own[0], ...state.tokens].join(" ") : "");
  const wholes = buttons.filter(({ kind }) => kind === "move").map(({ verb }) => verb);
  assert.deepEqual(wholes, own.length > 1 ? own : [], "only where there are several whole moves each has a button");
  for (const spot of state.spots) checkSpot(menu, state, spot, marks);
  for (const button of buttons.filter(({ kind }) => kind !== "move" && !(state.first && kind === "turn"))) {
    const next = press(state, button);
    assert.ok(
      isPossible(menu, next) && text(next) !== text(state),
      `${JSON.stringify(button)} leads nowhere from ${text(state)}`,
    );
    assert.ok(
      button.kind === "turn" || words(next).includes(button.token || button.verb),
      `${JSON.stringify(button)} is not chosen`,
    );
  }
}

function checkSpot(menu, state, spot, marks) {
  const { lit, chosen } = marks.get(spot);
  const next = touch(state, spot);
  const at = `“${spot.token}” after ${text(state)}`;
  assert.equal(chosen, isChosen(state, spot), `${at} is marked as chosen: ${chosen}`);
  assert.ok(isPossible(menu, next), `${at} leads to ${text(next)}, which is no move`);
  if (lit) {
    assert.equal(next.refused, null, `${at} is lit and refused`);
    assert.ok(isOn(next, spot), `${at} is lit and does not follow: ${text(next)}`);
    assert.ok(chosen || extends_(state, next), `${at} is lit and follows something else: ${text(next)}`);
  } else if (!chosen) {
    const isReached = state.spots.some((one) => one.token.startsWith(`${spot.token} `) && marks.get(one).lit);
    assert.ok(!follows(menu, state, spot.token.split(" ")) || isReached, `${at} follows and is not lit`);
  }
}

/** Whether these tokens can come next; the first of them may be chosen already. */
const follows = (menu, state, tokens) =>
  tokens.some((_, cut) => {
    const joins = !cut || state.tokens.slice(-cut).join(" ") === tokens.slice(0, cut).join(" ");
    return joins && isPossible(menu, { ...state, tokens: [...state.tokens, ...tokens.slice(cut)] });
  });

/** Whether all words of a spot are chosen, one after the other; a verb alone as long as nothing follows it. */
function isChosen({ verb, tokens, early }, { token }) {
  const chosen = [...tokens, early].filter((one) => one !== null);
  const isSaid = chosen.some((_, at) => chosen.slice(at, at + token.split(" ").length).join(" ") === token);
  return isSaid || (!tokens.length && verb === token);
}

/** Whether a spot is part of what is chosen. */
const isOn = (state, spot) => ` ${words(state).join(" ")} `.includes(` ${spot.token.split(" ").at(-1)} `);
const extends_ = (state, next) => state.tokens.every((token, at) => next.tokens[at] === token);

test("the menus are those of all four games, with ghosts, early spots and second moves", () => {
  const games = new Set(menus.map((one) => one.case.split("-")[0]));
  assert.deepEqual([...games].sort(), ["carcassonne", "kaiser", "kurier", "turfmaster"]);
  assert.ok(menus.some((one) => one.ghost));
  assert.ok(menus.some((one) => one.spots.some((spot) => spot.early)));
  assert.ok(menus.some((one) => one.spots.some((spot) => spot.token.includes(" "))));
  assert.ok(menus.some((one) => one.next));
});

test("each whole move of a menu can be made; on the way what is lit follows, and what follows can be reached", () => {
  for (const one of menus) for (const state of statesOf(one)) checkState(one.menu, state);
});

test("whatever is touched, what is chosen can still become a move, or the touch is refused", () => {
  for (const [number, one] of menus.entries()) {
    const random = chances(number + 1);
    let state = begin(one);
    for (let touches = 0; touches < TOUCHES && one.spots.length; touches += 1) {
      const spot = one.spots[Math.floor(random.next().value * one.spots.length)];
      const next = touch(state, spot);
      if (next.refused) assert.deepEqual({ ...next, refused: null }, { ...state, refused: null });
      checkState(one.menu, next);
      state = next;
    }
  }
});

test("a second move without tokens is made by its button, which sends both; then nothing else confirms", () => {
  const labels = {};
  const first = touch(start({ menu: [{ verb: "place", options: [["a"]] }], labels }, [{ token: "a" }]), { token: "a" });
  const figures = { verb: "figure", options: [["meeple"]] };
  const second = chain(first, { menu: [figures, { verb: "pass", options: [[]] }], labels }, [{ token: "meeple" }]);
  const { buttons, canConfirm } = offers(second);
  assert.deepEqual(buttons, [{ kind: "end", verb: "pass", token: "" }]);
  assert.equal(canConfirm, false);
  assert.deepEqual(offers(press(second, buttons[0])).moves, ["place a", "pass"]);
  assert.equal(offers(touch(second, second.spots[0])).canConfirm, true);
  assert.equal(offers(chain(first, { menu: [figures], labels }, second.spots)).canConfirm, true);
});

test("what was chosen last is given up by touching it again", () => {
  const state = start(
    {
      menu: [
        {
          verb: "move",
          options: [
            ["A1", "B1"],
            ["A1", "B2"],
            ["A2", "B1"],
          ],
        },
      ],
      labels: {},
    },
    spotsOf("A1", "A2", "B1", "B2"),
  );
  const [a1, a2, b1, b2] = state.spots;
  const begun = touch(state, a1);
  assert.deepEqual(touch(begun, a1).tokens, []);
  assert.deepEqual(
    touch(begun, a2).tokens,
    ["A2", "B1"],
    "another one takes its place, and the only end of it is added",
  );
  assert.deepEqual(touch(touch(begun, b1), b2).tokens, ["A1", "B2"]);
  assert.equal(touch(state, b2).refused, b2);
  const other = { token: "C1" };
  assert.deepEqual([touch(begun, other).refused, touch(begun, other).tokens], [other, ["A1"]], "it is in no move");
  assert.deepEqual(
    litTokens(begun),
    ["A2", "B1", "B2"].filter((token) => token !== "A2"),
  );
});

test("what is touched before its turn brings along what comes before it", () => {
  const menu = [
    {
      verb: "figure",
      options: [
        ["meeple", "road"],
        ["meeple", "city"],
        ["abbot", "city"],
      ],
    },
    { verb: "pass", options: [[]] },
  ];
  const state = start({ menu, labels: {} }, [
    { token: "road", early: true },
    { token: "city", early: true },
    ...spotsOf("meeple", "abbot"),
  ]);
  const [road] = state.spots;
  assert.deepEqual(litTokens(state), ["road", "city", "meeple", "abbot"]);
  assert.equal(offers(touch(state, road)).moves[0], "figure meeple road");
  assert.deepEqual(offers(state).buttons, [{ kind: "verb", verb: "pass", token: "" }]);
});

test("what is touched before its turn waits while the move may also end before it", () => {
  const rows = [[], ["meeple", "road"], ["abbot", "road"], ["abbot", "city"]];
  const spots = [{ token: "road", early: true }, ...spotsOf("meeple", "abbot")];
  const state = start({ menu: [{ verb: "figure", options: rows }], labels: {} }, spots);
  const [road, , abbot] = spots;
  const waiting = touch(press(state, offers(state).buttons[0]), road);
  assert.deepEqual([waiting.tokens, waiting.early, offers(waiting).moves], [[], "road", [""]]);
  assert.deepEqual([litTokens(waiting), offers(waiting).marks.get(road).chosen], [["meeple", "abbot"], true]);
  assert.deepEqual([touch(waiting, abbot).tokens, touch(waiting, abbot).early], [["abbot", "road"], null]);
});

test("a ghost lies as it first fits, is turned by a touch, and lies the same way at the next place", () => {
  const menu = [
    {
      verb: "place",
      options: [
        ["a", "0"],
        ["a", "90"],
        ["b", "0"],
        ["b", "90"],
        ["c", "180"],
      ],
    },
  ];
  const state = start({ menu, labels: {} }, spotsOf("a", "b", "c"), "place");
  const [a, b, c] = state.spots;
  const turned = touch(touch(state, a), a);
  assert.deepEqual(
    [touch(state, a).tokens, turned.tokens, touch(turned, b).tokens],
    [
      ["a", "0"],
      ["a", "90"],
      ["b", "90"],
    ],
  );
  assert.deepEqual(touch(turned, c).tokens, ["c", "180"]);
  assert.deepEqual(offers(turned).ghost, ["a", "90"]);
  assert.deepEqual(
    offers(turned).buttons.map((button) => button.kind),
    ["turn"],
  );
  assert.deepEqual(litTokens(turned), ["a"], "another place is touched without being lit");
  assert.deepEqual(offers(touch(turned, c)).buttons, []);
  assert.equal(offers(turned).isFinal, false, "it may still be turned");
});

test("where what is chosen means several moves each has a button, and neither is sent by itself", () => {
  const menu = [
    { verb: "walk", options: [["A1"]] },
    { verb: "run", options: [["A1"]] },
  ];
  const state = touch(start({ menu, labels: {} }, spotsOf("A1")), { token: "A1" });
  assert.deepEqual(
    offers(state).buttons.map(({ kind, verb }) => [kind, verb]),
    [
      ["move", "walk"],
      ["move", "run"],
    ],
  );
  assert.deepEqual([offers(state).moves, offers(state).isFinal], [[""], false]);
});

test("items are ticked in any order, as often as they are there, and given up one by one", () => {
  const state = start(
    { menu: [{ verb: "drop", items: ["3", "7", "7"], least: 2, most: 2 }], labels: {} },
    spotsOf("3", "7"),
  );
  const [three, seven] = state.spots;
  const one = touch(state, seven);
  assert.equal(offers(one).moves[0], "");
  assert.equal(offers(touch(one, three)).moves[0], "drop 7 3");
  assert.deepEqual(touch(one, seven).tokens, ["7", "7"]);
  assert.deepEqual(touch(touch(state, three), three).tokens, []);
});

test("a move that can mean nothing else is final, and no other", () => {
  const menu = [
    { verb: "walk", options: [["A1"], ["A2"], ["A2", "A3"]] },
    { verb: "run", options: [["A1", "A3"]] },
    { verb: "jump", options: [["A3"]] },
  ];
  const state = start({ menu, labels: {} }, spotsOf("A1", "A2", "A3"));
  const isFinal = (...words) => offers(start(state, state.spots, null, words)).isFinal;
  assert.equal(offers(state).isFinal, false, "nothing is chosen");
  assert.equal(isFinal("jump", "A3"), true);
  assert.equal(isFinal("walk", "A2"), false, "it may go on");
  const [a1, , a3] = state.spots;
  assert.deepEqual([touch(state, a1).tokens, offers(touch(state, a1)).isFinal], [["A1"], false], "it may be a run");
  assert.deepEqual([offers(touch(state, a3)).moves, offers(touch(state, a3)).isFinal], [["jump A3"], true]);
});

test("a verb may be touched or pressed first, and then only its own moves follow", () => {
  const menu = [
    { verb: "wait", options: [[], ["A1"], ["A3"]] },
    { verb: "go", options: [["A1"], ["A2"]] },
    { verb: "bid", number: true, least: 1, most: 9 },
  ];
  const state = start({ menu, labels: {} }, spotsOf("go", "A1"));
  const [go, a1] = state.spots;
  assert.deepEqual(litTokens(state), ["go", "A1"]);
  const tokens = (one) => offers(one).buttons.map((button) => button.token || button.verb);
  assert.deepEqual(tokens(state), ["A2", "wait"]);
  const going = touch(state, go);
  assert.deepEqual([going.verb, going.tokens, isBegun(going)], ["go", [], true]);
  assert.deepEqual(offers(going).marks.get(go), { lit: false, chosen: true });
  assert.deepEqual([litTokens(going), tokens(going)], [["A1"], ["A2"]]);
  assert.equal(offers(touch(going, a1)).moves[0], "go A1");
  const [, wait] = offers(state).buttons;
  assert.deepEqual(offers(press(state, wait)).moves, ["wait"]);
  assert.deepEqual([litTokens(press(state, wait)), tokens(press(state, wait))], [["A1"], ["A3"]]);
  assert.equal(offers(start({ menu: [menu[2]], labels: {} }, [], null, ["bid"])).moves[0], "", "a number needs a form");
});

test("a spot with several tokens says them together, and none of them alone", () => {
  const menu = [{ verb: "take", options: [["A", "x"], ["A", "y"], ["B", "x"], ["C"]] }];
  const state = start({ menu, labels: {} }, spotsOf("A x", "A y", "B x", "A", "C"));
  const [ax, ay, bx, a, c] = state.spots;
  assert.deepEqual(litTokens(state), ["A x", "A y", "B x", "C"], "A means nothing by itself");
  assert.deepEqual(offers(state).buttons, []);
  const taken = touch(state, ax);
  assert.deepEqual(taken.tokens, ["A", "x"]);
  assert.deepEqual(
    [touch(taken, bx).tokens, touch(taken, ay).tokens],
    [
      ["B", "x"],
      ["A", "y"],
    ],
  );
  assert.deepEqual(touch(taken, c).tokens, ["C"]);
  assert.equal(touch(state, a).refused, a);
});

test("the ghost of the first of two moves is not that of the second", () => {
  const offer = {
    menu: [
      {
        verb: "place",
        options: [
          ["a", "0"],
          ["a", "90"],
        ],
      },
    ],
    labels: {},
  };
  const first = touch(start(offer, spotsOf("a"), "place"), { token: "a" });
  const second = touch(chain(first, offer, spotsOf("a")), { token: "a" });
  assert.deepEqual(second.tokens, ["a"], "nothing is turned here");
  assert.deepEqual(offers(second).ghost, ["a", "0"], "it lies where the first move puts it");
});

test("a second move is put after the first, and touching the first one again returns to it", () => {
  for (const one of menus.filter(({ next }) => next)) {
    const first = makeMove(begin(one), one.move.split(" ")).at(-1);
    const { menu, spots } = one.next;
    const state = chain(first, { menu, labels: {} }, spots);
    assert.deepEqual(offers(state).moves, [one.move, ""]);
    for (const move of sample(movesOf(menu), 8)) {
      const states = makeMove(state, move);
      for (const each of states) checkState(menu, each);
      assert.equal(offers(states.at(-1)).moves[0], one.move);
    }
    for (const spot of one.spots) {
      assert.deepEqual(offers(state).marks.get(spot), offers(first).marks.get(spot));
      assert.deepEqual(touch(state, spot), touch(first, spot));
    }
    assert.deepEqual([reset(state).first, isBegun(reset(state))], [null, false]);
    assert.deepEqual(save(state), save(first));
  }
});

test("a choice is kept over a new page where its menu still allows it", () => {
  for (const one of menus) {
    for (const state of statesOf(one)) {
      assert.equal(text(resume(begin(one), save(state))), text(state));
      assert.equal(isBegun(reset(state)), false);
    }
  }
  const other = start({ menu: [{ verb: "stay", options: [[]] }], labels: {} }, []);
  assert.equal(resume(other, { verb: "move", tokens: ["A1"], early: null }), other);
});

test("a move that a letter has begun is begun on the page", () => {
  for (const one of menus) {
    for (const [verb, ...tokens] of sample(movesOf(one.menu), 5)) {
      const state = start({ menu: one.menu, labels: {} }, one.spots, one.ghost, [verb, ...tokens]);
      checkState(one.menu, state);
      if (tokens.length) assert.deepEqual(offers(state).moves, [[verb, ...tokens].join(" ")]);
      assert.deepEqual(findNextTokens({ ...state, verb: null, tokens: [] }), findNextTokens(begin(one)));
    }
  }
});

function spotsOf(...tokens) {
  return tokens.map((token) => ({ token }));
}

function litTokens(state) {
  const { marks } = offers(state);
  return state.spots.filter((spot) => marks.get(spot).lit).map((spot) => spot.token);
}
