"""Lessons, examples and samples: small positions of a game with a move to find, and whole games for demonstration."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from engine import bots, canonical_json, catalogue, log, options, record, table
from engine import scenario as scenarios
from engine.chance import commit
from engine.game import Game
from engine.log import Entry, Export, ExportedEntry
from engine.menu import Choice, Menu, Move
from engine.record import Table
from engine.refusal import Refused
from engine.scenario import Scenario, ScenarioMoment, ScenarioPicture, Trial
from service.text import drawing, languages, move_words, templates
from service.text.drawing import Scene
from service.text.narration import Narrator

FIRST_ENTRY_AT, PAUSE_S = 1_700_000_000, 60  # made-up times of a sample's entries
NAMES = ("Anna", "Bruno", "Clara", "David", "Emma", "Felix", "Greta", "Hugo")


class Sample:
    """A table and its log, to which commands can be added; a refused command changes nothing."""

    def __init__(self, game: Game, seed: bytes) -> None:
        self.game = game
        self.seed = hashlib.sha256(seed).digest()
        self.table = Table()
        self.entries: list[Entry[Any]] = []

    def do(self, seat: int | None, move: Move) -> None:
        """Play a command of a seat, or of the server (None), and append its entry."""
        chance = table.make_sealed_chance(self.table, self.seed)
        self.table, events = table.play(self.game, self.table, seat, move, chance, self.rebuild_before)
        seq = len(self.entries)
        at = FIRST_ENTRY_AT + PAUSE_S * seq
        draws = tuple(chance.draws)
        self.entries.append(Entry(seq, at, seat, str(move), draws, events, self.game.META.edition))

    def rebuild_before(self, seq: int) -> Table:
        """Return the table as it was before entry `seq`."""
        return record.fold(self.game, self.entries, seq)

    def export(self, name: str = "sample", seat: int | None = None) -> Export:
        """Export the log: all of it once the table is over, before that the part that this seat may know."""
        over = self.table.phase == "over"
        return make_export(self.game, self.entries, self.seed, name, reveal=over, seat=None if over else seat)


def make_export(
    game: Game, entries: Iterable[Entry[Any]], seed: bytes, name: str, *, reveal: bool, seat: int | None
) -> Export:
    """Seal the entries of the table `name` for an export: each gets its digest.

    `reveal` includes the seed and every entry, otherwise the seat, or a spectator (None), sees its own part.
    """
    exported_entries = tuple(_export_entry(game, entry, seed, reveal=reveal, seat=seat) for entry in entries)
    return Export(
        table=name,
        game=game.META.name,
        commitment=commit(seed),
        head=log.compute_head(exported.digest for exported in exported_entries),
        entries=exported_entries,
        format=log.FORMAT,
        seed=seed.hex() if reveal else None,
        seat=seat,
    )


def _export_entry(game: Game, entry: Entry[Any], seed: bytes, *, reveal: bool, seat: int | None) -> ExportedEntry:
    """Export an entry: complete with `reveal`, otherwise as this seat, or a spectator, may know it."""
    body = canonical_json.encode(entry)
    digest = log.compute_digest(seed, entry.seq, body)
    if reveal:
        return ExportedEntry(digest, whole=True, entry=canonical_json.decode_object(body))
    return log.export_entry(seed, entry, log.redact(game, entry, seat), digest)


def start_sample(game: Game, seats: int, seed: bytes, chosen: Mapping[str, Any] = {}, name: str = "") -> Sample:
    """Open a table, seat all players and start the game.

    The log contains a `name` that is given, so the table can be exported under that name only.
    """
    sample = Sample(game, seed)
    sample.do(None, options.make_open_command(game, seats, sample.seed, chosen, name=name))
    for seat in range(seats):
        nonce = f"word{seat}"  # a player's part of the chance
        sample.do(None, Move("sit", (str(seat), nonce)))
    sample.do(None, Move("start"))
    return sample


def play_randomly(sample: Sample, random: Random) -> Iterator[int]:
    """Play random moves until the game is over; yield after each move the seat that made it."""
    while waiting := table.find_seats_to_move(sample.game, sample.table):
        seat = random.choice(waiting)
        sample.do(seat, bots.pick_random_move(table.menu(sample.game, sample.table, seat), random))
        yield seat


class ExampleStep(Struct, frozen=True):
    """A step of an example: a player's move and what follows from it, or why it is refused."""

    who: str
    move: str
    news: tuple[str, ...]
    refused: bool
    rule: str = ""


class ExamplePicture(Struct, frozen=True):
    """A picture of an example: its address, its size, and the position in words."""

    address: str
    width: float
    height: float
    alt: str


def get_folder(name: str, kind: str = "examples") -> Path:
    """Return the folder of a game's scenario files: its `examples` or its `lessons`."""
    return catalogue.get_folder(name) / "book" / kind


