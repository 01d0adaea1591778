// A choice in words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { chain, offers, start, touch } from "../../templates/static/choice.js";
import {
  describeChoice,
  describeMenu,
  explainRefusal,
  labelButton,
  labelConfirm,
  nameSpot,
} from "../../templates/static/choice-text.js";

const WORDS = {
  touch: "Touch a glowing place.",
  colon: ":",
  whole: "Confirm",
  turn: "Turn",
  can: "can be chosen",
  chosen: "chosen",
  not: { never: "Never.", later: "Later.", other: "Other." },
};
const LABELS = {
  move: { verb: "Move", tokens: { A1: "field 1", B1: "home 1", B2: "home 2" } },
  place: { verb: "Lay the tile", tokens: { a: "north" } },
  pass: { verb: "Pass", tokens: {} },
};
const MENU = [
  {
    verb: "move",
    options: [
      ["A1", "B1"],
      ["A1", "B2"],
    ],
  },
  {
    verb: "place",
    options: [
      ["a", "0"],
      ["a", "90"],
    ],
  },
  { verb: "pass", options: [[]] },
];
const SPOTS = ["A1", "B1", "B2", "a"].map((token) => ({ token }));

const begin = () => start({ menu: MENU, labels: LABELS, rules: { move: "3.1" } }, SPOTS, "place");
const [a1, b1, , a] = SPOTS;

test("before a touch the page says what can be done", () => {
  assert.equal(describeChoice(begin(), WORDS), "");
  assert.equal(describeMenu(begin(), WORDS), "Move · Lay the tile · Pass. Touch a glowing place.");
  const pass = start({ menu: [MENU[2]], labels: LABELS }, []);
  assert.equal(describeMenu(pass, WORDS), "Pass");
});

test("what is chosen is said word by word, and a ghost by its verb alone", () => {
  const state = touch(begin(), a1);
  assert.equal(describeChoice(state, WORDS), "Move: field 1");
  assert.equal(describeChoice(touch(state, b1), WORDS), "Move: field 1 → home 1");
  assert.equal(describeChoice(touch(begin(), a), WORDS), "Lay the tile");
});

test("of two moves the first is said before the second", () => {
  const first = touch(begin(), a);
  const second = chain(first, { menu: [MENU[0]], labels: LABELS }, [{ token: "A1" }]);
  assert.equal(describeChoice(second, WORDS), "Lay the tile; Move\u00a0…");
  assert.equal(describeChoice(touch(second, second.spots[0]), WORDS), "Lay the tile; Move: field 1");
  assert.equal(labelConfirm(second, offers(second).complete, WORDS), "Confirm");
});

test("buttons and spots are called by the words of the menu, with what lies there", () => {
  const [pass] = offers(begin()).buttons;
  assert.equal(labelButton(begin(), pass, WORDS), "Pass");
  assert.equal(labelButton(touch(begin(), a), { kind: "turn", verb: "place", token: "" }, WORDS), "⟳ Turn");
  assert.equal(labelButton(begin(), { kind: "token", verb: "move", token: "B2" }, WORDS), "home 2");
  assert.equal(nameSpot(begin(), "A1 B2", "King of Anna"), "King of Anna, home 2");
  assert.equal(nameSpot(begin(), "pass"), "Pass");
});

test("a whole move that could be the beginning of another is sent by its verb", () => {
  const menu = [
    { verb: "walk", options: [["A1"]] },
    { verb: "run", options: [["A1", "B1"]] },
  ];
  const labels = { walk: { verb: "Walk", tokens: {} }, run: { verb: "Run", tokens: {} } };
  const state = touch(start({ menu, labels }, [a1, b1]), a1);
  assert.equal(labelConfirm(state, offers(state).complete, WORDS), "Walk");
  assert.equal(describeChoice(state, WORDS), "Walk: A1 / Run: A1");
  const whole = touch(state, b1);
  assert.equal(labelConfirm(whole, offers(whole).complete, WORDS), "Confirm");
});

test("where what is chosen means several moves, each button says its own", () => {
  const menu = [
    { verb: "walk", options: [["A1"]] },
    { verb: "run", options: [["A1"]] },
  ];
  const labels = { walk: { verb: "Walk", tokens: { A1: "to the well" } }, run: { verb: "Run", tokens: {} } };
  const state = touch(start({ menu, labels }, [a1]), a1);
  const texts = offers(state).buttons.map((button) => labelButton(state, button, WORDS));
  assert.deepEqual(texts, ["Walk: to the well", "Run: A1"]);
});

test("items are said with commas", () => {
  const state = start({ menu: [{ verb: "drop", items: ["3", "7"], least: 1, most: 2 }], labels: {} }, [], null, [
    "drop",
    "3",
    "7",
  ]);
  assert.equal(describeChoice(state, WORDS), "drop: 3, 7");
});

test("a refusal names the thing and the paragraph of the rules", () => {
  assert.deepEqual(explainRefusal(touch(begin(), b1), b1, WORDS), { text: "Later.", rule: "3.1" });
  assert.equal(explainRefusal(begin(), { token: "Z9" }, WORDS).text, "Never.");
  assert.equal(explainRefusal(touch(begin(), a), b1, WORDS).text, "Other.");
});
