"""The rules of a turn, in the order of the book, whose paragraphs they cite."""

from __future__ import annotations

from collections.abc import Iterator

from engine.chance import Chance
from engine.game import Meta, Standing
from engine.games.kurier.board import (
    COLOURS,
    FULL_STACK,
    KINDS,
    SUPPLY,
    VILLAGE_OF,
    VILLAGES,
    Coin,
    Kind,
    closed,
)
from engine.games.kurier.events import (
    ColourOpened,
    Deployed,
    Dispatch,
    Event,
    Handed,
    Lost,
    Options,
    Passed,
    Prepared,
    Refilled,
    Rewarded,
    Robbed,
    SentOut,
    SetAside,
    Spared,
    State,
    Stopped,
    TurnBegan,
    Turned,
)
from engine.games.kurier.road import departure, deploy, flip, hand, top, travel
from engine.games.kurier.roubles import basic_end, hopeless, pay, robbery, taken_from, turn_coin, turns_coins, won
from engine.menu import Choice, Entry, Menu, Move
from engine.refusal import Refused

META = Meta(
    name="kurier",
    title="Kurier des Zaren",
    seats=(2, 3, 4, 5),
    options=Options,
    edition=1,
    stage="complete",
    designer="Christiane Knepel & Antje Graf",
    publisher="Winning Moves",
    year=2003,
    minutes=30,
    about="Bring your dispatch from inn to inn to the palace of the tsar. Two of three guests travel on, whoever they "
    "belong to; the third is left behind, and the guard wants roubles.",
    hidden_draws=("rouble", "robbed rouble"),
    skips=("stop", "decline"),
)


def objection(options: Options, seats: int) -> Refused | None:
    return None


def setup(options: Options, seats: int, chance: Chance) -> list[Event]:
    """§2: signs, coins and start player; then everybody's first courier and open reserve."""
    shut = closed(seats, options.closed_third)
    inns = tuple(inn for village in VILLAGES for inn in village if inn not in shut)
    first = chance.pick("start player", range(seats))
    events: list[Event] = [Prepared(options, seats, inns, _supply(options), COLOURS - seats, first)]
    empty = [inn for inn in VILLAGES[0] if inn in inns]
    for place in range(seats):
        inn = chance.pick("first inn", empty)
        empty.remove(inn)
        events += _first_couriers((first + place) % seats, inn, chance)
    return events


def _first_couriers(seat: int, inn: str, chance: Chance) -> tuple[Event, Event]:
    """§2.3, §2.4: one with the dispatch to an inn, one to the open reserve."""
    sent = chance.pick("courier", FULL_STACK)
    left = list(FULL_STACK)
    left.remove(sent)
    return SentOut(seat, sent, inn), Refilled(seat, chance.pick("courier", left))


def _supply(options: Options) -> tuple[Coin, ...]:
    """§1.4: the blank coins belong to the basic rules, unless the table wants it otherwise."""
    blanks = options.blank_coins == "in" or (options.blank_coins == "as_printed" and options.rules == "basic")
    return tuple(coin for coin in SUPPLY if blanks or coin != "blank")


def menu(state: State, seat: int) -> Menu:
    """§3, and the decision of §8.7, which can be anybody's."""
    if state.places:
        return ()
    if state.owed is not None:
        return robbery(state) if seat == state.owed else ()
    if seat != state.turn:
        return ()
    return (*_offers(state, seat), *_end_of_turn(state))


def _offers(state: State, seat: int) -> Iterator[Entry]:
    """What there is to do for the seat on turn, other than ending its turn."""
    if state.flipped is not None:
        yield from deploy(state, (state.flipped,))
        return
    yield from pay(state, seat)
    if turns_coins(state, seat):
        yield from turn_coin(state, seat)
    elif not state.acted:
        yield from _actions(state, seat)


def _end_of_turn(state: State) -> Menu:
    """§7.3, §8.3: who has turned a coin, or acted, may stop."""
    if state.turned:
        return (Choice("stop", rule="7.3"),)
    return (Choice("stop", rule="7.1" if state.options.rules == "basic" else "8.3"),) if state.acted else ()


def _actions(state: State, seat: int) -> Iterator[Entry]:
    """§3.1: one of the three actions; flipping the stack is how the first one may begin."""
    player = state.players[seat]
    yield from deploy(state, player.reserve)
    if player.stack or player.under or state.colours:
        yield Choice("flip", rule="4.3")
    yield from hand(state, seat)
    yield from travel(state, seat)


def decide(state: State, seat: int, move: Move, chance: Chance) -> list[Event]:
    match move.verb, move.args:
        case "deploy", (kind, inn):
            return [Deployed(seat, _kind(kind), inn)]
        case "flip", ():
            return flip(state, seat, chance)
        case "hand", (inn, kind):
            holder = state.players[seat].dispatch
            assert holder.kind
            return [Handed(seat, holder.inn, holder.kind, inn, _kind(kind))]
        case "travel", (inn, first, end, other):
            return departure(state, seat, inn, _kind(first), end, other)
        case "turn", ():
            return [Turned(seat, chance.pick("rouble", state.palace))]
        case "turn", (token,):
            victim, coin = taken_from(state, token, chance)
            return [Turned(seat, coin, victim)]
        case "rob", (token,):
            return [Robbed(seat, *taken_from(state, token, chance))]
        case "decline", ():
            return [Spared(seat)]
        case "pay", ():
            return [won(state, seat, "price")]
        case "stop", ():
            return [Stopped(seat, state.turned)]
    raise AssertionError(f"no move of this game: {move}")


def _kind(word: str) -> Kind:
    return next(kind for kind in KINDS if kind == word)


def upkeep(state: State, chance: Chance) -> Event | None:
    if state.places:
        return None
    if state.owed is not None:
        return Rewarded(state.owed, chance.pick("rouble", state.palace)) if state.palace else None
    if state.turned and state.turned[-1] == "njet":  # §7.4
        return Lost(state.turn, state.turned)
    return (basic_end(state) if state.options.rules == "basic" else None) or _turn(state, chance)


def _turn(state: State, chance: Chance) -> Event | None:
    """§3: a turn ends when its seat has acted and is offered nothing more."""
    seat = state.turn
    if not state.done and any(_offers(state, seat)):
        return None
    if state.flipped is not None:
        return SetAside(seat, state.flipped)
    if state.turned:
        return Stopped(seat, state.turned)
    if state.done or state.acted:
        return _refill(state, seat, chance) or hopeless(state) or TurnBegan((seat + 1) % len(state.players))
    return Passed(seat)  # §3.2


def _refill(state: State, seat: int, chance: Chance) -> Event | None:
    """§3.3: nobody ends a turn without an open reserve."""
    player = state.players[seat]
    if player.reserve:
        return None
    if player.stack or player.under:
        return Refilled(seat, top(state, seat, chance))
    return ColourOpened(seat) if state.colours else None


def standing(state: State) -> tuple[Standing, ...]:
    """The score is how far the dispatch has come: the village, 5 at a guard, 6 with the tsar."""
    places = state.places or (None,) * len(state.players)
    return tuple(
        Standing(6 if place == 1 else _progress(player.dispatch), place=place)
        for player, place in zip(state.players, places, strict=True)
    )


def _progress(dispatch: Dispatch) -> int:
    return 5 if dispatch.price else 1 + VILLAGE_OF[dispatch.inn]
