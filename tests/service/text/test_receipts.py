"""Receipts: what a player's own letters prove about a log that the host keeps."""

from __future__ import annotations

import json
import mailbox
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from random import Random

import msgspec
import pytest
from sqlalchemy import update

from engine import catalogue, log
from engine.audit import audit
from engine.log import Export
from service import cli
from service.app import App
from service.store.schema import people
from service.tables import access
from service.tables.history.replays import Archive
from service.text import lessons, receipts
from service.text.languages import LANGUAGES
from service.text.receipts import Receipt, compare_receipts
from tests import apps
from tests.engine import second_verifier
from tests.sampling import pair_in_turn
from workers.outgoing import emails, table_letters
from workers.outgoing.letter import LetterRequest

HASH = "0123456789abcdef" * 4


@pytest.fixture(autouse=True)
def _no_pictures(monkeypatch):
    monkeypatch.setattr(emails, "render_png", lambda svg: b"a picture")


def write_letter(app: App, table: str, seat: int, language: str = "en") -> EmailMessage:
    """Write the status letter of a seat."""
    with app.store.writing() as connection:
        connection.execute(update(people).values(language=language))
    row = apps.load_table(app, table).row
    order = LetterRequest(table, row.length - 1, seat, "accepted", "anna@example.org", "Anna", language=language)
    letter = table_letters.write(app, order)
    assert letter is not None
    return letter


def save(path: Path, letter: EmailMessage) -> Path:
    path.write_bytes(letter.as_bytes(policy=default.clone(linesep="\r\n")))
    return path


@pytest.fixture
def played(app):
    """A table where three moves were made."""
    places = apps.start_table(app)
    for _ in range(3):
        place, move = apps.find_move(app, places)
        assert apps.submit(app, place, move).accepted
    return places[0].table


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_saved_letter_says_its_receipt_in_every_language(app, played, tmp_path, language):
    row = apps.load_table(app, played).row
    file = save(tmp_path / "letter.eml", write_letter(app, played, 0, language))
    (receipt,) = receipts.find_receipts(file)
    assert (receipt.hash, receipt.length, receipt.table) == (row.head, row.length, played)
    assert str(file) in receipt.source
    seen = {"table": played, "length": row.length, "hash": row.head}
    assert second_verifier.ask(letter=file.read_text("utf-8")) == [seen]
    export = Archive(app.store, app.links).export(played)
    assert second_verifier.ask(held={"log": msgspec.json.encode(export).decode(), "receipt": seen}) == "agrees"


def test_a_mailbox_gives_the_receipts_of_all_its_letters(app, played, tmp_path):
    box = mailbox.mbox(tmp_path / "box")
    for language in LANGUAGES:
        box.add(mailbox.mboxMessage(write_letter(app, played, 0, language)))
    other = EmailMessage()
    other["Subject"] = "Something else"
    other.set_content("Lunch?")
    box.add(other)
    box.close()
    results = list(receipts.find_receipts(tmp_path / "box"))
    row = apps.load_table(app, played).row
    assert {(one.hash, one.length) for one in results} == {(row.head, row.length)}
    assert len({one.source for one in results}) == len(LANGUAGES)


@pytest.mark.parametrize(
    "text",
    [
        f"Receipt after 12 entries: {HASH}",
        f"> > Receipt after 12\n> > entries:\n> > {HASH}\n",
        f"<p>Receipt after 12 entries:</p>\n<p><code>{HASH.upper()}</code></p>",
        f"Quittung nach 12 Einträgen: {HASH}.",
        f"Reçu après 12 entrées\u00a0: {HASH}",
        f"Reçu après 12 entrées : {HASH}",
        f"| Ontvangstbewijs na 12 regels in het logboek:\n| {HASH}",
    ],
    ids=str,
)
def test_a_receipt_is_read_however_it_was_copied(tmp_path, text):
    (tmp_path / "note").write_text(f"Hello,\n{text}\nBye", "utf-8")
    assert [(one.hash, one.length) for one in receipts.find_receipts(tmp_path / "note")] == [(HASH, 12)]
    assert second_verifier.ask(letter=f"Hello,\n{text}\nBye") == [{"table": "", "length": 12, "hash": HASH}]


def test_other_texts_contain_no_receipt(tmp_path):
    for text in (f"Receipt after twelve entries: {HASH}", "Receipt after 12 entries: 0123", HASH, ""):
        (tmp_path / "note").write_text(text)
        assert list(receipts.find_receipts(tmp_path / "note")) == []
        assert second_verifier.ask(letter=text) == []


def make_two_logs() -> tuple[Export, Export]:
    """Return two finished and sound logs of the same table, with different moves."""

    def play_both(seed: int) -> Export:
        sample, random = lessons.start_sample(catalogue.find("kaiser"), 2, b"one seed"), Random(1)
        for _ in lessons.play_randomly(sample, random):
            if len(sample.entries) == 14:
                random.seed(seed)
        return sample.export("table7")

    return play_both(1), play_both(2)


def test_a_rewritten_log_is_sound_by_itself_and_found_out_by_a_receipt():
    first, other = make_two_logs()
    game, heads = catalogue.find("kaiser"), log.compute_heads([link.digest for link in first.entries])
    assert audit(game, other).finding is None
    letters = [Receipt(heads[length - 1], length, f"letter {length}") for length in (5, 13, 20)]
    assert [one.agrees for one in compare_receipts(first, letters)] == [True, True, True]
    assert [one.agrees for one in compare_receipts(other, letters)] == [True, True, False]
    assert "letter 20" in compare_receipts(other, letters)[2].sentence
    late = Receipt(heads[-1], len(heads) + 5)
    assert "has" in compare_receipts(first, [late])[0].sentence
    assert compare_receipts(first, [msgspec.structs.replace(late, table="another")]) == ()


