"""Scenario files: worked examples of the rules, told as data and checked without any service.

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
from msgspec import Struct
from msgspec.structs import asdict, replace

from engine import catalogue
from engine import chance as chances
from engine import game as games
from engine import menu as menus
from engine import options as choices
from engine.canonical_json import convert
from engine.chance import Chance, Rig
from engine.game import Game
from engine.refusal import Refused


class Claim(Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that has to be true: a value in somebody's view, or an event that happened (any of its fields)."""

    path: str = ""
    seat: int | None = None
    value: Any = None
    event: dict[str, Any] | None = None


Expectation = str | Claim


class Step(Struct, frozen=True, forbid_unknown_fields=True):
    """A move that is played, or one that is refused for a reason; what holds after it may be said at once."""

    seat: int
    move: str = ""
    refused: str = ""
    because: str = ""
    rig: dict[str, list[Any]] = {}
    expect: tuple[Expectation, ...] = ()


class Picture(Struct, frozen=True, forbid_unknown_fields=True):
    """How an example is shown: a part of the board, whose eyes see it, and the words of a move that light it up.

    `whole` shows what lies beside the board too, as in a letter; `since` is how many steps are played before it begins.
    """

    box: tuple[float, float, float, float] | None = None
    whole: bool = False
    since: int = 0
    seat: int | None = None
    choosing: str = ""


class Scenario(Struct, frozen=True, forbid_unknown_fields=True):
    """A worked example; `told` is what a lesson says about it, by language."""

    game: str
    seats: int
    title: str = ""
    source: str = ""
    options: dict[str, Any] = {}
    given: dict[str, Any] = {}
    rig: dict[str, list[Any]] = {}
    steps: tuple[Step, ...] = ()
    expect: tuple[Expectation, ...] = ()
    picture: Picture = Picture()
    told: dict[str, str] = {}


class Failed(Exception):
    """A scenario that does not hold, and where."""


class Unfit(Failed):
    """A file that is no scenario of a game we have: nothing about the rules was checked."""


class Stage(Struct, frozen=True):
    """Where a scenario has come to: the position, and everything that happened in the last step and before.

    `refusal` is why the last step was refused, if it was.
    """

    game: Game
    seats: int
    state: Any
    latest: tuple[Any, ...] = ()
    events: tuple[Any, ...] = ()
    refusal: Refused | None = None


def load(path: Path, text: str | None = None) -> Scenario:
    """A scenario from a TOML or JSON file."""
    text = path.read_text("utf-8") if text is None else text
    try:
        raw = msgspec.json.decode(text) if path.suffix == ".json" else tomllib.loads(text)
        return convert(raw, Scenario)
    except (msgspec.MsgspecError, tomllib.TOMLDecodeError) as error:
        raise Unfit(f"{path} is not a scenario: {error}") from error


def run(scenario: Scenario, game: Game | None = None) -> Any:
    """Play the scenario through and return the last position; raises Failed where something is not as it says."""
    *_, last = stages(scenario, game)
    return last.state


def stages(scenario: Scenario, game: Game | None = None) -> Iterator[Stage]:
    """The opening, and the position after each step; raises Failed where something is not as it says."""
    game = game or _find(scenario.game)
    rig = Rig(scenario.rig, _luck(scenario.title))
    stage = _opening(scenario, game, rig)
    yield stage
    for number, step in enumerate(scenario.steps, 1):
        where = f"step {number} (seat {step.seat}: {step.move or step.refused})"
        stage = _step(stage, step, where, rig)
        _check(stage, step.expect, where)
        yield stage
    _check(stage, scenario.expect, "the end")
    _refuse_left(rig, "the end")


class Tried(Struct, frozen=True):
    """What became of another move in the place of a scenario's last one, and whether it does what that one does."""

    stage: Stage
    fits: bool


def before_last(scenario: Scenario, game: Game | None = None) -> Stage:
    """The position in which the last move of the scenario is made."""
    *_, stage = itertools.islice(stages(scenario, game), len(scenario.steps))
    return stage


