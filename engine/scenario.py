"""Scenario files: worked examples of the rules as data, checked without any service.

The format is described in `engine/README.md`.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import asdict, replace

from engine import catalogue
from engine import chance as chances
from engine import game as games
from engine import menu as menus
from engine.canonical_json import convert
from engine.chance import Chance, Rig
from engine.game import Game, Outcome
from engine.options import parse as parse_options
from engine.refusal import Refused


class Claim(Struct, frozen=True, forbid_unknown_fields=True):
    """An expectation: a value in the view of a seat or a spectator, or an event of the last step, by some fields."""

    path: str = ""
    seat: int | None = None
    value: Any = None
    event: dict[str, Any] | None = None


Expectation = str | Claim


class ScenarioStep(Struct, frozen=True, forbid_unknown_fields=True):
    """A step: a move that is made, or a move that is refused for a reason, and what is expected after it.

    `rig` has the results of its draws in order, by label.
    """

    seat: int
    move: str = ""
    refused: str = ""
    because: str = ""
    rig: dict[str, list[Any]] = {}
    expect: tuple[Expectation, ...] = ()


class ScenarioPicture(Struct, frozen=True, forbid_unknown_fields=True):
    """How a book shows an example: a part of the board, the seat that sees it, and words of a move to highlight.

    `box` is the left, top, width and height of the part, or None for the whole board. `whole` also shows the things
    beside the board, as in a letter; `since` is the number of steps before the picture.
    """

    box: tuple[float, float, float, float] | None = None
    whole: bool = False
    since: int = 0
    seat: int | None = None
    choosing: str = ""


class Scenario(Struct, frozen=True, forbid_unknown_fields=True):
    """A worked example; `sentences` are the texts of a lesson about it and `goals` how its game is won, by language."""

    game: str
    seats: int
    title: str = ""
    source: str = ""
    options: dict[str, Any] = {}
    given: dict[str, Any] = {}
    rig: dict[str, list[Any]] = {}
    steps: tuple[ScenarioStep, ...] = ()
    expect: tuple[Expectation, ...] = ()
    picture: ScenarioPicture = ScenarioPicture()
    sentences: dict[str, str] = field(name="told", default_factory=dict)
    goals: dict[str, str] = field(name="goal", default_factory=dict)


class Failed(Exception):
    """A scenario does not hold; the text says at which step."""


class Invalid(Failed):
    """A file is not a scenario of an installed game: nothing about the rules was checked."""


class ScenarioMoment(Struct, frozen=True):
    """The opening of a scenario, or what a step led to: the state, and the events of that step (`latest`) and of all.

    `refusal` is the reason if the last step was refused.
    """

    game: Game
    seats: int
    state: Any
    latest: tuple[Any, ...] = ()
    events: tuple[Any, ...] = ()
    refusal: Refused | None = None


def load(path: Path, text: str | None = None) -> Scenario:
    """Load a scenario from a TOML or JSON file; `text` is its content if the caller has read it already."""
    text = path.read_text("utf-8") if text is None else text
    try:
        raw = msgspec.json.decode(text) if path.suffix == ".json" else tomllib.loads(text)
        return convert(raw, Scenario)
    except (msgspec.MsgspecError, tomllib.TOMLDecodeError) as error:
        raise Invalid(f"{path} is not a scenario: {error}") from error


def run(scenario: Scenario, game: Game | None = None) -> Any:
    """Play the whole scenario and return the last state; raise Failed if an expectation does not hold."""
    *_, last = play_steps(scenario, game)
    return last.state


def play_steps(scenario: Scenario, game: Game | None = None, rig: Rig | None = None) -> Iterator[ScenarioMoment]:
    """Yield the opening, and the moment after each step; raise Failed if an expectation does not hold.

    `rig` has the results of draws that the scenario gives, which are used up; a new one is made for None.
    """
    game, rig = game or _find(scenario.game), rig or _make_rig(scenario)
    moment = _open(scenario, game, rig)
    yield moment
    for number, step in enumerate(scenario.steps, 1):
        where = f"step {number} (seat {step.seat}: {step.move or step.refused})"
        moment = _play_step(moment, step, where, rig)
        _check_expectations(moment, step.expect, where)
        yield moment
    _check_expectations(moment, scenario.expect, "the end")
    _check_rig_is_empty(rig, "the end")


class Trial(Struct, frozen=True):
    """The moment after another move than the scenario's last one, and whether that step's expectations hold."""

    moment: ScenarioMoment
    fits: bool


def play_to_last(scenario: Scenario, rig: Rig | None = None) -> ScenarioMoment:
    """Return the moment before the last move of the scenario; `rig` as for `play_steps`."""
    moments = play_steps(scenario, rig=rig)  # first the opening, then one for each step
    moment = next(moments)
    for _ in scenario.steps[:-1]:
        moment = next(moments)
    return moment


def try_instead(scenario: Scenario, text: str, spell: menus.Spell = lambda token: (token,)) -> Trial:
    """Make the move that this text means instead of the last one; raise Refused if the rules do not allow it."""
    rig = _make_rig(scenario)
    moment = play_to_last(scenario, rig)  # uses results of the rig up
    step = scenario.steps[-1]
    move = menus.parse_move(moment.game.menu(moment.state, step.seat), text, spell)
    outcome = games.play(moment.game, moment.state, step.seat, move, Chance(Rig(step.rig, otherwise=rig)))
    after = _make_next_moment(moment, outcome)
    try:
        _check_expectations(after, step.expect, where="")
    except Failed:
        return Trial(after, fits=False)
    return Trial(after, fits=True)


def _make_next_moment(moment: ScenarioMoment, outcome: Outcome) -> ScenarioMoment:
    """Return the moment after a move."""
    events = moment.events + outcome.events
    return ScenarioMoment(moment.game, moment.seats, outcome.state, latest=outcome.events, events=events)


def _make_rig(scenario: Scenario) -> Rig:
    """Return the rig of a whole scenario; what it does not foresee is drawn, the same every time."""
    return Rig(scenario.rig, otherwise=_make_source(scenario.title))


def _make_source(title: str) -> chances.Source:
    """Return a source for draws that are not rigged; the same for a scenario every time."""
    key, numbers = chances.derive_key(title.encode(), ()), itertools.count()
    return lambda label, faces, _: chances.compute_draw(key, entry=0, index=next(numbers), size=len(faces))


def _find(name: str) -> Game:
    """Return the game of this name; raise Invalid if it is not installed."""
    try:
        return catalogue.find(name)
    except Refused as refused:
        raise Invalid(f"the opening: {refused}") from refused


def _check_rig_is_empty(rig: Rig, where: str) -> None:
    """Raise Failed for rigged results that were never drawn: the rules did something else than the example expects."""
    if rig.results_left:
        unused = "; ".join(f"“{label}”: {', '.join(map(str, results))}" for label, results in rig.results_left.items())
        raise Failed(f"{where}: foreseen but never drawn: {unused}")


def _open(scenario: Scenario, game: Game, rig: Rig) -> ScenarioMoment:
    """Begin the game of a scenario, and put its `given` changes into the state."""
    try:
        options = parse_options(game.META.options, scenario.options)
        state, events = games.begin(game, options, scenario.seats, Chance(rig))
    except Refused as refused:
        raise Invalid(f"the opening: {refused}") from refused
    except chances.UnexpectedDraw as unexpected:
        raise Failed(f"the opening: {unexpected}") from unexpected
    state = patch(game, state, scenario.given) if scenario.given else state
    return ScenarioMoment(game, scenario.seats, state, latest=events, events=events)


def patch(game: Game, state: Any, changes: Mapping[str, Any]) -> Any:
    """Return the state with these changes: tables are merged, all other values are replaced.

    The text `"-"` removes a key, and `"*" = "-"` removes all. Events that the rules force then are left to the next
    move.
    """
    try:
        return convert(_merge(msgspec.to_builtins(state, str_keys=True), changes), game.State, strict=False)
    except msgspec.ValidationError as error:
        raise Invalid(f"what is given does not make a position: {error}") from error


def _merge(old: Any, new: Any) -> Any:
    """Return the old value with the changes of `patch`; only two tables are merged, key by key."""
    if not isinstance(new, Mapping) or not isinstance(old, Mapping):
        return new
    added = {key: _merge(old.get(key), value) for key, value in new.items() if value != "-"}
    if new.get("*") == "-":
        return added
    return {key: value for key, value in old.items() if new.get(key) != "-"} | added


def _play_step(moment: ScenarioMoment, step: ScenarioStep, where: str, rig: Rig) -> ScenarioMoment:
    """Return the moment after a step; raise Failed if its move is refused, or its refused move is accepted."""
    if bool(step.move) == bool(step.refused):
        raise Failed(f"{where}: say either what is moved or what is refused")
    if not 0 <= step.seat < moment.seats:
        raise Failed(f"{where}: there is no such seat")
    step_rig = Rig(step.rig, otherwise=rig)
    menu = moment.game.menu(moment.state, step.seat)
    try:
        move = menus.parse_move(menu, step.move or step.refused)
        outcome = games.play(moment.game, moment.state, step.seat, move, Chance(step_rig))
    except Refused as refused:
        return _check_refusal(moment, step, where, refused)
    except chances.UnexpectedDraw as unexpected:
        raise Failed(f"{where}: {unexpected}") from unexpected
    if step.refused:
        raise Failed(f"{where}: was accepted")
    _check_rig_is_empty(step_rig, where)
    return _make_next_moment(moment, outcome)


def _check_refusal(moment: ScenarioMoment, step: ScenarioStep, where: str, refused: Refused) -> ScenarioMoment:
    """Return the moment with its refusal; raise Failed if the step expects none, or one for another reason."""
    if step.move:
        raise Failed(f"{where}: {refused}")
    if step.because.casefold() not in str(refused).casefold():
        raise Failed(f"{where}: was refused with “{refused}”, not because “{step.because}”")
    return replace(moment, refusal=refused)


def _check_expectations(moment: ScenarioMoment, expectations: Sequence[Expectation], where: str) -> None:
    """Raise Failed at the first expectation that does not hold."""
    for expectation in expectations:
        match expectation:
            case str():
                _check_sentence(moment, expectation, where)
            case Claim(event=dict(event)):
                _check_event(moment, event, where)
            case Claim():
                _check_view(moment, expectation, where)


def _check_event(moment: ScenarioMoment, expected: Mapping[str, Any], where: str) -> None:
    """Raise Failed if no event of the last step has all of these fields."""
    events = [_convert_event(event) for event in moment.latest]
    if not any(expected.items() <= event.items() for event in events):
        raise Failed(f"{where}: no {expected} happened, only {events}")


def _convert_event(event: Any) -> dict[str, Any]:
    """Convert an event to plain values, including the defaults that its stored form omits."""
    return {"type": type(event).__name__, **_convert(asdict(event))}


def _convert(value: Any) -> Any:
    """Convert a value to lists, texts and numbers, as if it came from a file."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _check_view(moment: ScenarioMoment, claim: Claim, where: str) -> None:
    """Raise Failed if the view of the claim's seat has another value at its path, such as `players.0.stack`."""
    value = _convert(moment.game.view(moment.state, claim.seat))
    for key in claim.path.split("."):
        value = _get_item(value, key, f"{where}: {claim.path}")
    if value != claim.value:
        raise Failed(f"{where}: {claim.path} is {value!r}, not {claim.value!r}")


