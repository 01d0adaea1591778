"""Before a race: start boxes, cards, and who throws the dice first (§2, §3, §5.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.chance import Chance
from engine.games.turfmaster import board
from engine.games.turfmaster.state import (
    BonusPaid,
    BoxesRolled,
    Dealt,
    Discarded,
    Event,
    Horse,
    RollerFound,
    State,
    Throw,
)
from engine.menu import Menu, Subset


def start_boxes(state: State, chance: Chance) -> BoxesRolled:
    """§2.1, §2.3: one roll-off for every player's first horse, another one for the second, and so on."""
    order, throws = _roll_off(range(state.seats), chance)
    return BoxesRolled(order, throws, state.horses[len(state.boxes) // state.seats].number)


def _roll_off(seats: Sequence[int], chance: Chance) -> tuple[tuple[int, ...], tuple[Throw, ...]]:
    """§2.2: the highest roll first; whoever rolled the same rolls again among themselves."""
    throws = _throws(seats, chance)
    order, rolls = list[int](), throws
    for total in sorted(set(map(_total, throws)), reverse=True):
        equal = [throw.seat for throw in throws if _total(throw) == total]
        if len(equal) > 1:
            among, again = _roll_off(equal, chance)
            order, rolls = [*order, *among], (*rolls, *again)
        else:
            order += equal
    return tuple(order), rolls


def _throws(seats: Iterable[int], chance: Chance) -> tuple[Throw, ...]:
    return tuple(Throw(seat, dice(chance)) for seat in seats)


def dice(chance: Chance) -> tuple[int, int]:
    return chance.roll("die", 6), chance.roll("die", 6)


def _total(throw: Throw) -> int:
    return sum(throw.dice)


def dealing(state: State, chance: Chance) -> Event | None:
    """§3: every horse gets its cards; who kept some puts as many away; then the first roller is found."""
    if state.served < len(state.horses):
        return _deal(state, state.horses[state.served], chance)
    if any(_surplus(state, horse) > 0 for horse in state.horses):
        return None
    return _first_roller(state, chance)


def _deal(state: State, horse: Horse, chance: Chance) -> Event:
    if horse.bonus and horse.bonus == state.race - 1 and horse.hand and not horse.paid:  # §3.6
        lost = drawn("bonus paid", horse.hand, min(board.BONUS, len(horse.hand)), chance)
        return BonusPaid(horse.seat, len(lost), horse.number, lost)
    cards = drawn("deal", horse.pack, _full_hand(state, horse), chance)
    return Dealt(horse.seat, len(cards), horse.number, cards)


def drawn(label: str, cards: tuple[str, ...], count: int, chance: Chance) -> tuple[str, ...]:
    left, drawn = list(cards), list[str]()
    for _ in range(count):
        drawn.append(chance.pick(label, left))
        left.remove(drawn[-1])
    return board.in_order(drawn)


def _full_hand(state: State, horse: Horse) -> int:
    """§3.1, §3.4: ten cards, and twelve in the last race for a horse that never had its bonus."""
    return board.DEALT + (board.BONUS if state.race == board.RACES and not horse.bonus else 0)


def _surplus(state: State, horse: Horse) -> int:
    return len(horse.hand) - _full_hand(state, horse)


def _first_roller(state: State, chance: Chance) -> RollerFound:
    """§5.1: all roll, whoever has the first start box first; the highest roll it is."""
    first = state.horses[state.boxes[0]].seat
    left = [(first + step) % state.seats for step in range(state.seats)]
    throws: tuple[Throw, ...] = ()
    while len(left) > 1:
        latest = _throws(left, chance)
        throws += latest
        left = [throw.seat for throw in latest if _total(throw) == max(map(_total, latest))]
    return RollerFound(left[0], throws)


def discarding(state: State, seat: int) -> int | None:
    """§3.5: the first horse for which this seat still holds too many cards."""
    surplus = (place for place, horse in enumerate(state.horses) if horse.seat == seat and _surplus(state, horse) > 0)
    return next(surplus, None)


def discards(state: State, seat: int) -> Menu:
    """What to put away, one horse after the other."""
    place = discarding(state, seat)
    if place is None:
        return ()
    horse = state.horses[place]
    surplus = _surplus(state, horse)
    return (Subset("discard", horse.hand, surplus, surplus, rule="3.5"),)


def discard(state: State, seat: int, cards: tuple[str, ...]) -> Discarded:
    """The cards a player put away."""
    place = discarding(state, seat)
    assert place is not None
    return Discarded(seat, len(cards), state.horses[place].number, board.in_order(cards))