def attempt(scenario: Scenario, text: str, word: menus.Spell = lambda token: (token,)) -> Tried:
    """Play these words instead of the last move; raises Refused where the rules do not allow them."""
    stage, step = before_last(scenario), scenario.steps[-1]
    rig = Rig(step.rig, Rig(scenario.rig, _luck(scenario.title)))
    move = menus.parse_move(stage.game.menu(stage.state, step.seat), text, word)
    played = games.play(stage.game, stage.state, step.seat, move, Chance(rig))
    after = Stage(stage.game, stage.seats, played.state, played.events, stage.events + played.events)
    try:
        _check(after, step.expect, "")
    except Failed:
        return Tried(after, False)
    return Tried(after, True)


def _luck(title: str) -> chances.Source:
    """What is drawn where nothing was foreseen: the same for a scenario every time."""
    key, numbers = chances.derive_key(title.encode(), ()), itertools.count()
    return lambda label, faces, _: chances.compute_draw(key, 0, next(numbers), len(faces))


def _find(name: str) -> Game:
    try:
        return catalogue.find(name)
    except Refused as refused:
        raise Unfit(f"the opening: {refused}") from refused


def _refuse_left(rig: Rig, where: str) -> None:
    """What was foreseen and never drawn shows that the rules went another way than the example thinks."""
    if rig.left:
        left = "; ".join(f"“{label}”: {', '.join(map(str, results))}" for label, results in rig.left.items())
        raise Failed(f"{where}: foreseen but never drawn: {left}")


def _opening(scenario: Scenario, game: Game, rig: Rig) -> Stage:
    try:
        options = choices.parse(game.META.options, scenario.options)
        state, events = games.begin(game, options, scenario.seats, Chance(rig))
    except Refused as refused:
        raise Unfit(f"the opening: {refused}") from refused
    except chances.UnexpectedDraw as unforced:
        raise Failed(f"the opening: {unforced}") from unforced
    state = patched(game, state, scenario.given) if scenario.given else state
    return Stage(game, scenario.seats, state, events, events)


def patched(game: Game, state: Any, patch: Mapping[str, Any]) -> Any:
    """The state with some of its parts replaced: tables are merged, everything else is put in its place.

    The text `"-"` removes a key, and `"*" = "-"` all that were there. Forced consequences
    of the patched position are left for the next move.
    """
    try:
        return convert(_merged(msgspec.to_builtins(state, str_keys=True), patch), game.State, strict=False)
    except msgspec.ValidationError as error:
        raise Unfit(f"what is given does not make a position: {error}") from error


def _merged(old: Any, new: Any) -> Any:
    if not isinstance(new, Mapping) or not isinstance(old, Mapping):
        return new
    kept = {key: value for key, value in old.items() if "-" not in (new.get("*"), new.get(key))}
    return kept | {key: _merged(old.get(key), value) for key, value in new.items() if value != "-"}


def _step(stage: Stage, step: Step, where: str, rig: Rig) -> Stage:
    if bool(step.move) == bool(step.refused):
        raise Failed(f"{where}: say either what is moved or what is refused")
    if not 0 <= step.seat < stage.seats:
        raise Failed(f"{where}: there is no such seat")
    own = Rig(step.rig, rig)
    menu = stage.game.menu(stage.state, step.seat)
    try:
        move = menus.parse_move(menu, step.move or step.refused)
        played = games.play(stage.game, stage.state, step.seat, move, Chance(own))
    except Refused as refused:
        return _refused(stage, step, where, refused)
    except chances.UnexpectedDraw as unforced:
        raise Failed(f"{where}: {unforced}") from unforced
    if step.refused:
        raise Failed(f"{where}: was accepted")
    _refuse_left(own, where)
    return Stage(stage.game, stage.seats, played.state, played.events, stage.events + played.events)


def _refused(stage: Stage, step: Step, where: str, refused: Refused) -> Stage:
    if step.move:
        raise Failed(f"{where}: {refused}")
    if step.because.casefold() not in str(refused).casefold():
        raise Failed(f"{where}: was refused with “{refused}”, not because “{step.because}”")
    return replace(stage, refusal=refused)


def _check(stage: Stage, expectations: Sequence[Expectation], where: str) -> None:
    for expectation in expectations:
        match expectation:
            case str():
                _check_sentence(stage, expectation, where)
            case Claim(event=dict(event)):
                _check_event(stage, event, where)
            case Claim():
                _check_view(stage, expectation, where)