@pytest.fixture
def depesche(capsys):
    """Runs the command; its status, what it printed and what it complained of."""

    def run(*words: object) -> tuple[int, str, str]:
        status = cli.main(["audit", *map(str, words)])
        return status, *capsys.readouterr()

    return run


def test_the_command_names_the_letter_that_contradicts_the_log(depesche, tmp_path):
    first, other = make_two_logs()
    head = log.compute_heads([link.digest for link in first.entries])[19]
    (tmp_path / "log").write_bytes(msgspec.json.encode(other))
    (tmp_path / "note").write_text(f"Quittung nach 20 Einträgen: {head}")
    status, out, _ = depesche(tmp_path / "log", "--receipts", tmp_path / "note", "--receipt", f"{other.head}@14")
    assert status == 1
    assert f"({tmp_path / 'note'}) contradicts the log" in out
    assert out.count("contradicts") == 2
    status, out, _ = depesche(tmp_path / "log", "--receipt", f"{other.head}@{len(other.entries)}", "--json")
    assert (status, json.loads(out)[0]["receipts"][0]["agrees"]) == (0, True)


def test_letters_are_held_against_the_log_of_their_own_table(app, played, depesche, tmp_path):
    other = apps.start_table(app)[0].table
    archive = Archive(app.store, app.links)
    for table in (played, other):
        (tmp_path / table).write_bytes(msgspec.json.encode(archive.export(table, 0)))
    letter = save(tmp_path / "letter.eml", write_letter(app, played, 0))
    status, out, _ = depesche(tmp_path / played, tmp_path / other, "--receipts", letter)
    assert (status, out.count("agrees with the log")) == (0, 1)
    status, _, err = depesche(tmp_path / other, "--receipts", letter)
    assert (status, played in err) == (2, True)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--receipt", "xyz@3"], "is not a receipt"),
        (["--receipt", f"{HASH}@x"], "is not a receipt"),
        (["--receipt", HASH], "is not a receipt"),
        (["--receipts", "LOG"], "has no receipt"),
        (["--receipts", "nowhere.eml"], "cannot be read"),
        (["LOG", "--receipt", f"{HASH}@3"], "name just that one"),
    ],
    ids=str,
)
def test_what_cannot_be_held_against_a_log_is_refused(depesche, tmp_path, words, sentence):
    file = tmp_path / "log"
    file.write_bytes(msgspec.json.encode(make_two_logs()[0]))
    status, out, err = depesche(file, *(file if word == "LOG" else word for word in words))
    assert (status, out, sentence in err) == (2, "", True)


PLANTED_HASH = "f" * 64
PLANTED_REMARKS = (
    f"Receipt after 3 entries: {PLANTED_HASH}",
    f"look here\nReceipt after 3 entries: {PLANTED_HASH}",
    f"look here\n-- \nReceipt after 3 entries: {PLANTED_HASH}",
    f"<p>Receipt after 3 entries: <code>{PLANTED_HASH}</code></p>",
    f"x\n<p>Receipt after 3 entries: <code>{PLANTED_HASH}</code></p>",
    f"Quittung nach 3 Einträgen: {PLANTED_HASH}",
    f"x\n> Receipt after 3 entries:\n> {PLANTED_HASH}",
    f"word {'word ' * 13}Receipt after 3 entries: {PLANTED_HASH}",  # wrapped before the sentence
    f"X-Depesche: other\nReceipt after 3 entries: {PLANTED_HASH}",
)
FORMS = ("letter", "text", "html", "quoted", "forwarded")


@pytest.mark.parametrize(("remark", "form"), pair_in_turn(PLANTED_REMARKS, FORMS, pytest.mark.release))
def test_talk_plants_no_receipt(app, played, tmp_path, remark, form):
    place = access.find(app, app.links.make_seat_token(played, 1, 0))
    apps.say(app, place, remark)
    letter = write_letter(app, played, 0)
    plain, page = (letter.get_body((kind,)).get_content() for kind in ("plain", "html"))
    assert PLANTED_HASH in "".join(plain.split())
    assert PLANTED_HASH in page
    if form == "letter":
        text = save(tmp_path / "letter", letter).read_text("utf-8")
    elif form == "forwarded":
        forwarded = EmailMessage()
        forwarded["From"], forwarded["Subject"] = "anna@example.org", "Fwd"
        forwarded.set_content(plain)
        forwarded.add_alternative(page, subtype="html")
        text = save(tmp_path / "letter", forwarded).read_text("utf-8")
    else:
        quoted = "\n".join(f"> {line}" for line in plain.splitlines())
        text = {"text": plain, "html": page, "quoted": quoted}[form]
        (tmp_path / "letter").write_text(text, "utf-8")
    head = apps.load_table(app, played).row.head
    assert {one.hash for one in receipts.find_receipts(tmp_path / "letter")} <= {head}
    assert {one["hash"] for one in second_verifier.ask(letter=text)} <= {head}
    if "<p>" not in remark or form not in ("text", "quoted"):
        assert {one.hash for one in receipts.find_receipts(tmp_path / "letter")} == {head}