@functools.lru_cache(maxsize=64)
def list_scenarios(name: str, kind: str = "examples") -> frozenset[str]:
    """List the names of a game's scenario files."""
    return frozenset(path.stem for path in get_folder(name, kind).glob("*.toml"))


@functools.lru_cache(maxsize=256)
def load_scenario(name: str, example: str, kind: str = "examples") -> Scenario:
    """Load one scenario file of a game."""
    return scenarios.load(get_folder(name, kind) / f"{example}.toml")


@functools.lru_cache(maxsize=256)
def play_scenario(name: str, example: str, kind: str = "examples") -> tuple[ScenarioMoment, ...]:
    """Return the positions of an example: the first one, and one after each step."""
    return tuple(scenarios.play_steps(load_scenario(name, example, kind)))


def render_example(name: str, example: str, language: str, caption: Markup) -> Markup:
    """Render an example for a book: the board before, the moves, and the board after them."""
    scenario, positions = load_scenario(name, example), play_scenario(name, example)
    pictures = [_describe_picture(name, example, language, "before")]
    steps_after_picture = scenario.steps[scenario.picture.since :]
    if any(step.move for step in steps_after_picture):  # refused moves change nothing
        pictures.append(_describe_picture(name, example, language, "after"))
    steps = tuple(describe_steps(scenario, positions, language))
    template = templates.get_environment(language).get_template("pages/example.html")
    return Markup(template.render(pictures=pictures, steps=steps, caption=caption, rules=f"/rules/{name}"))  # noqa: S704


def _describe_picture(name: str, example: str, language: str, when: str) -> ExamplePicture:
    """Describe the picture `before` the moves of an example, or `after` them."""
    scenario, positions = load_scenario(name, example), play_scenario(name, example)
    moment = positions[scenario.picture.since] if when == "before" else positions[-1]
    box = scenario.picture.box or drawing.get_view_box(draw_picture(name, example, language, when))
    narrator = Narrator(moment.game, NAMES[: moment.seats], language)
    address = f"/rules/{name}/{language}/{example}-{when}.svg"
    alt = narrator.describe_board(moment.game.view(moment.state, scenario.picture.seat))
    _, _, width, height = box
    return ExamplePicture(address, width, height, alt)


@functools.lru_cache(maxsize=64)
def draw_picture(name: str, example: str, language: str, when: str) -> str:
    """Draw the board `before` or `after` an example, cropped; only in the picture `before` are choices lit."""
    scenario, positions = load_scenario(name, example), play_scenario(name, example)
    if when == "before":
        moment = positions[scenario.picture.since]
        return draw_position(moment, scenario.picture, language, select_choices(scenario, moment))
    return draw_position(positions[-1], scenario.picture, language, ())


def draw_position(moment: ScenarioMoment, picture: ScenarioPicture, language: str, menu: Menu) -> str:
    """Draw a position with the board of its game; the choices of the menu are lit."""
    players = drawing.list_players(NAMES[: moment.seats])
    view = moment.game.view(moment.state, picture.seat)
    scene = Scene(moment.game, view, players, picture.seat, menu, language)
    return drawing.draw_illustration(scene, picture.box, whole=picture.whole)


def select_choices(scenario: Scenario, moment: ScenarioMoment) -> Menu:
    """Return the menu of what can follow the words `choosing` of a scenario's picture; empty if there are none."""
    if not scenario.picture.choosing:
        return ()
    verb, *tokens = scenario.picture.choosing.split()
    seat = scenario.picture.seat
    if seat is None:  # a spectator has no menu: that of the player who moves first is shown
        seat = scenario.steps[0].seat if scenario.steps else 0
    entries = [entry for entry in moment.game.menu(moment.state, seat) if entry.verb == verb]
    # Only a `Choice` lists its moves word by word; entries of other kinds are shown whole.
    return tuple(_continue_choice(entry, tuple(tokens)) if isinstance(entry, Choice) else entry for entry in entries)


def _continue_choice(entry: Choice, tokens: tuple[str, ...]) -> Choice:
    """Keep the options that begin with these tokens, without the tokens."""
    rest = (args[len(tokens) :] for args in entry.options if args[: len(tokens)] == tokens)
    return replace(entry, options=tuple(rest))


def describe_steps(scenario: Scenario, positions: tuple[ScenarioMoment, ...], language: str) -> Iterator[ExampleStep]:
    """Describe each step in the sentences of a letter; steps before the picture are left out."""
    positions_after = positions[1:]
    steps = list(zip(scenario.steps, positions_after, strict=True))
    for step, moment in steps[scenario.picture.since :]:
        narrator = Narrator(moment.game, NAMES[: moment.seats], language, scenario.picture.seat)
        name = NAMES[step.seat]
        move = translate_move(moment, step.move or step.refused, language)  # a step has one of the two
        if step.refused:
            assert moment.refusal  # as the scenario was played
            refusal = describe_refusal(moment, language)
            yield ExampleStep(name, move, news=(refusal,), refused=True, rule=moment.refusal.rule)
        else:
            yield ExampleStep(name, move, news=describe_news(moment, narrator, seat=None), refused=False)