def _get_item(value: Any, key: str, where: str) -> Any:
    """Return an item of a list or a dict of the view; raise Failed if it is not there."""
    try:
        return value[int(key)] if isinstance(value, Sequence) else value[key]
    except (KeyError, IndexError, ValueError, TypeError) as error:
        raise Failed(f"{where} is not in the view") from error


def _check_sentence(moment: ScenarioMoment, sentence: str, where: str) -> None:
    """Raise Failed if the sentence does not hold, and Invalid if it is none of `SENTENCES`."""
    for pattern, holds in SENTENCES.items():
        match = re.fullmatch(pattern, sentence)
        if match:
            if _holds(moment, holds, match.groups(), f"{where}: “{sentence}”"):
                return
            raise Failed(f"{where}: “{sentence}” does not hold; {_describe(moment)}")
    raise Invalid(f"{where}: there is no check “{sentence}”; engine/README.md lists those that exist")


def _holds(moment: ScenarioMoment, holds: Callable[..., bool], words: Sequence[str], where: str) -> bool:
    """Whether a check with these words of its sentence holds; raise Failed if they name a seat that is not there."""
    try:
        return holds(moment, *words)
    except IndexError as error:
        raise Failed(f"{where} speaks of a seat that is not there") from error


def _find_seats_to_move(moment: ScenarioMoment) -> list[int]:
    return [seat for seat in range(moment.seats) if moment.game.menu(moment.state, seat)]


