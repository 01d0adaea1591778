"""Lessons: small positions with a move to find, on the same stage and with the same bar as a table.

An answer that a reader asks for is shown by numbers on the places of the board.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import unescape

from flask import Blueprint, Response, request, url_for
from msgspec import Struct
from msgspec.structs import replace

from engine import catalogue
from engine.game import Meta
from engine.scenario import ScenarioMoment
from service.tables.access import Unknown
from service.text import lessons
from service.text.drawing import Player, Scene, Stage, draw_board_text, draw_stage
from service.text.lessons import Attempt, Lesson
from service.text.narration import Narrator
from service.web.current_request import get_language
from service.web.menu_forms import Turn, describe_move, make_turn
from service.web.previews import Preview, describe_lesson
from service.web.rendering import render, translate_title

learning = Blueprint("learning", __name__, url_prefix="/learn")
MAX_ATTEMPT_CHARS = 200
TOKEN = re.compile(r'data-token="([^"]+)"')


class LessonPlayer(Struct, frozen=True):
    """A player of a lesson, as the strip of a table shows one."""

    player: Player
    is_you: bool
    is_to_move: bool
    score: int
    level: str = ""
    is_here: bool = False


class LessonPage(Struct, frozen=True):
    """Everything `lesson.html` shows: a position, a task, and what came of the move that was tried."""

    game: Meta
    title: str
    number: int
    count: int  # of the lessons of the game
    goal: str  # how the game is won
    task: str
    stage: Stage
    text: str  # the board in letters
    alt: str  # the board in words
    players: tuple[LessonPlayer, ...]
    turn: Turn | None  # None once the lesson is solved
    typed: str  # the words of a move in the address, which the field for a move shows again
    answer: str  # the move in words; empty unless the reader asks for it
    attempt: Attempt | None  # None before a move is tried
    preview: Preview

    @property
    def is_solved(self) -> bool:
        return self.turn is None

    @property
    def names_places(self) -> bool:
        """Whether the task calls a place by its name, which the board has to show then."""
        words = {word.strip(".,:;!?") for word in self.task.split()}
        # “A10” is a name; “city” is a word, which a task may use without the place.
        names = {spot for spot in find_spots(self.stage.world) if not spot.islower()}
        return not words.isdisjoint(names)


@learning.get("/<name>")
def show_first(name: str) -> Response:
    """Show the first lesson."""
    return show_lesson(name, 1)


@learning.get("/<name>/<int:number>")
def show_lesson(name: str, number: int) -> Response:
    """Show a lesson, and the result of the move that the address tries; the browser stores which ones are solved."""
    lesson, count = find_lesson(name, number)
    chosen = _join_fields("say")  # words of a move that is not whole yet
    move = _join_fields("move", "verb", "arg")
    attempt = lessons.try_move(lesson, move, get_language()) if move else None
    solved_moment = attempt.moment if attempt and attempt.verdict == "solved" else None
    moment = lesson.moment if solved_moment is None else solved_moment
    menu = lesson.menu if solved_moment is None else ()
    scene = lessons.make_scene(lesson, moment, menu, get_language())
    narrator = Narrator(scene.game, lesson.names, get_language(), lesson.seat, view=scene.view)
    title, task = translate_title(scene.game.META), lessons.get_task(lesson, get_language())
    shows_answer = solved_moment is None and "hint" in request.args
    page = LessonPage(
        game=scene.game.META,
        title=title,
        number=number,
        count=count,
        goal=lessons.get_goal(name, get_language()),
        task=task,
        stage=_draw_with_answer(lesson, scene) if shows_answer else draw_stage(scene),
        text=draw_board_text(scene),
        alt=narrator.describe_board(scene.view),
        players=tuple(_list_players(lesson, scene, moment)),
        turn=_make_turn(lesson, narrator, name, number, chosen.split()) if solved_moment is None else None,
        typed=move or chosen,
        answer=describe_move(lessons.get_answer(lesson), narrator) if shows_answer else "",
        attempt=attempt,
        preview=describe_lesson(name, number, title, task),
    )
    return render("lesson.html", page)


def _join_fields(*names: str) -> str:
    """Join the values of these fields of the query with single spaces, and cut them at MAX_ATTEMPT_CHARS."""
    values = [value for name in names for value in request.args.getlist(name)]
    text = " ".join(values)[:MAX_ATTEMPT_CHARS]
    return " ".join(text.split())


def _draw_with_answer(lesson: Lesson, scene: Scene) -> Stage:
    """Draw the stage, with numbers on the places to touch for the answer."""
    stage, answer = draw_stage(scene), lessons.get_answer(lesson)
    drawn = find_spots(stage.world) | find_spots(stage.tray)
    spots = choose_spots(drawn, (answer.verb, *answer.args))
    return replace(stage, world=number_spots(stage.world, spots), tray=number_spots(stage.tray, spots))


def _list_players(lesson: Lesson, scene: Scene, moment: ScenarioMoment) -> Iterator[LessonPlayer]:
    """List the players of a lesson with their scores at this moment, in the order of the seats."""
    standing = scene.game.standing(moment.state)
    for seat, stand in enumerate(standing):
        is_you, is_to_move = seat == lesson.seat, seat in scene.seats_to_move
        yield LessonPlayer(scene.players[seat], is_you, is_to_move, stand.score)


def _make_turn(lesson: Lesson, narrator: Narrator, name: str, number: int, chosen: Sequence[str]) -> Turn:
    """Return the menu of the position; its forms lead to this page again, with the move in the address."""
    action = url_for("learning.show_lesson", name=name, number=number)
    return make_turn(
        lesson.menu,
        narrator,
        chosen,
        action=action,
        hidden_fields=(),
        next_link=f"{action}?",
        game=name,
        method="get",
    )


def find_lesson(name: str, number: int) -> tuple[Lesson, int]:
    """Return a lesson of a game by its number, and how many lessons the game has; raise Unknown if there is none."""
    all_lessons = lessons.load_lessons(name) if name in catalogue.find_all() else ()
    if not 0 < number <= len(all_lessons):
        raise Unknown("There is no such lesson; please choose a game and begin with its first one.")
    return all_lessons[number - 1], len(all_lessons)


def find_spots(drawing: str) -> frozenset[str]:
    """Return what can be touched in a drawing or a tray: a token, or several that are touched at once."""
    return frozenset(map(unescape, TOKEN.findall(drawing)))


def choose_spots(spots: Iterable[str], words: Sequence[str]) -> tuple[str, ...]:
    """Return the spots that the words of a move name, in their order and each once; other words are left out.

    A spot may have several words: where several spots begin with the same word, the longest is taken.
    """
    drawn, chosen = frozenset(spots), list[str]()
    rest = words
    while rest:
        count = _count_words_of_spot(drawn, rest)
        if count:
            chosen.append(" ".join(rest[:count]))
        rest = rest[max(count, 1) :]
    return tuple(dict.fromkeys(chosen))


def _count_words_of_spot(spots: frozenset[str], words: Sequence[str]) -> int:
    """Return how many of the first words together are one of these spots, as many as possible; 0 if none are."""
    for count in range(len(words), 0, -1):
        if " ".join(words[:count]) in spots:
            return count
    return 0


def number_spots(drawing: str, spots: Sequence[str]) -> str:
    """Mark these spots of a drawing with numbers from 1 on; a spot that is drawn twice has its number twice."""
    numbers = {spot: number for number, spot in enumerate(spots, 1)}

    def add_number(match: re.Match[str]) -> str:
        attribute, spot = match[0], unescape(match[1])
        return f'{attribute} data-mark="{numbers[spot]}"' if spot in numbers else attribute

    return TOKEN.sub(add_number, drawing)
