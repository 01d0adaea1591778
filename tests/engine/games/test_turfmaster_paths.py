"""A second path finder, independent of the engine: walk every path stride by stride, and judge it as a whole."""

import functools
from fractions import Fraction
from random import Random

import pytest

from engine.contract.cases import Case, play_case
from engine.games import turfmaster
from engine.games.turfmaster import ride
from engine.games.turfmaster.ride import MOST_POINTS, find_reach, find_rides
from engine.games.turfmaster.state import JOKERS, Rode
from tests.sampling import one_of

SECTIONS = ride.DATA["track"]["sections"]
JUMP = "jump"


def _edges(lane):
    """Where the fields of a lane begin and end, in fields of the inner lane."""
    edges = [Fraction(0)]
    for section in SECTIONS:
        step = Fraction(section["length"], section["fields"][lane])
        edges += [edges[-1] + step * number for number in range(1, section["fields"][lane] + 1)]
    return edges


EDGES = [_edges(lane) for lane in range(8)]


@functools.cache
def _beside(lane, index, side):
    middle = (EDGES[lane][index + 1] + EDGES[lane][index + 2]) / 2
    return sum(edge < middle for edge in EDGES[side]) - 1


def _row(index):
    return {(lane, EDGES[lane].index(EDGES[0][index + 1]) - 1) for lane in range(8)}


HEDGE_ROWS = {1: _row(9), 2: _row(23), 3: _row(37), 4: _row(50), 5: _row(63), 6: _row(80)}


def _is_open(field, others):
    return not any(lane == field[0] and abs(index - field[1]) <= 1 for lane, index in others)


def _may_turn(path, first_is_jump):
    """Whether the diagonals of this path are where they may be; a jump is two strides."""
    strides = [stride for step in path for stride in ([step, step] if step == JUMP else [step])]
    diagonals = [number for number, stride in enumerate(strides, 1) if stride == "diagonal"]
    late = [number for number in diagonals if number > 1]
    return len(late) <= 1 and all(number >= (8 if first_is_jump else 7) for number in late)


def _walk(field, path, left, others, hedges):
    """Yield each end of a walk: the field, the points left, and whether a hedge was refused there."""
    lane, index = field
    goes_on = refused = False
    if left and index + 1 < len(EDGES[lane]) - 1:
        ahead = (lane, index + 1)
        steps = []
        if ahead in hedges:
            landing = (lane, index + 2)
            if left >= 4 and _is_open(landing, others):
                steps.append((landing, JUMP, 4))
            else:
                refused = True
        else:
            steps.append((ahead, "straight", 1))
            steps += [
                ((side, _beside(lane, index, side)), "diagonal", 1) for side in (lane - 1, lane + 1) if 0 <= side < 8
            ]
        for target, step, cost in steps:
            longer = [*path, step]
            if _is_open(target, others) and target not in hedges and _may_turn(longer, longer[0] == JUMP):
                goes_on = True
                yield from _walk(target, longer, left - cost, others, hedges)
    if not goes_on:
        yield field, left, refused


def find_ends_naively(start, others, hedge_numbers, points, kind):
    """Return the names of all ends that leave the fewest points unused."""
    hedges = set().union(*(HEDGE_ROWS[number] for number in hedge_numbers))
    walks = list(_walk(start, [], points, others, hedges))
    fewest = min(left for _, left, _ in walks)
    return {_name(start, end, refused, kind) for end, left, refused in walks if left == fewest}


def _name(start, end, refused, kind):
    if refused and kind == "cards":
        return "fall"
    lap = 80 + end[0]
    return "stay" if end == start else f"{'ABCDEFGH'[end[0]]}{end[1] % lap + 1}"


def _draw_position(random):
    """A horse anywhere before the finish, often near a hedge, in a crowd, with any points on cards or dice."""
    hedge_numbers = tuple(sorted(random.sample(range(1, 7), random.choice((0, 3, 6)))))
    hedges = set().union(*(HEDGE_ROWS[number] for number in hedge_numbers))
    lane = random.randrange(8)
    start = random.choice([(lane, index) for index in range(92 + lane) if (lane, index) not in hedges])
    if hedge_numbers and random.random() < 0.6:
        start = next((lane, max(0, index - random.randrange(1, 9))) for lane, index in _shuffle(hedges, random))
    occupied = [start]
    for _ in range(random.randrange(1, 8)):
        side = min(max(start[0] + random.randrange(-2, 3), 0), 7)
        other = (side, min(max(0, start[1] + random.randrange(-3, 14)), len(EDGES[side]) - 2))
        if _is_open(other, occupied) and other not in hedges:
            occupied.append(other)
    return start, frozenset(occupied[1:]), hedge_numbers, random.randrange(1, 13), random.choice(("cards", "dice"))


def _shuffle(fields, random):
    return random.sample(sorted(fields), len(fields))


@pytest.mark.parametrize("count", one_of([2_000, 10_000], 2_000))
def test_6_5_the_menu_offers_exactly_the_ends_that_walking_every_path_finds(count):
    random, seen = Random(1998), set()
    for _ in range(count):
        start, others, hedge_numbers, points, kind = _draw_position(random)
        expected = find_ends_naively(start, others, hedge_numbers, points, kind)
        reach = find_reach(start, tuple(others), hedge_numbers, random.randrange(points, MOST_POINTS + 1))
        assert set(find_rides(reach, points, kind).ends) == expected
        seen |= expected & {"fall", "stay"}
    assert seen == {"fall", "stay"}


@pytest.mark.parametrize("hurdles", ["none", "all"])
def test_7_1_no_horse_rides_beyond_the_limit(hurdles):
    rode = 0
    for position in play_case(Case(turfmaster, 6, (("grand_national", hurdles),)), b"limits")[1:]:
        for event, before in _pair_with_states(position):
            if isinstance(event, Rode):
                rode += 1
                card = before.horses[event.seat].card
                limit = 12 if card in JOKERS else before.limits[before.done]
                assert event.ridden + event.lapsed <= limit or (before.kind == "dice" and before.pace != "both")
    assert rode > 100


def _pair_with_states(position):
    current = position.before
    for event in position.events:
        yield event, current
        current = turfmaster.evolve(current, event)
