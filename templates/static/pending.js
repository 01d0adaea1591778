// A move on the board before its verdict: its piece lies where it goes, paler, until the answer draws the world anew.

const CLOSE_PX = 4; // between a piece and the spot that it is on

/** @param {Element | null} one */
const findMiddle = (one) => {
  const { left, top, width, height } = (one ?? document.body).getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2 };
};

/**
 * Move the piece of a move from the first of its places to the last one; return what takes that back.
 * @param {Element} world @param {string} move @returns {() => void}
 */
export function showPending(world, move) {
  const [, from = "", ...rest] = move.split(" ");
  const [start, end] = [from, rest.at(-1) ?? ""].map((token) =>
    world.querySelector(`[data-token="${CSS.escape(token)}"]`),
  );
  const goal = end?.getAttribute("transform");
  const middle = findMiddle(start);
  const piece = [...world.querySelectorAll(".piece")].find((one) => {
    const { x, y } = findMiddle(one);
    return Math.hypot(x - middle.x, y - middle.y) < CLOSE_PX;
  });
  const place = piece?.getAttribute("transform");
  if (!start || !goal || !piece || !place) return () => {};
  piece.setAttribute("transform", goal);
  piece.classList.add("pending");
  return () => {
    piece.setAttribute("transform", place);
    piece.classList.remove("pending");
  };
}