def _describe(moment: ScenarioMoment) -> str:
    """Say where the game is, for the message of a step that failed."""
    scores = [standing.score for standing in moment.game.standing(moment.state)]
    events = ", ".join(type(event).__name__ for event in moment.latest)
    return f"to move: {_find_seats_to_move(moment)}, scores {scores}, happened: {events}"


def _can_move(moment: ScenarioMoment, seat: str, move: str) -> bool:
    """Return whether the menu of a seat has this move."""
    try:
        menus.parse_move(moment.game.menu(moment.state, int(seat)), move)
    except Refused:
        return False
    return True


def _has_event(events: Sequence[Any], name: str) -> bool:
    return any(type(event).__name__ == name for event in events)


SENTENCES: dict[str, Callable[..., bool]] = {
    r"seat (\d+) has (-?\d+) points?": lambda moment, seat, points: (
        moment.game.standing(moment.state)[int(seat)].score == int(points)
    ),
    r"seat (\d+) is to move": lambda moment, seat: int(seat) in _find_seats_to_move(moment),
    r"seat (\d+) is not to move": lambda moment, seat: int(seat) not in _find_seats_to_move(moment),
    r"nobody is to move": lambda moment: not _find_seats_to_move(moment),
    r"seat (\d+) may (?!not )(.+)": _can_move,
    r"seat (\d+) may not (.+)": lambda moment, seat, move: not _can_move(moment, seat, move),
    r"seat (\d+) is out": lambda moment, seat: moment.game.standing(moment.state)[int(seat)].out,
    r"seat (\d+) is in": lambda moment, seat: not moment.game.standing(moment.state)[int(seat)].out,
    r"seat (\d+) is placed (\d+)": lambda moment, seat, place: (
        moment.game.standing(moment.state)[int(seat)].place == int(place)
    ),
    r"seat (\d+) wins": lambda moment, seat: moment.game.standing(moment.state)[int(seat)].place == 1,
    r"the game is over": lambda moment: games.is_over(moment.game, moment.state),
    r"the game goes on": lambda moment: not games.is_over(moment.game, moment.state),
    r"(\w+) happened": lambda moment, name: _has_event(moment.latest, name),
    r"(\w+) did not happen": lambda moment, name: not _has_event(moment.latest, name),
    r"(\w+) never happened": lambda moment, name: not _has_event(moment.events, name),
}
