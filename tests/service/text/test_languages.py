"""Four languages: nothing is left untranslated, everything can be drawn in each, and every reader gets his own."""

from __future__ import annotations

import functools
import html
import re
from datetime import datetime, timedelta
from email.message import EmailMessage
from gettext import NullTranslations
from random import Random
from xml.etree import ElementTree
from zoneinfo import ZoneInfo

import pytest
from babel import dates
from babel.lists import format_list
from babel.messages.pofile import read_po
from markupsafe import Markup

from engine import bots, catalogue
from engine import game as games
from engine import table as tables
from engine.contract.cases import play_case
from engine.games.kaiser.state import Moved, RoundWon
from engine.games.kurier.board import INN_NAMES
from engine.refusal import Refused
from service import create_app
from service.store.batch import NO_REASON
from service.store.schema import people
from service.tables import access, submitting
from service.tables.opening import Invitee
from service.text import drawing, languages, templates, translation_catalogues
from service.text.drawing import Scene
from service.text.languages import COMMON, LANGUAGES, SOURCE, Sentence
from service.text.narration import Narrator
from tests import apps
from tests.engine.cases import make_cases
from tests.sampling import pair_in_turn
from workers import referee
from workers.outgoing import emails, table_letters
from workers.outgoing.letter import LetterRequest

NAMES = ("Anna", "Bertrand", "Clara", "Dora", "Emil", "Frieda", "Gustav", "Hanna")
OTHERS = tuple(language for language in LANGUAGES if language != SOURCE)
DOMAINS = (COMMON, *catalogue.find_all())
STEPS = 3

every_other = pytest.mark.parametrize("language", OTHERS)
every_domain = pytest.mark.parametrize("domain", DOMAINS)
every_game = pytest.mark.parametrize("game", catalogue.find_all().values(), ids=lambda game: game.META.name)


@pytest.fixture(scope="module")
def catalogs():
    return translation_catalogues.collect_messages()


def forms(message):
    """The English and the translated forms of a message, as two lists."""
    return ([text] if isinstance(text, str) else list(text) for text in (message.id, message.string))


def places(text: str) -> set[str]:
    return set(re.findall(r"%\(\w+\)s|\{\w+\}", text))


# Catalogues


@every_other
@every_domain
def test_everything_is_translated(language, domain, catalogs):
    assert translation_catalogues.find_untranslated(language, domain, catalogs[domain]) == []


@every_other
@every_domain
def test_no_translation_is_unused(language, domain, catalogs):
    assert [
        one.id
        for one in translation_catalogues.load_catalogue(language, domain)
        if one.id and catalogs[domain].get(one.id) is None
    ] == []
    assert translation_catalogues.load_catalogue(language, domain).obsolete == {}


@every_other
@every_domain
def test_a_translation_has_the_same_places_for_words(language, domain):
    for message in translation_catalogues.load_catalogue(language, domain):
        originals, translated = forms(message)
        if message.id:
            assert {place for text in translated for place in places(text)} == {
                p for text in originals for p in places(text)
            }
            assert all(text.endswith(" ") == originals[0].endswith(" ") for text in translated), message.id
            assert not any(re.search(r"%(?!\(\w+\)s)", text) for text in translated), message.id


@every_other
@every_domain
def test_a_catalogue_has_a_glossary_and_the_typography_of_its_language(language, domain):
    source = languages.get_catalogue_path(language, domain).read_text("utf-8")
    assert re.match(rf"# {LANGUAGES[language]}\. Glossary: \w", source)
    for message in translation_catalogues.load_catalogue(language, domain):
        for text in list(forms(message))[1] if message.id else ():
            if language == "fr":
                assert not re.search(r"(?<=[^\W\d])[ \u00a0][;!?]|\w[;!?](?![\w=])|“", text), text
                assert not re.search(r"(?<=\w)[ \u202f]:|«[^\u00a0]|[^\u00a0]»", text), text
            if language == "de":
                assert text.count("„") == text.count("“")
                assert "”" not in text


