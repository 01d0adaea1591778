"""The rules: preparation, the turn with its three actions, and its end; § is a paragraph of the book."""

from __future__ import annotations

from collections.abc import Iterator

from engine.chance import Chance
from engine.game import Meta, Standing
from engine.games.kurier.board import (
    COLOURS,
    FAR_GUARD_PRICE,
    FULL_INN,
    FULL_STACK,
    GUARD_PRICES,
    KINDS,
    PALACE,
    SUPPLY,
    VILLAGE_OF,
    VILLAGES,
    Coin,
    Kind,
    list_closed_inns,
    order_departures,
)
from engine.games.kurier.roubles import (
    draw_from_purse,
    end_basic_game,
    end_unpayable_game,
    is_coin_due,
    may_only_turn_coins,
    offer_pay,
    offer_robbery,
    offer_turn,
    win,
)
from engine.games.kurier.state import (
    ColourOpened,
    Delivered,
    Departed,
    Deployed,
    Dispatch,
    Event,
    Flipped,
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
    Travelled,
    TurnBegan,
    Turned,
)
from engine.menu import Choice, Menu, MenuEntry, Move
from engine.refusal import Refused

SWAMP = 0  # the number of the first village


def offer_deploy(state: State, kinds: tuple[Kind, ...]) -> Menu:
    """§4.1: couriers of these kinds go to a free room in the swamp."""
    options = tuple((kind, inn) for kind in dict.fromkeys(kinds) for inn in _find_rooms(state, SWAMP, kind))
    return (Choice("deploy", options, rule="4.1"),) if options else ()


def _find_rooms(state: State, village: int, kind: Kind) -> list[str]:
    """§4.2: return the open inns of a village that are not full and where the room of this kind is free."""
    inns = state.inns
    return [inn for inn in VILLAGES[village] if inn in inns and kind not in inns[inn] and len(inns[inn]) < FULL_INN]


def flip_stack(state: State, seat: int, chance: Chance) -> list[Event]:
    """§4.3: turn up the top courier; §3.4: an empty stack is replaced by an unused colour."""
    player = state.players[seat]
    if player.stack or player.under:
        return [Flipped(seat, draw_courier(state, seat, chance))]
    return [ColourOpened(seat), Flipped(seat, chance.pick("courier", FULL_STACK))]


def draw_courier(state: State, seat: int, chance: Chance) -> Kind:
    """§2.5: draw from the shuffled stack; when it is used up, take those who came home, in their order."""
    player = state.players[seat]
    return chance.pick("courier", player.stack) if player.stack else player.under[0]


def offer_hand(state: State, seat: int) -> Menu:
    """§5.1: the dispatch goes to another own courier in the same village."""
    holder = state.players[seat].dispatch
    if holder.kind is None:  # it is with a guard
        return ()
    takers = [
        (inn, kind)
        for inn in VILLAGES[VILLAGE_OF[holder.inn]]
        for kind, owner in state.inns.get(inn, {}).items()
        if owner == seat and (inn, kind) != (holder.inn, holder.kind)
    ]
    return (Choice("hand", tuple(takers), rule="5.1"),) if takers else ()


def offer_travel(state: State, seat: int) -> Menu:
    """§6.1: travel from a full inn that lodges an own courier."""
    options = tuple(
        [
            (inn, *journey)
            for inn, guests in state.inns.items()
            if len(guests) == FULL_INN and seat in guests.values()
            for journey in _list_journeys(state, seat, inn)
        ]
    )
    return (Choice("travel", options, rule="6.1"),) if options else ()


def _list_journeys(state: State, seat: int, inn: str) -> Iterator[tuple[str, str, str]]:
    """§6.3: yield the kind that leaves first, the inn it goes to, and the inn that the second one goes to."""
    guests, village = state.inns[inn], VILLAGE_OF[inn]
    one, two, _ = order_departures(guests)
    if state.options.own_traveller and seat not in (guests[one], guests[two]):
        return
    lodgings = {kind: _find_lodgings(state, village, kind) for kind in (one, two)}
    for first, second in ((one, two), (two, one)):
        for first_end in lodgings[first]:
            for second_end in _list_lodgings_left(state, lodgings[second], second, first_end):
                yield first, first_end, second_end


def _find_lodgings(state: State, village: int, kind: Kind) -> list[str]:
    """§6.5: return the inns with room for a courier in the nearest village ahead that has any, else the palace."""
    for ahead in range(village + 1, len(VILLAGES)):
        if inns := _find_rooms(state, ahead, kind):
            return inns
    return [PALACE]


