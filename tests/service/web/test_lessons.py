"""Lessons: small positions and a move to find, without an account and without a script."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import quote_plus, unquote_plus

import pytest

from engine import catalogue
from service import create_app
from service.text import lessons
from service.text.languages import LANGUAGES
from tests import apps

LESSONS = [(name, number) for name in catalogue.find_all() for number in range(1, len(lessons.load_lessons(name)) + 1)]
every_lesson = pytest.mark.parametrize(("name", "number"), LESSONS)


@pytest.fixture(scope="module")
def visitor(tmp_path_factory):
    with apps.run_app(apps.make_settings(tmp_path_factory.mktemp("app")), apps.FakeTime()) as app:
        yield create_app(app).test_client()


def page(visitor, name, number, language="en", **said):
    query = "&".join(f"{key}={quote_plus(value)}" for key, value in said.items())
    answer = visitor.get(f"/learn/{name}/{number}?{query}", headers={"Accept-Language": language})
    assert answer.status_code == 200
    return answer.text


def test_every_game_has_lessons_and_lobby_and_rules_lead_to_them(visitor):
    for name in catalogue.find_all():
        assert len(lessons.load_lessons(name)) >= 5
        for place in ("/", f"/rules/{name}"):
            assert f'href="/learn/{name}"' in visitor.get(place).text


@every_lesson
def test_a_lesson_is_in_every_language_and_its_own_answer_solves_it(visitor, name, number):
    lesson = lessons.load_lessons(name)[number - 1]
    assert set(lesson.scenario.sentences) == set(LANGUAGES)
    assert len(set(lesson.scenario.sentences.values())) == len(LANGUAGES)
    for language in LANGUAGES:
        assert lessons.try_move(lesson, lesson.scenario.steps[-1].move, language).verdict == "solved"
    lesson_page = page(visitor, name, number, "de")
    assert lesson.scenario.sentences["de"] in unescape(lesson_page)
    assert "data-solved" not in lesson_page
    assert "<svg" in lesson_page


@every_lesson
def test_every_kind_of_move_that_a_lesson_offers_can_be_tried(name, number):
    lesson = lessons.load_lessons(name)[number - 1]
    assert lesson.menu
    for choice in lesson.menu:
        first = next(choice.iter_moves())
        assert lessons.try_move(lesson, str(first), "en").verdict != "refused"


@every_lesson
def test_not_every_move_solves_a_lesson(name, number):
    lesson = lessons.load_lessons(name)[number - 1]
    tries = (str(move) for entry in lesson.menu for move in entry.iter_moves())
    assert any(lessons.try_move(lesson, text, "en").verdict != "solved" for text in tries)


def test_a_wrong_try_is_refused_with_the_sentence_of_the_engine_and_its_paragraph(visitor):
    answer = page(visitor, "kaiser", 1, "de", move="ziehe A1 A5")
    assert "passt „A5“ nicht" in answer
    assert 'href="/rules/kaiser#2.1"' in answer
    assert "data-solved" not in answer


def test_a_legal_move_that_the_lesson_does_not_ask_for_gets_its_own_answer(visitor):
    answer = page(visitor, "kaiser", 1, move="move A1 A2")
    assert "You may play that, but it is not what is asked here." in answer
    assert "data-solved" not in answer


def test_a_solved_lesson_leads_on_and_the_last_one_to_an_easy_bot(visitor):
    assert 'href="/learn/kaiser/2"' in page(visitor, "kaiser", 1, move="move A1 Z")
    last = page(visitor, "kaiser", 5, move="move A8 A3")
    assert "data-solved" in last
    form = re.search(r'href="(/play/kaiser\?level=easy)"', last)
    assert re.search(r'value="easy"[^>]*(checked|selected)', visitor.get(form[1]).text)


def test_a_solved_lesson_shows_the_scores_after_the_move(visitor):
    last_move = lessons.load_lessons("kurier")[1].scenario.steps[-1].move
    for tried, scores in (({}, ["1", "1", "1"]), ({"move": last_move}, ["1", "2", "1"])):
        assert re.findall(r'<span class="score">(\d+)</span>', page(visitor, "kurier", 2, **tried)) == scores


@every_lesson
def test_every_lesson_can_be_solved_by_its_list_of_moves_alone(visitor, name, number):
    lesson_page, move = page(visitor, name, number), lessons.load_lessons(name)[number - 1].scenario.steps[-1].move
    for _ in range(8):
        buttons = [unescape(value) for value in re.findall(r'<button name="move" value="([^"]+)"', lesson_page)]
        if move in buttons:
            assert "data-solved" in page(visitor, name, number, move=move)
            return
        onward = [unescape(say) for say in re.findall(r'href="/learn/[^"?]+\?say=([^"]+)"', lesson_page)]
        fitting = [unquote_plus(say) for say in onward if move.startswith(unquote_plus(say))]
        lesson_page = page(visitor, name, number, say=max(fitting, key=len))
    raise AssertionError("the links lead nowhere")


def test_ticked_things_and_numbers_are_tried_like_words(visitor):
    assert "data-solved" in page(visitor, "kaiser", 1, verb="move", arg="A1 Z")


@every_lesson
def test_the_answer_is_marked_on_the_board_in_words_and_numbers_if_the_reader_asks(visitor, name, number):
    assert "data-mark" not in page(visitor, name, number)
    shown = page(visitor, name, number, hint="")
    answer = lessons.get_answer(lessons.load_lessons(name)[number - 1])
    assert 'class="answer"' in shown
    numbers = re.findall(r'data-mark="(\d)"', shown)
    assert answer.verb == "pay" or "1" in numbers
    assert "data-solved" not in shown


def test_the_board_shows_the_names_of_places_if_the_task_says_one(visitor):
    assert 'class="table lesson named"' in page(visitor, "kaiser", 3)
    assert 'class="table lesson"' in page(visitor, "carcassonne", 1)


def test_the_goal_of_a_game_is_told_before_its_first_lesson_in_every_language(visitor):
    for name in catalogue.find_all():
        goals = [lessons.get_goal(name, language) for language in LANGUAGES]
        assert len(set(goals)) == len(LANGUAGES)
        for language, goal in zip(LANGUAGES, goals, strict=True):
            told = unescape(page(visitor, name, 1, language))
            assert told.index(f"</b> {goal}") < told.index('id="assignment"')


def test_a_try_keeps_nothing_and_has_its_limits(visitor):
    assert page(visitor, "kaiser", 1, move="x" * 5000)
    assert "data-solved" not in page(visitor, "kaiser", 1)
    for odd in ("/learn/kaiser/0", "/learn/kaiser/99", "/learn/chess/1"):
        answer = visitor.get(odd)
        assert answer.status_code == 404
        assert "no such lesson" in answer.text