def test_a_message_that_is_missing_would_be_named(catalogs, monkeypatch, tmp_path):
    monkeypatch.setattr(languages, "CATALOGUES", tmp_path)
    translation_catalogues.update_catalogue("nl", "kaiser", catalogs["kaiser"])
    assert "The game is over. First place: %(winners)s." in translation_catalogues.find_untranslated(
        "nl", "kaiser", catalogs["kaiser"]
    )
    with languages.get_catalogue_path("nl", "kaiser").open("rb") as file:
        assert read_po(file).get("emperor").string == ""


def test_bringing_a_catalogue_up_to_date_changes_nothing_when_nothing_is_new(catalogs, monkeypatch, tmp_path):
    before = {
        (one, domain): languages.get_catalogue_path(one, domain).read_text("utf-8")
        for one in OTHERS
        for domain in DOMAINS
    }
    monkeypatch.setattr(languages, "CATALOGUES", tmp_path)
    for (language, domain), text in before.items():
        path = languages.get_catalogue_path(language, domain)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        translation_catalogues.update_catalogue(language, domain, catalogs[domain])
        assert path.read_text("utf-8") == text


# Boards and sentences


@functools.cache
def list_english(language: str) -> dict[str, list[str]]:
    """Return, by domain, the long English sentences that must not be seen in this language."""
    sentences_of: dict[str, list[str]] = {}
    for domain in DOMAINS:
        for message in translation_catalogues.load_catalogue(language, domain):
            originals, translated = forms(message)
            for text in originals if message.id and originals != translated else ():
                for bit in re.split(r"%\(\w+\)s|\{\w+\}", text):
                    if len(bit.split()) > 3 and not any(bit.strip() in one for one in translated):
                        sentences_of.setdefault(domain, []).append(bit.strip())
    return sentences_of


def assert_not_english(text: str, language: str) -> None:
    shown = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())
    english = {bit for bits in list_english(language).values() for bit in bits if bit in shown}
    assert not any(re.search(r"\b" + re.escape(bit), shown) for bit in english), english


def samples():
    """Each game with as many players as it can take, and its options as they come."""
    plain = [case for case in make_cases() if case.game in catalogue.find_all().values() and not case.chosen]
    return [
        max((case for case in plain if case.game is game), key=lambda case: case.seats)
        for game in catalogue.find_all().values()
    ]


