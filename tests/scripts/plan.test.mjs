// Where the moves of a plan are on the board.

import assert from "node:assert/strict";
import { test } from "node:test";
import { layOut, spread } from "../../templates/static/plan.js";

const shift = { x: 0, y: 0 };
const piece = (x, y) => ({ x, y, moves: [""], gone: [], leaves: "", shift });

/** A line of places a to f, 100 units apart, with pieces on some of them. */
function draw(...names) {
  const places = new Map([..."abcdef"].map((name, index) => [name, { x: 100 * index, y: 0 }]));
  return { places, pieces: names.map((name) => piece(places.get(name).x, 0)), added: [] };
}

const entry = (number, move, more = {}) => ({ number, move, before: [], group: "", done: false, ...more });
const where = ({ own }) => own.map((step) => [step.piece, step.x]);

test("a move of a plan shows its piece where it goes, and its number there", () => {
  const [one] = layOut([entry("1", "move a c")], draw("b", "a"));
  assert.deepEqual(where(one), [[1, 200]]);
  assert.equal(one.at.x, 200);
});

test("moves that follow from each other move the same piece on", () => {
  const [, two] = layOut([entry("1", "move a c"), entry("2", "move c f")], draw("a"));
  assert.deepEqual(where(two), [[0, 500]]);
});

test("moves that exclude each other both start from where the piece is now", () => {
  const plan = layOut([entry("1", "move a c"), entry("2", "move a d")], draw("a"));
  assert.deepEqual(plan.map(where), [[[0, 200]], [[0, 300]]]);
});

test("a condition shows the moves of others before the own one, each branch for itself", () => {
  const given = { before: ["move f b"], group: "7" };
  const plan = layOut([entry("1", "move b c", given), entry("2", "move b d", { group: "8" })], draw("b", "f"));
  assert.deepEqual(
    plan[0].others.map(({ piece: one, x }) => [one, x]),
    [[1, 100]],
  );
  assert.deepEqual(where(plan[0]), [[1, 200]], "the piece that was captured is off the board");
  assert.deepEqual(where(plan[1]), [[0, 300]], "in the other branch nothing was captured");
});

test("a piece that a move takes off the board has the number of the move where it is now", () => {
  const board = draw("a", "b");
  board.pieces[1].gone = ["recall b"];
  const [one, two] = layOut([entry("1", "recall b"), entry("2", "move a b")], board);
  assert.deepEqual([one.at.x, one.own[0].turn], [100, "gone"]);
  assert.deepEqual(where(two), [[0, 100]]);
});

test("each seat moves and adds its own pieces, and the next horse of a seat rides after the first", () => {
  const board = draw("a", "b", "c");
  for (const [index, seat] of ["0", "1", "1"].entries()) Object.assign(board.pieces[index], { seat, moves: ["ride"] });
  board.added = ["0", "1"].map((seat) => ({ begin: "deploy lady", seat }));
  const rides = [entry("1", "ride d", { seat: "1" }), entry("2", "ride e", { seat: "1" })];
  const [one, two, three] = layOut([...rides, entry("3", "deploy lady f", { seat: "1" })], board);
  assert.deepEqual([one, two].map(where), [[[1, 300]], [[2, 400]]]);
  assert.deepEqual(
    three.own.map(({ added, x }) => [added, x]),
    [[1, 500]],
  );
});

test("a move that is done has its number where its piece went, and no ghost", () => {
  const [one] = layOut([entry("1", "move a c", { done: true })], draw("c"));
  assert.deepEqual([one.own, one.at.x], [[], 200]);
});

test("a move without a place on the board has no number there", () => {
  assert.equal(layOut([entry("1", "flip")], draw("a"))[0].at, null);
});

test("numbers at the same place are beside each other, whatever the zoom", () => {
  const points = [{ x: 0, y: 0 }, { x: 300, y: 0 }, null, { x: 1, y: 1 }];
  assert.deepEqual(spread(points, 1), [0, 0, 0, 26]);
  assert.deepEqual(spread([points[0], { x: 40, y: 0 }], 0.5), [0, 26]);
  assert.deepEqual(spread([points[0], { x: 40, y: 0 }], 2), [0, 0]);
});

test("the first tile of a plan is the one that is known, and later ones are not known yet", () => {
  const known = (begin) => ({ begin, seat: "0", once: "drawn" });
  const board = {
    ...draw(),
    added: [known("place a"), { begin: "place a" }, known("place b"), { begin: "place b" }],
  };
  const seats = [
    ["0", "0"],
    ["1", "0"],
  ];
  for (const [first, second] of seats) {
    const plan = layOut([entry("1", "place a 90", { seat: first }), entry("2", "place b 0", { seat: second })], board);
    const tiles = plan.map(({ own }) => own[0].added);
    assert.deepEqual(tiles, first === "0" ? [0, 3] : [1, 2]);
    assert.equal(plan[0].own[0].turn, "90");
  }
});

test("a figure on a tile that is not laid yet is a ghost on the ghost of that tile, in the colour of its seat", () => {
  const tiles = ["a", "d"].map((name) => ({ begin: `place ${name}` }));
  const figures = ["0", "1"].map((seat) => ({ begin: "figure meeple", seat, upon: "place" }));
  const board = { ...draw(), added: [...tiles, ...figures] };
  const of = (seat) => ({ seat, group: "7" });
  const given = { before: ["place a 0", "figure meeple road"] };
  const moves = [entry("1", "place d 90", { ...of("1"), ...given }), entry("2", "figure meeple city", of("1"))];
  const [tile, figure] = layOut(moves, board);
  assert.equal(tile.others.length, 1, "whose figure the other one is remains open");
  assert.deepEqual(
    figure.own.map(({ added, x }) => [added, x - tile.at.x]),
    [[3, 28]],
  );
  assert.equal(figure.at.x - tile.at.x, 28, "its number is there, too");
});