def _list_lodgings_left(state: State, lodgings: list[str], kind: Kind, first_end: str) -> list[str]:
    """§6.6: return the inns to which the second traveller can go, of this kind, after the first went to `first_end`.

    `lodgings` are those that it had before. If only the inn of the first was among them, it skips that village.
    """
    if first_end == PALACE or first_end not in lodgings:
        return lodgings
    others = [inn for inn in lodgings if inn != first_end]
    return others or _find_lodgings(state, VILLAGE_OF[first_end], kind)


def depart(state: State, seat: int, inn: str, first: Kind, first_end: str, second_end: str) -> list[Event]:
    """§6: two guests travel from an inn, and the owner of the third may be due a coin."""
    one, two, staying = order_departures(state.inns[inn])
    owner = state.inns[inn][staying]
    second = two if first == one else one
    departed = Departed(seat, inn, left=owner, kind=staying, owed=is_coin_due(state, owner))
    return [departed, *_travel(state, inn, first, first_end), *_travel(state, inn, second, second_end)]


def _travel(state: State, start: str, kind: Kind, end: str) -> list[Event]:
    """§6.4: a dispatch goes along with its courier; §6.8, §6.9: in the palace a guard takes it."""
    owner = state.inns[start][kind]
    carries = state.players[owner].dispatch == Dispatch(start, kind)
    village = VILLAGE_OF.get(end, len(VILLAGES))  # the palace comes after the last village
    skipped = village - VILLAGE_OF[start] - 1
    travelled = Travelled(owner, kind, start, end, skipped, dispatch=carries)
    if end != PALACE or not carries:
        return [travelled]
    if skipped:  # it comes from before the last village, to a guard that is above no inn
        return [travelled, Delivered(owner, FAR_GUARD_PRICE)]
    return [travelled, Delivered(owner, GUARD_PRICES[start], inn=start)]


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
    about="Bring your dispatch from inn to inn to the palace of the tsar. Of three guests two travel on, yours "
    "or not; the third is left behind, and the guard wants roubles.",
    hidden_draws=("rouble", "robbed rouble"),
    skips=("stop", "decline"),
)


def objection(options: Options, seats: int) -> Refused | None:
    """Return None: all options go together, with any number of players."""
    return None


def setup(options: Options, seats: int, chance: Chance) -> list[Event]:
    """§2: open inns, coins and start player; then the first courier and the open reserve of every seat."""
    closed = list_closed_inns(seats, options.closed_third)
    inns = tuple(inn for village in VILLAGES for inn in village if inn not in closed)
    first = chance.pick("start player", range(seats))
    events: list[Event] = [Prepared(options, seats, inns, _choose_coins(options), COLOURS - seats, first)]
    empty = [inn for inn in VILLAGES[SWAMP] if inn in inns]
    for place in range(seats):
        inn = chance.pick("first inn", empty)
        empty.remove(inn)
        events += _send_first_courier((first + place) % seats, inn, chance)
    return events


def _choose_coins(options: Options) -> tuple[Coin, ...]:
    """§1.4: the blank coins belong to the basic rules, unless the table wants it otherwise."""
    blanks = options.blank_coins == "in" or (options.blank_coins == "as_printed" and options.rules == "basic")
    return tuple(coin for coin in SUPPLY if blanks or coin != "blank")


def _send_first_courier(seat: int, inn: str, chance: Chance) -> tuple[Event, Event]:
    """§2.3, §2.4: a courier goes to the inn with the dispatch, another one to the open reserve."""
    sent = chance.pick("courier", FULL_STACK)
    stack = list(FULL_STACK)
    stack.remove(sent)
    return SentOut(seat, sent, inn), Refilled(seat, chance.pick("courier", stack))


def menu(state: State, seat: int) -> Menu:
    """§3: what the seat on turn may do; §8.7: first the seat that is due a coin decides whom to rob."""
    if state.places:
        return ()
    if state.owed is not None:
        return offer_robbery(state) if seat == state.owed else ()
    if seat != state.turn:
        return ()
    return (*_offer_actions(state, seat), *_offer_stop(state))


def _offer_actions(state: State, seat: int) -> Iterator[MenuEntry]:
    """Yield what the seat on turn may do, other than ending its turn."""
    if state.flipped is not None:
        yield from offer_deploy(state, (state.flipped,))
        return
    yield from offer_pay(state, seat)
    if may_only_turn_coins(state, seat):
        yield from offer_turn(state, seat)
    elif not state.acted:
        yield from _offer_usual_actions(state, seat)


