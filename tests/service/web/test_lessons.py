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
        assert len(lessons.load_lessons(name)) >= 4
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
    last = page(visitor, "kaiser", 4, move="move A8 A3")
    assert "data-solved" in last
    form = re.search(r'href="(/play/kaiser\?level=easy)"', last)
    assert re.search(r'value="easy"[^>]*(checked|selected)', visitor.get(form[1]).text)


@every_lesson
def test_every_lesson_can_be_solved_by_links_alone(visitor, name, number):
    lesson_page = page(visitor, name, number)
    for _ in range(8):
        links = {unescape(link) for link in re.findall(r'data-step="[^"]*" href="([^"]+)"', lesson_page)}
        move = lessons.load_lessons(name)[number - 1].scenario.steps[-1].move
        whole = [link for link in links if unquote_plus(link).endswith(f"move={move}")]
        if whole:
            assert "data-solved" in visitor.get(whole[0]).text
            return
        onward = [link for link in links if "say=" in link and move.startswith(_parse_said(link))]
        lesson_page = visitor.get(max(onward, key=len)).text
    raise AssertionError("the links lead nowhere")


def _parse_said(link):
    return unquote_plus(link).split("say=")[1]


def test_a_try_keeps_nothing_and_has_its_limits(visitor):
    assert page(visitor, "kaiser", 1, move="x" * 5000)
    assert "data-solved" not in page(visitor, "kaiser", 1)
    for odd in ("/learn/kaiser/0", "/learn/kaiser/99", "/learn/chess/1"):
        answer = visitor.get(odd)
        assert answer.status_code == 404
        assert "no such lesson" in answer.text
