"""A round, §3.3 and §4 to §9: decisions, what happens without them, and the end of the round and of the race."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.chance import Chance
from engine.games.turfmaster.ride import (
    BONUS_CARDS,
    FALL,
    FINISH,
    FIRST_HEDGE,
    HANDICAPS,
    HEDGES,
    MOST_POINTS,
    POINTS,
    START_HEDGE,
    STAY,
    Field,
    Kind,
    Reach,
    Rides,
    find_reach,
    find_rides,
    get_front,
    make_field_token,
)
from engine.games.turfmaster.state import (
    CARD_POINTS,
    JOKERS,
    Arrived,
    BonusTaken,
    Chose,
    DiceRolled,
    Event,
    Fell,
    HedgePlaced,
    HedgeRemoved,
    Horse,
    PaceSet,
    Passed,
    Played,
    RaceEnded,
    Revealed,
    Rode,
    RoundBegan,
    State,
    Stayed,
    can_take_bonus,
    draw_cards,
    find_running_horses,
)
from engine.menu import Choice, Menu, Move

BOTH_DICE = "both"


def make_round_menu(state: State, seat: int) -> Menu:
    """Return what a seat may do in a round: choose a card, set the pace, play, ride, take bonus cards; or nothing."""
    if _is_choosing(state):
        entries = _offer_choice(state, seat)
    elif state.kind == "dice" and not state.pace:
        entries = _offer_pace(state) if seat == state.thrower else ()
    elif seat != _get_horse_in_turn(state).seat:
        return ()
    elif state.kind == "dice":
        entries = _offer_ride(state)
    elif state.options.simultaneous_cards:
        return _offer_ride(state)  # §4.5: too late for bonus cards
    else:
        entries = _offer_cards(state)
    if not entries:  # §3.3: bonus cards are only for a player who has something to decide
        return ()
    return (*entries, *_offer_bonus(state, seat))


def _offer_bonus(state: State, seat: int) -> Menu:
    """§3.3: bonus cards for any own horse that is still running."""
    horses = [_name_horse(horse) for horse in state.horses if horse.seat == seat and can_take_bonus(state, horse)]
    return (Choice("bonus", tuple(horses), rule="3.3"),) if horses else ()


def _name_horse(horse: Horse) -> tuple[str, ...]:
    """Return the word of a move for a horse; there is none where its player has only one."""
    return (f"horse{horse.number}",) if horse.number else ()


def _offer_cards(state: State) -> Menu:
    """§4.2: play a card, and ride where it takes the horse in turn; §4.4: pass on bonus cards with an empty hand."""
    horse = _get_horse_in_turn(state)
    if not horse.hand:
        return (Choice("pass", rule="4.4"),)
    reach = _find_reach_in_turn(state)
    limit = state.limits[state.done]
    plays = [(card, end) for card in dict.fromkeys(horse.hand) for end in _list_card_ends(reach, card, limit)]
    return (Choice("play", tuple(plays), rule="4.2"),)


def _list_card_ends(reach: Reach, card: str, limit: int) -> Iterable[str]:
    """§7.4: return where a card takes the horse; with one over its limit it stays."""
    return find_rides(reach, CARD_POINTS[card], "cards").ends if _may_ride(card, limit) else (STAY,)


def _may_ride(card: str, limit: int) -> bool:
    """§7.4, §7.5: a plain card within the handicap, or any joker."""
    return CARD_POINTS[card] <= limit or card in JOKERS


def _offer_choice(state: State, seat: int) -> Menu:
    """§4.5: choose a card for each own horse, in the order of play."""
    horse = _find_horse_to_choose_for(state, seat)
    if horse is None:
        return ()
    if not horse.hand:
        return (Choice("pass", rule="4.4"),)
    return (Choice("choose", tuple((card,) for card in dict.fromkeys(horse.hand)), rule="4.5"),)


def _offer_pace(state: State) -> Menu:
    """§5.3: set the pace: one die, the other, or both."""
    paces = (*dict.fromkeys(map(str, state.dice)), BOTH_DICE)
    return (Choice("pace", tuple((pace,) for pace in paces), rule="5.3"),)


def _offer_ride(state: State) -> Menu:
    return (Choice("ride", _list_ride_options(state), rule="6.1"),)


def _list_ride_options(state: State) -> tuple[tuple[str, ...], ...]:
    """Return where the horse in turn may ride; §7.6: after a die, where its rider picks one."""
    points = _list_points(state)
    if len(points) == 1:
        return tuple([(end,) for end in _find_rides_in_turn(state, points[0]).ends])
    return tuple([(str(die), end) for die in points for end in _find_rides_in_turn(state, die).ends])


def _list_points(state: State) -> tuple[int, ...]:
    """Return what the horse in turn may ride: its card, the pace, or one die of its rider's choice (§7.6)."""
    if state.kind == "cards":
        return (CARD_POINTS[_get_horse_in_turn(state).card],)
    if state.pace != BOTH_DICE:
        return (int(state.pace),)
    total = sum(state.dice)
    if total <= state.limits[state.done]:
        return (total,)
    return tuple(dict.fromkeys(state.dice))  # two equal dice are one choice