def _offer_usual_actions(state: State, seat: int) -> Iterator[MenuEntry]:
    """§3.1: yield the three actions; §4.3: deploying may begin with a flip of the stack."""
    player = state.players[seat]
    yield from offer_deploy(state, player.reserve)
    if player.stack or player.under or state.colours:
        yield Choice("flip", rule="4.3")
    yield from offer_hand(state, seat)
    yield from offer_travel(state, seat)


def _offer_stop(state: State) -> Menu:
    """§7.1, §7.3, §8.3: a player who has turned a coin, or acted, may end the turn."""
    if state.turned:
        return (Choice("stop", rule="7.3"),)
    if state.acted:
        return (Choice("stop", rule="7.1" if state.options.rules == "basic" else "8.3"),)
    return ()


def decide(state: State, seat: int, move: Move, chance: Chance) -> list[Event]:
    """Return the events of a move that is on the menu."""
    match move.verb, move.args:
        case "deploy", (kind, inn):
            return [Deployed(seat, _find_kind(kind), inn)]
        case "flip", ():
            return flip_stack(state, seat, chance)
        case "hand", (inn, kind):
            holder = state.players[seat].dispatch
            assert holder.kind
            return [Handed(seat, holder.inn, holder.kind, inn, _find_kind(kind))]
        case "travel", (inn, first, first_end, second_end):
            return depart(state, seat, inn, _find_kind(first), first_end, second_end)
        case "turn", ():
            return [Turned(seat, chance.pick("rouble", state.palace))]
        case "turn", (token,):
            victim, coin = draw_from_purse(state, token, chance)
            return [Turned(seat, coin, victim)]
        case "rob", (token,):
            victim, coin = draw_from_purse(state, token, chance)
            return [Robbed(seat, victim, coin)]
        case "decline", ():
            return [Spared(seat)]
        case "pay", ():
            return [win(state, seat, "price")]
        case "stop", ():
            return [Stopped(seat, state.turned)]
    raise AssertionError(f"no move of this game: {move}")


def _find_kind(word: str) -> Kind:
    """Return a word of a move as a kind, for the type checker."""
    return next(kind for kind in KINDS if kind == word)


def upkeep(state: State, chance: Chance) -> Event | None:
    """Return what happens next without a decision; None if a seat decides, or the game is over."""
    if state.places:
        return None
    if state.owed is not None:  # §8.1: a coin of the palace; §8.7: once it is empty, the seat decides whom to rob
        return Rewarded(state.owed, chance.pick("rouble", state.palace)) if state.palace else None
    if state.turned and state.turned[-1] == "njet":  # §7.4
        return Lost(state.turn, state.turned)
    if state.options.rules == "basic" and (won := end_basic_game(state)):
        return won
    return _end_turn(state, chance)


def _end_turn(state: State, chance: Chance) -> Event | None:
    """End the turn of a seat that may do nothing more, step by step; None while it has an offer."""
    seat = state.turn
    if not state.done and any(_offer_actions(state, seat)):
        return None
    if state.flipped is not None:  # §4.4
        return SetAside(seat, state.flipped)
    if state.turned:  # nothing is left to turn
        return Stopped(seat, state.turned)
    if state.done or state.acted:
        next_seat = (seat + 1) % len(state.players)
        return _refill_reserve(state, seat, chance) or end_unpayable_game(state) or TurnBegan(next_seat)
    return Passed(seat)  # §3.2


def _refill_reserve(state: State, seat: int, chance: Chance) -> Event | None:
    """§3.3: an empty reserve gets the top courier of the stack; §3.4: an empty stack a new colour first."""
    player = state.players[seat]
    if player.reserve:
        return None
    if player.stack or player.under:
        return Refilled(seat, draw_courier(state, seat, chance))
    return ColourOpened(seat) if state.colours else None


def standing(state: State) -> tuple[Standing, ...]:
    """Return how far the dispatch of each seat has come, and its place once the game is over."""
    places = state.places or (None,) * len(state.players)
    return tuple(
        Standing(_score_dispatch(player.dispatch, place), place=place)
        for player, place in zip(state.players, places, strict=True)
    )


def _score_dispatch(dispatch: Dispatch, place: int | None) -> int:
    """Score how far a dispatch has come: 1 to 4 in a village, 5 with a guard, 6 with the tsar."""
    if place == 1:
        return 6
    return 5 if dispatch.price else 1 + VILLAGE_OF[dispatch.inn]