# in English `tests/service/test_contract.py` does the same with more positions
@pytest.mark.parametrize(("full", "language"), pair_in_turn(samples(), OTHERS), ids=str)
def test_boards_and_prose_are_made_in_every_language(full, language):
    positions, names = play_case(full, b"a lantern"), NAMES[: full.seats]
    texts, step = [], max(1, len(positions) // 15)
    for number, position in enumerate(positions):
        me = (None, *range(full.seats))[number % (full.seats + 1)]
        narrator = Narrator(full.game, names, language, me)
        texts += [narrator.describe(one) for event in position.events if (one := full.game.hear(event, me)) is not None]
        if number % step:
            continue
        menu = full.game.menu(position.state, me) if me is not None else ()
        view = full.game.view(position.state, me)
        scene = Scene(full.game, view, drawing.list_players(names), me, menu, language)
        ElementTree.fromstring(drawing.draw_board_svg(scene))
        assert max(map(len, drawing.draw_board_text(scene).splitlines())) <= 80
        texts += [
            narrator.describe_board(view),
            drawing.draw_board_text(scene),
            *(narrator.label_verb(entry.verb) for entry in menu),
        ]
    assert_not_english(" ".join(texts), language)


class BlottedTranslations(NullTranslations):
    """Replaces all letters: a word that is still readable did not come from a catalogue."""

    def gettext(self, message: str) -> str:
        bits = re.split(r"(%\(\w+\)s)", message)
        return "".join(bit if number % 2 else re.sub(r"[^\W\d_]", "¤", bit) for number, bit in enumerate(bits))

    def ngettext(self, one: str, many: str, count: int) -> str:
        return self.gettext(one if count == 1 else many)


@pytest.mark.parametrize("full", samples(), ids=str)
def test_every_word_of_a_board_and_of_the_news_passes_through_a_catalogue(full, monkeypatch):
    monkeypatch.setattr(languages, "load_translations", lambda language, domain=COMMON: BlottedTranslations())
    monkeypatch.setattr(templates, "get_environment", functools.cache(templates.get_environment.__wrapped__))
    positions, names = play_case(full, b"a lantern"), [str(seat) for seat in range(full.seats)]
    texts = []
    for number, position in enumerate(positions):
        me = (None, *range(full.seats))[number % (full.seats + 1)]
        narrator, view = Narrator(full.game, names, SOURCE, me), full.game.view(position.state, me)
        menu = full.game.menu(position.state, me) if me is not None else ()
        texts += [narrator.describe(one) for event in position.events if (one := full.game.hear(event, me)) is not None]
        texts += [narrator.label_verb(entry.verb) for entry in menu]
        if number % 5 == 0:
            texts += [
                narrator.describe_board(view),
                drawing.draw_board_text(Scene(full.game, view, drawing.list_players(names), me, menu)),
            ]
    codes = {word for word in readable("\n".join(texts)) if word.isupper()}  # of tiles, say
    foreign = {*INN_NAMES.values(), languages.join_words(SOURCE, ("", ""))}  # one name everywhere; the “and” of a list
    assert readable("\n".join(texts)) - codes <= readable(" ".join(foreign))


def readable(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]{2,}", text.replace("¤", " ")))


# Pages and letters


def visitor(app, language: str):
    client = create_app(app).test_client()
    client.environ_base["HTTP_ACCEPT_LANGUAGE"] = language
    return client


def write_letter(app, table: str, seat: int, kind: str, language: str, stored: str = "") -> EmailMessage:
    seq = apps.load_table(app, table).seats[seat].open_since or 0
    order = LetterRequest(table, seq, seat, kind, "guest@example.org", NAMES[seat], language, stored)
    letter = table_letters.write(app, order)
    assert letter is not None
    return letter


def bodies(letter: EmailMessage) -> str:
    return "\n".join(part.get_content() for kind in ("plain", "html") if (part := letter.get_body((kind,))) is not None)


@pytest.mark.parametrize(("name", "language"), pair_in_turn(catalogue.find_all(), OTHERS))
def test_pages_and_letters_speak_one_language(name, language, tmp_path, monkeypatch):
    monkeypatch.setattr(emails, "render_png", lambda svg: b"a picture")
    game, random, seen = catalogue.find(name), Random(7), []
    with apps.run_app(apps.make_settings(tmp_path), apps.FakeTime()) as app:
        client = visitor(app, language)

        def get(path: str, status: int = 200) -> None:
            answer = client.get(path)
            assert answer.status_code == status, path
            assert answer.headers["Content-Language"] == language
            assert f'<html lang="{language}">' in answer.text
            seen.append(answer.text)

        people = NAMES[: min(game.META.seats)]
        guests = [Invitee(person, f"guest{number}@example.org") for number, person in enumerate(people)]
        opened = apps.open_new(app, name, {}, guests, 86_400)
        for path in ("/", f"/new/{name}", "/mailbox", "/nowhere", "/t/nowhere"):
            get(path, 404 if "nowhere" in path else 200)
        seen.append(bodies(write_letter(app, opened.table, 0, "invitation", language)))
        places_at_table = [access.find(app, link) for link in opened.links]
        for place in places_at_table:
            get(f"/t/{place.link}")
            apps.submit(app, place, "sit word")
        for _ in range(STEPS):
            snapshot = apps.load_table(app, opened.table)
            seat = tables.find_seats_to_move(game, snapshot.position)[0]
            for path in (
                f"/t/{places_at_table[seat].link}",
                f"/t/{opened.watch}",
                f"/t/{places_at_table[seat].link}/replay",
            ):
                get(path)
            refused = submitting.submit(app, places_at_table[seat], "dance")
            referee.run()
            get(f"/t/{places_at_table[seat].link}?said={refused.number}")
            letter = write_letter(app, opened.table, seat, random.choice(["turn", "reminder", "timeout"]), language)
            assert letter["Content-Language"] == language
            assert f'<html lang="{language}">' in bodies(letter)
            seen.append(bodies(letter))
            move = bots.pick_random_move(tables.menu(game, snapshot.position, seat), random)
            assert apps.submit(app, places_at_table[seat], str(move)).accepted
    assert_not_english("\n".join(seen), language)


@pytest.mark.parametrize(("who", "expected"), [("Anna", "d’Anna"), ("Élodie", "d’Élodie"), ("Bertrand", "de Bertrand")])
def test_french_runs_de_together_with_a_name_that_begins_with_a_vowel(who, expected):
    narrator = Narrator(catalogue.find("kaiser"), (who, "Clara"), "fr")
    assert (
        narrator.describe(RoundWon(0, "fortress"))
        == f"L’empereur {expected} entre dans la forteresse et gagne la manche."
    )
    assert "de A1 à A2" in narrator.describe(Moved(0, "king", "A1", "A2"))


def test_french_names_are_escaped_like_all_others():
    source = '{% trans who="Anna & Bert" %}The seat of {{ who }} is free{% endtrans %}'
    page = templates.get_environment("fr").from_string(f"{{% autoescape true %}}{source}{{% endautoescape %}}")
    assert page.render() == "La place d’Anna &amp; Bert est libre"


def test_a_refusal_by_mail_is_written_in_the_language_of_the_letter(tmp_path, monkeypatch):
    monkeypatch.setattr(emails, "render_png", lambda svg: b"a picture")
    with apps.run_app(apps.make_settings(tmp_path), apps.FakeTime()) as app:
        place = apps.start_table(app)[0]
        refusal = Sentence.from_refusal(
            Refused("“{said}” is not one of your moves; write one of these: {moves}.", said="x", moves="y")
        )
        letter = write_letter(app, place.table, 0, "refused/1", "de", refusal.dump())
        assert "„x“ ist keiner deiner Züge; schreib einen von diesen: y." in " ".join(bodies(letter).split())


# Whose language


@pytest.mark.parametrize(
    ("cookie", "header", "expected"),
    [
        ("", "", "en"),
        ("", "nl,en;q=0.5", "nl"),
        ("", "pl,fr;q=0.8,en;q=0.5", "fr"),
        ("", "de-AT", "de"),
        ("", "pl", "en"),
        ("de", "nl", "de"),
        ("xx", "nl", "nl"),
    ],
)
def test_a_choice_comes_first_then_what_the_browser_asks_for_then_english(app, cookie, header, expected):
    client = visitor(app, header)
    if cookie:
        client.set_cookie("language", cookie)
    answer = client.get("/")
    assert answer.headers["Content-Language"] == expected
    assert {"accept-language", "cookie"} <= {name.casefold() for name in answer.vary}


def choose(client, language: str, back: str):
    return client.post("/language", data={"language": language, "back": back})


def test_the_foot_of_every_page_offers_the_languages_and_leads_back(app):
    place = apps.open_table(app)[0]
    client = visitor(app, "en")
    page = client.get(f"/t/{place.link}?say=move").text
    assert f'name="back" value="/t/{place.link}?say=move"' in page
    for language, name in LANGUAGES.items():
        assert f'value="{language}" lang="{language}"' in page
        assert name in page
    answer = choose(client, "nl", f"/t/{place.link}?say=move")
    assert (answer.status_code, answer.location) == (303, f"/t/{place.link}?say=move")
    assert '<html lang="nl">' in client.get("/").text


@pytest.mark.parametrize("back", ["//example.org", "/\\example.org", "https://example.org", "", "/a\r\nSet-Cookie: x"])
def test_a_choice_never_leads_away(app, back):
    assert choose(visitor(app, "en"), "nl", back).status_code == 400


def test_only_languages_with_a_catalogue_can_be_chosen(app):
    assert choose(visitor(app, "en"), "tlh", "/").status_code == 400


def find_language(app, address: str) -> str:
    with app.store.reading() as connection:
        return str(connection.execute(people.select().where(people.c.address == address)).one().language)


def test_letters_come_in_the_language_one_sat_down_in_or_chose_last(app):
    guests = [Invitee("Anna", "anna@example.org"), Invitee("Berta", "berta@example.org")]
    opened = apps.open_new(app, "kaiser", {}, guests, None, "fr")
    assert [find_language(app, guest.address) for guest in guests] == ["fr", "fr"]
    client = visitor(app, "de")
    client.post(f"/t/{opened.links[1]}/sit")
    assert find_language(app, "berta@example.org") == "de"
    choose(client, "nl", f"/t/{opened.links[1]}")
    assert [find_language(app, guest.address) for guest in guests] == ["fr", "nl"]
    choose(client, "en", f"/t/{opened.watch}")
    assert [find_language(app, guest.address) for guest in guests] == ["fr", "nl"]


# Sentences


def test_a_sentence_is_stored_with_its_words():
    sentence = Sentence.from_refusal(Refused("Choose at most {most} for “{verb}”.", most=2, verb="keep"))
    assert Sentence.load(sentence.dump()) == sentence
    assert str(sentence) == "Choose at most 2 for “keep”."
    assert languages.translate("nl", sentence) == "Kies er hoogstens 2 voor “keep”."
    assert languages.translate("fr", sentence) == "Choisis-en au plus 2 pour «\u00a0keep\u00a0»."


def test_a_stored_plain_sentence_is_loaded_unchanged():
    assert str(Sentence.load("Nothing is {here}.")) == "Nothing is {here}."
    assert languages.translate("nl", Sentence.load("Nothing is {here}.")) == "Nothing is {here}."
    assert (NO_REASON.dump(), bool(Sentence.load(""))) == ("", False)


@every_game
def test_what_a_game_objects_to_is_said_in_every_language(game):
    for seats in (0, *game.META.seats):
        why = games.objection(game, game.META.options(), seats)
        if why is not None:
            assert len({languages.translate(language, why) for language in LANGUAGES}) == len(LANGUAGES)


def test_moments_are_written_as_people_write_them():
    assert [languages.format_moment(language, 1_800_000_000) for language in ("en", "nl", "fr", "de")] == [
        "15 Jan 2027, 08:00",
        "15 jan 2027, 08:00",
        "15 janv. 2027, 08:00",
        "15.01.2027, 08:00",
    ]
    assert [languages.format_day(language, "2027-01-05") for language in ("en", "fr")] == ["5 Jan 2027", "5 janv. 2027"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_dates_and_lists_are_written_as_babel_writes_them(language):
    locale = {"en": "en_GB"}.get(language, language)
    for number in range(400):
        then = datetime(2027, 12, 1, 7, 5, tzinfo=ZoneInfo("Europe/Berlin")) + timedelta(hours=23 * number)
        day, time = dates.format_date(then, "medium", locale), dates.format_time(then, "short", locale=locale)
        assert languages.format_moment(language, then) == f"{day}, {time}"
        assert languages.format_day(language, then.date().isoformat()) == day
        weekday, date = dates.format_date(then, "EEEE", locale), dates.format_skeleton("MMMMd", then, locale=locale)
        after = "," if language == "de" else ""
        assert languages.format_weekday(language, then) == f"{weekday}{after} {date}, {time}"
    words = ["Anna", "Bert & Co", "Clara", "Dora"]
    for count in range(5):
        assert languages.join_words(language, words[:count]) == format_list(words[:count], locale=locale)
    marked = languages.join_words(language, [Markup("<b>Anna</b>"), "Bert & Co"])
    assert marked == format_list(["<b>Anna</b>", "Bert &amp; Co"], locale=locale)
    assert isinstance(marked, Markup)