def find_horse_in_turn(state: State) -> int | None:
    """Return the horse whose rider decides now; None while cards or the pace are chosen, or if all have ridden."""
    waiting = _is_choosing(state) or (state.kind == "dice" and not state.pace)
    return None if waiting or state.done == len(state.order) else state.order[state.done]


def find_deciding_horse(state: State, seat: int) -> int | None:
    """Return the index of the horse that this seat decides for now; None if there is none."""
    horse = _find_horse_to_choose_for(state, seat)
    if horse is not None:
        return state.horses.index(horse)
    index = find_horse_in_turn(state)
    return index if index is not None and state.horses[index].seat == seat else None


def _get_deciding_horse(state: State, seat: int) -> Horse:
    """Return the horse that this seat decides for now; there has to be one."""
    index = find_deciding_horse(state, seat)
    assert index is not None
    return state.horses[index]


def _get_horse_in_turn(state: State) -> Horse:
    return state.horses[state.order[state.done]]


def _find_reach_in_turn(state: State) -> Reach:
    """Return the reach of the horse in turn, and keep it with the state: it is asked for again at once."""
    reach: Reach | None = state.__dict__.get("reach")
    if reach is None:
        horse = _get_horse_in_turn(state)
        assert horse.field is not None
        most_points = MOST_POINTS if state.kind == "cards" else max(_list_points(state))
        reach = find_reach(horse.field, [other.field for other in state.horses], state.hedges, most_points)
        state.__dict__["reach"] = reach
    return reach


def _find_rides_in_turn(state: State, points: int) -> Rides:
    return find_rides(_find_reach_in_turn(state), points, state.kind)


def _is_choosing(state: State) -> bool:
    """§4.5: whether all choose their cards at once, none is revealed yet, and a horse still needs one."""
    if state.kind == "dice" or not state.options.simultaneous_cards or any(horse.card for horse in state.horses):
        return False
    return any(_has_to_choose(state, horse) for horse in _iter_horses_in_order(state))


def _find_horse_to_choose_for(state: State, seat: int) -> Horse | None:
    """§4.5: return the first horse of this player that still needs a card, or has to pass; None if none does."""
    if not _is_choosing(state):
        return None
    for horse in _iter_horses_in_order(state):
        if horse.seat == seat and _has_to_choose(state, horse):
            return horse
    return None


def _iter_horses_in_order(state: State) -> Iterator[Horse]:
    return (state.horses[index] for index in state.order)


def _has_to_choose(state: State, horse: Horse) -> bool:
    """§4.5: whether a horse still needs a card, or its player has to pass."""
    return not horse.chosen and (bool(horse.hand) or _may_pass(state, horse))


def _may_pass(state: State, horse: Horse) -> bool:
    """§4.4: whether a horse without cards could still have its bonus cards."""
    return not horse.hand and not horse.passed and can_take_bonus(state, horse)


def decide_in_round(state: State, seat: int, move: Move, chance: Chance) -> list[Event]:
    """Return the events of a move in a round."""
    match move.verb, move.args:
        case "play", (card, end):
            horse = _get_horse_in_turn(state)
            points = CARD_POINTS[card] if _may_ride(card, state.limits[state.done]) else 0
            return [Played(seat, card, horse.number), _ride(state, horse, points, end)]
        case "ride", (die, end):
            return [_ride(state, _get_horse_in_turn(state), int(die), end)]
        case "ride", (end,):
            (points,) = _list_points(state)
            return [_ride(state, _get_horse_in_turn(state), points, end)]
        case "pace", (pace,):
            return [PaceSet(seat, pace)]
        case "choose", (card,):
            return [Chose(seat, _get_deciding_horse(state, seat).number, card)]
        case "pass", ():
            return [Passed(seat, _get_deciding_horse(state, seat).number)]
        case "bonus", name:
            return [_take_bonus(state, seat, name, chance)]
    raise AssertionError(f"no move of this game: {move}")


def _ride(state: State, horse: Horse, points: int, end: str) -> Event:
    """Ride to an end of this name; a card over the limit counts no points (§7.4)."""
    assert horse.field is not None
    if not points:
        return Stayed(horse.seat, "over the limit", horse.number)
    if end == STAY:
        return Stayed(horse.seat, "blocked", horse.number)
    rides = _find_rides_in_turn(state, points)
    field = rides.ends[end]
    ridden = rides.ridden
    if end == FALL:
        return Fell(horse.seat, make_field_token(field), horse.number)
    lapsed = points - ridden
    return Rode(horse.seat, horse.field, field, to=end, ridden=ridden, number=horse.number, lapsed=lapsed)


def _take_bonus(state: State, seat: int, name: tuple[str, ...], chance: Chance) -> BonusTaken:
    """§3.3: draw the bonus cards of the horse with this name, which is empty for the only horse of a player."""
    horse = next(horse for horse in state.horses if horse.seat == seat and _name_horse(horse) == name)
    cards = draw_cards("bonus", horse.pack, BONUS_CARDS, chance)
    return BonusTaken(seat, len(cards), horse.number, cards)


