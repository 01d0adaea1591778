// Where the pieces of a move are shown before its verdict.

import assert from "node:assert/strict";
import test from "node:test";
import { beginsWith, planMove } from "../../templates/static/pending.js";
import { menus, movesOf } from "./hand.mjs";

const NONE = { x: 0, y: 0 };
const piece = (x, y, how = {}) => ({ x, y, moves: [], gone: [], leaves: "", shift: NONE, ...how });
const drawing = (places, pieces = [], added = []) => ({ places: new Map(Object.entries(places)), pieces, added });

test("the piece on the first place goes to the last one", () => {
  const board = drawing({ A1: { x: 10, y: 20 }, A2: { x: 50, y: 60 } }, [piece(99, 99), piece(10, 20)]);
  assert.deepEqual(planMove("move A1 A2", board), [{ piece: 1, added: -1, x: 50, y: 60, turn: "" }]);
});

test("of two who leave an inn together each goes to its own room, and beside none in the palace", () => {
  const places = { Iwan: { x: 100, y: 100 }, "Iwan lady": { x: 61, y: 139 }, Olga: { x: 300, y: 0 } };
  const palace = { x: 500, y: 175, middle: true };
  const pieces = [
    piece(139, 61, { leaves: "Iwan" }),
    piece(61, 139, { leaves: "Iwan" }),
    piece(7, 7, { leaves: "Olga" }),
  ];
  const board = drawing({ ...places, palace }, pieces);
  const goings = planMove("travel Iwan lady Olga palace", board);
  assert.deepEqual(
    goings.map((one) => [one.piece, one.x, one.y]),
    [
      [1, 261, 39],
      [0, 500, 175],
    ],
  );
});

test("what a piece carries goes with it", () => {
  const places = { Iwan: { x: 100, y: 100 }, "Iwan lady": { x: 61, y: 139 }, Olga: { x: 300, y: 0 } };
  const dispatch = piece(78, 160, { shift: { x: 17, y: 21 } });
  const other = piece(400, 160, { shift: { x: 17, y: 21 } });
  const board = drawing(places, [other, piece(61, 139), dispatch]);
  const goings = planMove("travel Iwan lady Olga", board);
  assert.deepEqual(
    goings.map((one) => [one.piece, one.x, one.y]),
    [
      [1, 261, 39],
      [2, 278, 60],
    ],
  );
});

test("a piece that is moved by its verb goes to the place of the last words that have one", () => {
  const places = { A5: { x: 1, y: 2, turn: "90" }, "Olga lady": { x: 8, y: 9 }, Olga: { x: 5, y: 5 } };
  const horse = piece(40, 40, { moves: ["ride", "play"] });
  const dispatch = piece(3, 3, { moves: ["hand"], shift: { x: 17, y: 21 } });
  const board = drawing(places, [horse, dispatch]);
  assert.deepEqual(planMove("play J11 A5", board), [{ piece: 0, added: -1, x: 1, y: 2, turn: "90" }]);
  assert.deepEqual(planMove("hand Olga lady", board), [{ piece: 1, added: -1, x: 25, y: 30, turn: "" }]);
  assert.deepEqual(planMove("play J11 stay", board), []);
});

test("a new piece is put on the place of the move", () => {
  const board = drawing({ city: { x: 4, y: 5 } }, [], [{ begin: "figure large" }, { begin: "figure meeple" }]);
  assert.deepEqual(planMove("figure meeple city", board), [{ piece: -1, added: 1, x: 4, y: 5, turn: "" }]);
});

test("a new tile is turned as the move says", () => {
  const board = drawing({ "1,0": { x: 100, y: 0 } }, [], [{ begin: "place 1,0" }]);
  assert.deepEqual(planMove("place 1,0 270", board), [{ piece: -1, added: 0, x: 100, y: 0, turn: "270" }]);
});

test("a piece that is taken is off its place, and no other one", () => {
  const board = drawing({}, [piece(10, 20, { gone: ["capture A1"] }), piece(50, 60, { gone: ["capture A2"] })]);
  assert.deepEqual(planMove("capture A2", board), [{ piece: 1, added: -1, x: 50, y: 60, turn: "gone" }]);
  assert.deepEqual(planMove("capture nobody", board), []);
  assert.deepEqual(planMove("recall A2", board), []);
});

// These change nothing on the table: they let something be, or only points or money change hands.
const QUIET = new RegExp(
  [
    "^(decline|keep|lesson|pass|pay|stop|score|message perform|message points|message leave|builder rest)",
    " (later|nobody|none|nothing|nowhere|outside|remain|stay)$",
  ].join("|"),
);

test("each move of each game is seen before its verdict, where it is", () => {
  const unseen = new Set();
  for (const one of menus.flatMap((menu) => [menu, menu.next ?? []].flat())) {
    const { places, results } = one.drawing;
    const board = { ...one.drawing, places: new Map(Object.entries(places)) };
    for (const words of movesOf(one.menu)) {
      const move = words.join(" ");
      const [verb, ...tokens] = words;
      const steps = planMove(move, board);
      assert.ok(!steps.some(({ piece: from, added }) => board.added[added]?.start && from < 0), move);
      const isOnBoard = steps.length || results.some((begin) => beginsWith(move, begin)) || one.ghost === verb;
      const isInTray = tokens.some((token) => one.tray.includes(token));
      const namesPlace = tokens.some((token) => token in places);
      if (!isOnBoard && (namesPlace || !(isInTray || QUIET.test(move)))) unseen.add(`${one.case}: ${move}`);
    }
  }
  assert.deepEqual([...unseen], []);
});

test("a meeple comes from its quarter to the place that a box asks about", () => {
  const start = { x: 7, y: 7 };
  const added = [{ begin: "deploy meeple", at: { x: 50, y: 60 }, start }];
  const goings = planMove("deploy meeple", drawing({}, [piece(7, 7)], added));
  assert.deepEqual(goings, [{ piece: 0, added: 0, x: 50, y: 60, turn: "" }]);
});

test("a move takes off what it names, and what goes with that", () => {
  const gone = ["flock home"];
  const board = drawing({ grow: NONE }, [piece(1, 1, { gone }), piece(9, 9), piece(15, 9, { gone })]);
  assert.deepEqual(
    planMove("flock home", board).map((one) => [one.piece, one.turn]),
    [
      [0, "gone"],
      [2, "gone"],
    ],
  );
});

test("a move without places shows nothing", () => {
  for (const move of ["flip", "pass", "choose 7", "move A1", "", "travel Iwan"])
    assert.deepEqual(planMove(move, drawing({ Iwan: NONE }, [piece(0, 0)])), []);
});
