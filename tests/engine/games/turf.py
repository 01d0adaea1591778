"""Small races for the tests of TurfMaster, with the horses where a rule applies."""

from collections import Counter
from random import Random

from engine import chance as chances
from engine import game as games
from engine import menu as menus
from engine.games import turfmaster
from engine.games.turfmaster.state import META, PACK, Horse, State, sort_cards

Options = META.options
HAND = ("7", "8", "9", "12", "J12")


def horse(seat, field, hand=HAND, **more):
    """Return a horse whose other cards are all in its pack."""
    used = Counter((*hand, *more.get("spent", ()), *more.get("gone", ())))
    return Horse(seat, field=field, hand=sort_cards(hand), pack=tuple((Counter(PACK) - used).elements()), **more)


def race(*fields, hands=None, horses=None, **changes):
    """Return a race between two rounds, one horse a seat on these fields; `round=1` makes the next one a dice round."""
    horses = horses or [horse(seat, field, (hands or {}).get(seat, HAND)) for seat, field in enumerate(fields)]
    seats = len({horse.seat for horse in horses})
    start = {"race": 1, "stage": "riding", "roller": 0, "boxes": tuple(range(len(horses)))}
    return State(seats=seats, horses=tuple(horses), **(start | changes))


def chance(rig):
    return chances.make_rigged(rig, chances.make_from_random(Random(1)).source)


def settle(state, **rig):
    """Apply forced events until a player has to decide; return the state and the events."""
    events, source = [], chance(rig)
    while event := turfmaster.upkeep(state, source):
        state = turfmaster.evolve(state, event)
        events.append(event)
    return state, events


def begin_round(*fields, rig=None, **changes):
    """Return a race in which the next round has begun."""
    return settle(race(*fields, **changes), **(rig or {}))[0]


def play(state, seat, text, **rig):
    """Return the state and the events after a move."""
    move = menus.parse_move(turfmaster.menu(state, seat), text)
    return games.play(turfmaster, state, seat, move, chance(rig))


def list_moves(state, seat):
    """Return all moves on a seat's menu, as text."""
    return [str(move) for move in menus.iter_moves(turfmaster.menu(state, seat))]


def ends(state, seat, *words):
    """Return where a ride can end, in the moves that begin with these words."""
    moves = [move.split() for move in list_moves(state, seat)]
    return {move[-1] for move in moves if move[:-1] == list(words)}


def verbs(state, seat):
    return [entry.verb for entry in turfmaster.menu(state, seat)]


def find_events(events, name):
    return [event for event in events if type(event).__name__ == name]
