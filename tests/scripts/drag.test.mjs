// Dragging is touching twice: what can be picked up, and what putting it down chooses.

import assert from "node:assert/strict";
import test from "node:test";
import { offers, start, touch } from "../../templates/static/choice.js";
import { isFar, pickUp, putDown } from "../../templates/static/drag.js";

const LABELS = { move: { verb: "Move", tokens: {} }, place: { verb: "Place", tokens: {} } };
const make = (menu, tokens, ghost = null) => {
  const spots = tokens.map((token) => ({ token }));
  return { state: start({ menu, labels: LABELS }, spots, ghost), spots };
};
const MOVES = [
  {
    verb: "move",
    options: [
      ["A1", "A2"],
      ["A1", "A3"],
      ["B1", "A3"],
    ],
  },
];
const TILES = [
  {
    verb: "place",
    options: [
      ["1,0", "0"],
      ["1,0", "90"],
      ["0,1", "90"],
    ],
  },
];

test("a pointer drags when it is far enough from where it was pressed", () => {
  assert.equal(isFar({ x: 0, y: 0 }, { x: 5, y: 4 }), false);
  assert.equal(isFar({ x: 0, y: 0 }, { x: 5, y: 6 }), true);
});

test("a piece that is dragged to a place is the same choice as two touches", () => {
  const { state, spots } = make(MOVES, ["A1", "A2", "A3", "B1", "C9"]);
  const held = pickUp(state, spots[0]);
  const moved = putDown(state, held, spots[0], spots[1]);
  assert.deepEqual(offers(moved).moves, ["move A1 A2"]);
  assert.deepEqual(moved.tokens, touch(touch(state, spots[0]), spots[1]).tokens);
});

test("what is let go beside all places, or where it was, is as before; a place that cannot be says so", () => {
  const { state, spots } = make(MOVES, ["A1", "A2", "A3", "B1", "C9"]);
  const held = pickUp(state, spots[0]);
  assert.equal(putDown(state, held, spots[0], null), state);
  assert.equal(putDown(state, held, spots[0], spots[0]), state);
  const refused = putDown(state, held, spots[0], spots[4]);
  assert.deepEqual([refused.refused, refused.tokens], [spots[4], []]);
});

test("a piece that is moved already is dragged on from where it was put, or from where it came", () => {
  const { state, spots } = make(MOVES, ["A1", "A2", "A3", "B1", "C9"]);
  const moved = touch(touch(state, spots[0]), spots[1]);
  for (const from of [spots[0], spots[1]]) {
    const again = putDown(moved, pickUp(moved, from), from, spots[2]);
    assert.deepEqual(offers(again).moves, ["move A1 A3"]);
  }
});

test("what leads nowhere cannot be picked up", () => {
  const { state, spots } = make(MOVES, ["A1", "A2", "A3", "B1", "C9"]);
  for (const spot of [spots[1], spots[4]]) assert.equal(pickUp(state, spot), null);
  assert.equal(pickUp(touch(state, spots[0]), spots[2]), null);
});

test("a piece with one place to go to is put there", () => {
  const { state, spots } = make(MOVES, ["A1", "A2", "A3", "B1", "C9"]);
  const moved = putDown(state, pickUp(state, spots[3]), spots[3], spots[2]);
  assert.deepEqual(offers(moved).moves, ["move B1 A3"]);
});

test("a tile is dragged from the tray to a cell, and from there to another one", () => {
  const { state, spots } = make(TILES, ["1,0", "0,1"], "place");
  const laid = putDown(state, pickUp(state, null), null, spots[0]);
  assert.deepEqual(offers(laid).moves, ["place 1,0 0"]);
  const moved = putDown(laid, pickUp(laid, spots[0]), spots[0], spots[1]);
  assert.deepEqual(offers(moved).moves, ["place 0,1 90"]);
});
