// Pieces glide from where they were to where they are. A piece is known by its kind, for equal ones are alike: those
// that stay are matched first, then each goes the shortest way. Points float from what moved last to the score.

import { reducedMotion } from "./device.js";

const TIME = 260;
const FLOAT = 900;

export function snapshot(world) {
  const found = new Map();
  for (const piece of world?.querySelectorAll("[data-piece]") ?? []) {
    const at = piece.transform.baseVal.consolidate()?.matrix;
    if (!at) continue;
    const kind = piece.dataset.piece;
    if (!found.has(kind)) found.set(kind, []);
    found.get(kind).push({ piece, x: at.e, y: at.f });
  }
  return found;
}

// Answers with the piece that moved last.
export function glide(before, world, time = TIME) {
  let last = null;
  if (reducedMotion.matches) return last;
  for (const [kind, now] of snapshot(world)) {
    const left = [...(before.get(kind) ?? [])];
    const moved = now.filter((one) => {
      const at = left.findIndex((old) => old.x === one.x && old.y === one.y);
      if (at >= 0) left.splice(at, 1);
      return at < 0;
    });
    for (const one of moved) come(one, closest(left, one), world, time);
    last = moved.at(-1)?.piece ?? last;
  }
  return last;
}

function closest(left, one) {
  if (!left.length) return null;
  const far = left.map((old) => Math.hypot(old.x - one.x, old.y - one.y));
  return left.splice(far.indexOf(Math.min(...far)), 1)[0];
}

// Along the trail where it ends here, straight otherwise; what was not there before fades in.
function come({ piece, x, y }, old, world, time) {
  if (!old) {
    piece.animate([{ opacity: 0 }, { opacity: 1 }], { duration: time, easing: "ease-out" });
    return;
  }
  const steps = along(world.querySelector("path.trail"), old, { x, y }) ?? [old, { x, y }];
  const frames = steps.map((at) => ({ translate: `${at.x - x}px ${at.y - y}px` }));
  piece.animate(frames, { duration: time * Math.min(1 + (steps.length - 2) / 8, 2), easing: "ease-in-out" });
}

function along(trail, from, to) {
  if (!trail?.getTotalLength) return null;
  const length = trail.getTotalLength();
  const near = (at, place) => Math.hypot(at.x - place.x, at.y - place.y) < 30;
  if (!length || !near(trail.getPointAtLength(0), from) || !near(trail.getPointAtLength(length), to)) return null;
  return Array.from({ length: 9 }, (_, step) => trail.getPointAtLength((length * step) / 8));
}

export const scores = () => [...document.querySelectorAll(".strip .score")].map((one) => one.textContent);

// What each has won since: it floats from the piece, or from the middle of the stage, to the score.
export function float(before, piece) {
  if (reducedMotion.matches) return;
  for (const [seat, score] of [...document.querySelectorAll(".strip .score")].entries()) {
    const gain = Number(score.textContent) - Number(before[seat]);
    if (!gain) continue;
    const [from, to] = [piece ?? document.querySelector(".stage"), score].map((one) => one.getBoundingClientRect());
    const points = document.createElement("span");
    points.className = "gain";
    points.ariaHidden = "true";
    points.textContent = gain > 0 ? `+${gain}` : `−${-gain}`;
    document.body.append(points);
    const [start, end] = [from, to].map(({ left, top, width, height }) => `translate(${left + width / 2}px, ${top + height / 2}px) translate(-50%, -50%)`);
    const flight = points.animate([{ transform: start, opacity: 0 }, { transform: start, opacity: 1, offset: 0.3 }, { transform: end, opacity: 1 }], { duration: FLOAT, easing: "ease-in" });
    flight.onfinish = () => points.remove();
  }
}