def _check_event(stage: Stage, wanted: Mapping[str, Any], where: str) -> None:
    happened = [_plain(event) for event in stage.latest]
    if not any(wanted.items() <= event.items() for event in happened):
        raise Failed(f"{where}: no {wanted} happened, only {happened}")


def _plain(event: Any) -> dict[str, Any]:
    """An event as plain values, what its stored form leaves out as a default included."""
    return {"type": type(event).__name__, **_as_read(asdict(event))}


def _as_read(value: Any) -> Any:
    """A value in the shape it would have if it came from a file: lists, texts and numbers."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _check_view(stage: Stage, claim: Claim, where: str) -> None:
    found = _as_read(stage.game.view(stage.state, claim.seat))
    for key in claim.path.split("."):
        found = _at(found, key, f"{where}: {claim.path}")
    if found != claim.value:
        raise Failed(f"{where}: {claim.path} is {found!r}, not {claim.value!r}")


def _at(found: Any, key: str, where: str) -> Any:
    try:
        return found[int(key)] if isinstance(found, Sequence) else found[key]
    except (KeyError, IndexError, ValueError, TypeError) as error:
        raise Failed(f"{where} is not in the view") from error


def _check_sentence(stage: Stage, sentence: str, where: str) -> None:
    for pattern, holds in SENTENCES.items():
        found = re.fullmatch(pattern, sentence)
        if found:
            if _holds(stage, holds, found.groups(), f"{where}: “{sentence}”"):
                return
            raise Failed(f"{where}: “{sentence}” does not hold; {_situation(stage)}")
    raise Unfit(f"{where}: nobody knows how to check “{sentence}”")


def _holds(stage: Stage, holds: Callable[..., bool], words: Sequence[str], where: str) -> bool:
    try:
        return holds(stage, *words)
    except IndexError as error:
        raise Failed(f"{where} speaks of a seat that is not there") from error


def _to_move(stage: Stage) -> list[int]:
    return [seat for seat in range(stage.seats) if stage.game.menu(stage.state, seat)]


def _situation(stage: Stage) -> str:
    scores = [standing.score for standing in stage.game.standing(stage.state)]
    return f"to move: {_to_move(stage)}, scores {scores}, happened: {', '.join(type(e).__name__ for e in stage.latest)}"


def _may(stage: Stage, seat: str, move: str) -> bool:
    try:
        menus.parse_move(stage.game.menu(stage.state, int(seat)), move)
    except Refused:
        return False
    return True


def _happened(events: Sequence[Any], name: str) -> bool:
    return any(type(event).__name__ == name for event in events)


SENTENCES: dict[str, Callable[..., bool]] = {
    r"seat (\d+) has (-?\d+) points?": lambda stage, seat, points: (
        stage.game.standing(stage.state)[int(seat)].score == int(points)
    ),
    r"seat (\d+) is to move": lambda stage, seat: int(seat) in _to_move(stage),
    r"seat (\d+) is not to move": lambda stage, seat: int(seat) not in _to_move(stage),
    r"nobody is to move": lambda stage: not _to_move(stage),
    r"seat (\d+) may (?!not )(.+)": _may,
    r"seat (\d+) may not (.+)": lambda stage, seat, move: not _may(stage, seat, move),
    r"seat (\d+) is out": lambda stage, seat: stage.game.standing(stage.state)[int(seat)].out,
    r"seat (\d+) is in": lambda stage, seat: not stage.game.standing(stage.state)[int(seat)].out,
    r"seat (\d+) is placed (\d+)": lambda stage, seat, place: (
        stage.game.standing(stage.state)[int(seat)].place == int(place)
    ),
    r"seat (\d+) wins": lambda stage, seat: stage.game.standing(stage.state)[int(seat)].place == 1,
    r"the game is over": lambda stage: games.is_over(stage.game, stage.state),
    r"the game goes on": lambda stage: not games.is_over(stage.game, stage.state),
    r"(\w+) happened": lambda stage, name: _happened(stage.latest, name),
    r"(\w+) did not happen": lambda stage, name: not _happened(stage.latest, name),
    r"(\w+) never happened": lambda stage, name: not _happened(stage.events, name),
}