def continue_round(state: State, chance: Chance) -> Event | None:
    """Return what happens next without a decision; None where a player has to decide."""
    if state.kind == "dice":
        return _continue_dice_round(state, chance)
    if _is_choosing(state):
        return None
    if any(horse.chosen for horse in state.horses):  # all have chosen
        return _reveal_cards(state, chance)
    horse = _get_horse_in_turn(state)
    if horse.card:  # turned up with those of all others (§4.5)
        if _may_ride(horse.card, state.limits[state.done]):
            return _ride_if_forced(state)
        return _ride(state, horse, points=0, end=STAY)
    if horse.hand or _may_pass(state, horse):
        return None
    return Stayed(horse.seat, "no card", horse.number)  # §4.3


def _continue_dice_round(state: State, chance: Chance) -> Event | None:
    """Throw the dice, or make a ride that can end in one way only; None where a player has to decide."""
    if not state.dice:
        return DiceRolled(_find_roller(state), roll_dice(chance))
    return _ride_if_forced(state) if state.pace else None


def _find_roller(state: State) -> int:
    """§5.2: the throw goes round clockwise, passing over players without a horse on the course."""
    roller = state.roller
    assert roller is not None
    running = {state.horses[index].seat for index in find_running_horses(state)}
    clockwise = ((roller + step) % state.seats for step in range(state.seats))
    return next(seat for seat in clockwise if seat in running)


def roll_dice(chance: Chance) -> tuple[int, int]:
    return chance.roll("die", 6), chance.roll("die", 6)


def _ride_if_forced(state: State) -> Event | None:
    """§6.1: make a ride that can end in one way only; None if the rider has a choice."""
    options = _list_ride_options(state)
    if len(options) > 1:
        return None
    (end,) = options[0]  # no die comes before it: a rider who picks one has an option for each
    (points,) = _list_points(state)
    return _ride(state, _get_horse_in_turn(state), points, end)


def _reveal_cards(state: State, chance: Chance) -> Revealed:
    """§4.5: turn up all chosen cards at once, which cannot be undone."""
    chance.reveal("cards")
    return Revealed(tuple(horse.chosen for horse in state.horses))


def end_round(state: State) -> Event:
    """Return the next event after every horse has had its turn: arrivals first, one by one; a new round comes last."""
    fields = find_running_horses(state)
    event = _arrive(state, fields) or _end_race(state, fields) or _change_hedges(state, fields)
    return event or _begin_round(state, fields)


def _arrive(state: State, fields: dict[int, Field]) -> Event | None:
    """§8.1: of the horses past the line the farthest arrives first."""
    past = [index for index, field in fields.items() if get_front(field) > FINISH]
    if not past:
        return None
    horse = state.horses[min(past, key=lambda index: _make_sort_key(fields[index]))]
    place = len(state.arrived) + 1
    points = POINTS[place - 1] if place <= len(POINTS) else 0
    return Arrived(horse.seat, place, horse.number, points)


def _make_sort_key(field: Field) -> tuple[int, int]:
    """§1.4: a key that sorts horses: the farthest first, and level ones from the inner lane."""
    lane, _ = field
    return -get_front(field), lane


def _end_race(state: State, fields: dict[int, Field]) -> Event | None:
    """§2.4: the next start boxes follow the order of arrival; then come the fallen, the last one to fall first."""
    are_horses_on_course = bool(fields)
    return None if are_horses_on_course else RaceEnded((*state.arrived, *reversed(state.fallen)))


def _change_hedges(state: State, fields: dict[int, Field]) -> Event | None:
    """§9.2: put up the hedge on the start row, and take away the first one, as soon as all horses are past them."""
    if not state.hedges:
        return None
    have_all_left_boxes = all(index > 0 for _, index in fields.values())  # a box is the field 0 of its lane
    if START_HEDGE not in state.hedges and have_all_left_boxes:
        return HedgePlaced(START_HEDGE)
    hedge_front = max(get_front(field) for field in HEDGES[FIRST_HEDGE])
    if FIRST_HEDGE in state.hedges and all(get_front(field) > hedge_front for field in fields.values()):
        return HedgeRemoved(FIRST_HEDGE)
    return None


def _begin_round(state: State, fields: dict[int, Field]) -> RoundBegan:
    """§4.1, §7.1: the order of play and the limits hold for the whole round."""
    order = sorted(fields, key=lambda index: _make_sort_key(fields[index]))
    fronts = [get_front(fields[index]) for index in order]
    ahead = [len(state.arrived) + fronts.index(own) for own in fronts]  # horses that are level are not ahead
    kind: Kind = "dice" if state.round % 2 else "cards"  # rounds 1, 3, 5 ... are of cards
    return RoundBegan(state.round + 1, kind, tuple(order), tuple(map(_find_move_limit, ahead)))


def _find_move_limit(ahead: int) -> int:
    """§7.1 to §7.3: return how far a horse may ride with so many others ahead of it, arrived ones included.

    A handicap is the number that its move must stay below.
    """
    return HANDICAPS[ahead] - 1 if ahead < len(HANDICAPS) else MOST_POINTS