def describe_news(moment: ScenarioMoment, narrator: Narrator, seat: int | None) -> tuple[str, ...]:
    """Describe the events of the last step that this seat, or a spectator (None), may know."""
    events = (moment.game.hear(event, seat) for event in moment.latest)
    sentences = (narrator.describe(event) for event in events if event is not None)
    return tuple(sentence for sentence in sentences if sentence)


def describe_refusal(moment: ScenarioMoment, language: str) -> str:
    """Return why the last step was refused; moves in the sentence are translated too."""
    assert moment.refusal
    moves = {key: translate_move(moment, str(word), language) for key, word in moment.refusal.words.items()}
    return languages.translate(language, Refused(moment.refusal.sentence, rule="", **moves))


def translate_move(moment: ScenarioMoment, move: str, language: str) -> str:
    """Write a move with the words of this language."""
    if language == languages.SOURCE:
        return move
    vocabulary = move_words.make_vocabulary(moment.game, NAMES[: moment.seats], language)
    return " ".join(map(vocabulary.get_letter_form, move.split()))


class Lesson(Struct, frozen=True):
    """A position of a scenario file, and the seat that has to find the move."""

    scenario: Scenario
    moment: ScenarioMoment
    seat: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the players, which are the same as in the examples of the book."""
        return NAMES[: self.moment.seats]

    @property
    def menu(self) -> Menu:
        """All moves that are legal in the position."""
        return self.moment.game.menu(self.moment.state, self.seat)


class Attempt(Struct, frozen=True):
    """The answer to a move: `solved`, `other` (legal, but not the one asked for), or `refused` with its paragraph."""

    verdict: str
    news: tuple[str, ...]
    rule: str = ""
    moment: ScenarioMoment | None = None  # after the move, if it is legal


@functools.cache
def load_lessons(name: str) -> tuple[Lesson, ...]:
    """Load the lessons of a game in their order; an empty tuple if it has none."""
    files = sorted(get_folder(name, "lessons").glob("*.toml"))
    return tuple(_make_lesson(load_scenario(name, file.stem, "lessons")) for file in files)


def has_lessons(name: str) -> bool:
    """Return whether a game has lessons, without loading them."""
    return any(get_folder(name, "lessons").glob("*.toml"))


def _make_lesson(scenario: Scenario) -> Lesson:
    return Lesson(scenario, scenarios.play_to_last(scenario), scenario.steps[-1].seat)


def get_task(lesson: Lesson, language: str) -> str:
    """Return the task of a lesson in this language, or in English."""
    return lesson.scenario.sentences.get(language) or lesson.scenario.sentences["en"]


def get_goal(name: str, language: str) -> str:
    """Return how a game with lessons is won, as its first one says it in this language, or else in English.

    The text is empty if that lesson does not say it.
    """
    first_lesson, *_others = load_lessons(name)
    goals = first_lesson.scenario.goals
    return goals.get(language) or goals.get("en", "")


def get_answer(lesson: Lesson) -> Move:
    """Return the move that the lesson asks for; another one may have the same effect."""
    return Move.parse(lesson.scenario.steps[-1].move)


def make_scene(lesson: Lesson, moment: ScenarioMoment, menu: Menu, language: str) -> Scene:
    """Return what the player of the lesson sees of a position; the choices of the menu can be touched."""
    view = moment.game.view(moment.state, lesson.seat)
    players = drawing.list_players(lesson.names)
    seats_to_move = (lesson.seat,) if menu else ()
    return Scene(moment.game, view, players, lesson.seat, menu, language, seats_to_move)


def draw_lesson(lesson: Lesson, language: str) -> str:
    """Draw the position; everything that can be touched is lit."""
    return draw_position(lesson.moment, lesson.scenario.picture, language, lesson.menu)


def try_move(lesson: Lesson, text: str, language: str) -> Attempt:
    """Play a move that was written in any language, and answer in this one."""
    vocabulary = move_words.make_vocabulary(lesson.moment.game, lesson.names)
    try:
        trial = scenarios.try_instead(lesson.scenario, text, vocabulary)
    except Refused as refused:
        moment = replace(lesson.moment, refusal=refused)
        return Attempt("refused", (describe_refusal(moment, language),), refused.rule)
    return _describe_trial(lesson, trial, language)


def _describe_trial(lesson: Lesson, trial: Trial, language: str) -> Attempt:
    """Describe what the reader's move did, and whether the lesson asks for it."""
    narrator = Narrator(lesson.moment.game, lesson.names, language, lesson.seat)
    news = describe_news(trial.moment, narrator, lesson.seat)
    return Attempt("solved" if trial.fits else "other", news, moment=trial.moment)
