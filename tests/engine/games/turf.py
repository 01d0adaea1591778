"""Small races for the tests of TurfMaster: horses put where a rule can be seen at work."""

from collections import Counter
from random import Random

from engine import chance as chances
from engine import game as games
from engine import menu as menus
from engine.games import turfmaster
from engine.games.turfmaster.board import DECK, in_order
from engine.games.turfmaster.state import META, Horse, State

Options = META.options
HAND = ("7", "8", "9", "12", "J12")


def horse(seat, field, hand=HAND, **more):
    """A horse whose other cards are all in its pack."""
    used = Counter((*hand, *more.get("spent", ()), *more.get("gone", ())))
    return Horse(seat, field=field, hand=in_order(hand), pack=tuple((Counter(DECK) - used).elements()), **more)


def race(*fields, hands=None, horses=None, **changes):
    """One horse a seat on these fields, between two rounds; `round=1` makes the next one a dice round."""
    horses = horses or [horse(seat, field, (hands or {}).get(seat, HAND)) for seat, field in enumerate(fields)]
    seats = len({horse.seat for horse in horses})
    start = {"race": 1, "stage": "riding", "roller": 0, "boxes": tuple(range(len(horses)))}
    return State(seats=seats, horses=tuple(horses), **(start | changes))


def chance(rig):
    return chances.make_rigged(rig, chances.make_from_random(Random(1)).source)


def settled(state, **rig):
    """The state when nothing more is forced, and what happened until then."""
    events, source = [], chance(rig)
    while event := turfmaster.upkeep(state, source):
        state = turfmaster.evolve(state, event)
        events.append(event)
    return state, events


def begun(*fields, rig=None, **changes):
    """A race in which the next round has begun."""
    return settled(race(*fields, **changes), **(rig or {}))[0]


def play(state, seat, text, **rig):
    """The state and the events after a move."""
    move = menus.from_text(turfmaster.menu(state, seat), text)
    return games.play(turfmaster, state, seat, move, chance(rig))


def offers(state, seat):
    """Everything on a seat's menu, as text."""
    return [str(move) for move in menus.moves(turfmaster.menu(state, seat))]


def ends(state, seat, *said):
    """Where a ride can end, after these words."""
    found = [offer.split() for offer in offers(state, seat)]
    return {words[-1] for words in found if words[:-1] == list(said)}


def verbs(state, seat):
    return [entry.verb for entry in turfmaster.menu(state, seat)]


def named(events, name):
    return [event for event in events if type(event).__name__ == name]
