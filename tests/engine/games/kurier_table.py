"""Small positions of Kurier des Zaren, written on a line or two, and playing on from them."""

from random import Random

from msgspec.structs import replace

from engine import chance, menu
from engine import game as games
from engine.games import kurier
from engine.games.kurier.board import SUPPLY, VILLAGES, list_closed_inns
from engine.games.kurier.state import Dispatch, Holdings, Options, State
from engine.menu import Move


def table(guests="", seats=5, turn=0, palace=SUPPLY, rules="revised", players=(), **options):
    """A position in which `guests` sleep: `"Olga: lady 0, diplomat 1*; Iwan: lady 2"`, the star being a dispatch.

    Every player has a lady in the reserve and all the other couriers in the stack, unless `players` says otherwise.
    """
    closed = list_closed_inns(seats, options.get("closed_third", "roman"))
    state = State(
        options=Options(rules=rules, **options),
        inns={inn: {} for village in VILLAGES for inn in village if inn not in closed},
        players=(Holdings(reserve=("lady",)),) * seats,
        palace=tuple(palace),
        colours=5 - seats,
        turn=turn,
    )
    for seat, parts in dict(players).items():
        state = with_player(state, seat, **parts)
    for lodging in filter(None, guests.split("; ")):
        inn, kinds = lodging.split(": ")
        for guest in kinds.split(", "):
            state = lodge(state, inn, *guest.split())
    return state


def lodge(state, inn, kind, owner):
    seat = int(owner[0])
    assert kind not in state.inns[inn]
    state = replace(state, inns={**state.inns, inn: {**state.inns[inn], kind: seat}})
    return with_player(state, seat, dispatch=Dispatch(inn, kind)) if owner.endswith("*") else state


def with_player(state, seat, **parts):
    players = list(state.players)
    players[seat] = replace(players[seat], **parts)
    return replace(state, players=tuple(players))


def at_guard(price, inn=""):
    return Dispatch(inn, None, price)


def play(state, seat, text, rig=None):
    """Play a move as it is written; chance gives what `rig` foresees and whatever it likes otherwise."""
    return games.play(
        kurier, state, seat, Move.parse(text), chance.make_rigged(rig or {}, chance.make_from_random(Random(1)).source)
    )


def state_after(state, seat, text, rig=None):
    return play(state, seat, text, rig).state


def list_moves(state, seat):
    """The moves that seat may make, as they are written."""
    return {str(move) for move in menu.iter_moves(kurier.menu(state, seat))}


def verbs(state, seat):
    return {entry.verb for entry in kurier.menu(state, seat)}


def find_events(outcome, kind):
    return [event for event in outcome.events if isinstance(event, kind)]


def begin(seats=5, seed=1, **options):
    return games.begin(kurier, Options(**options), seats, chance.make_from_random(Random(seed)))


def list_places(state):
    return [standing.place for standing in kurier.standing(state)]
