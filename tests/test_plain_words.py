"""Names, docstrings and comments are in plain words; `python -m tests.plain_words PATH` lists what is not."""

import ast
import time

import pytest

from tests import plain_words


@pytest.mark.parametrize("folder", plain_words.FOLDERS)
def test_names_docstrings_and_comments_are_in_plain_words(folder: str) -> None:
    offenders = plain_words.find_offenders([plain_words.ROOT / folder])
    assert offenders == [], "\n".join(map(str, offenders[:50]))


@pytest.mark.parametrize("folder", plain_words.FOLDERS)
def test_functions_are_verbs(folder: str) -> None:
    files = plain_words.list_files([plain_words.ROOT / folder])
    offenders = [one for file in files for one in plain_words.check_file(file, nouns=True)]
    assert offenders == [], "\n".join(map(str, offenders[:50]))


@pytest.mark.release
def test_the_check_takes_less_than_three_seconds() -> None:
    plain_words.check_whole_file.cache_clear()
    start = time.process_time()
    plain_words.find_offenders(plain_words.ROOT / folder for folder in plain_words.FOLDERS)
    assert time.process_time() - start < 3


def check(source: str, path: str = "service/example.py") -> list[tuple[str, str]]:
    return [(one.kind, one.name) for one in plain_words.check_source(path, source)]


@pytest.mark.parametrize(
    ("source", "offender"),
    [
        ("def _told(x): ...", ("function", "_told")),
        ("def confirmed(x): ...", ("function", "confirmed")),
        ("def running(x): ...", ("function", "running")),
        ("def without_links(x): ...", ("function", "without_links")),
        ("def ask_house(x): ...", ("function", "ask_house")),
        ("def read(x): ...", ("function", "read")),
        ("def ask(here): ...", ("parameter", "here")),
        ("def ask():\n    for known in (): ...", ("variable", "known")),
        ("class ToldVerdict: ...", ("class", "ToldVerdict")),
        ("class Heard: ...", ("class", "Heard")),
        ("class Compiled: ...", ("class", "Compiled")),
        ("class Row:\n    luck: int", ("field", "luck")),
        ("MOST = 5", ("constant", "MOST")),
        ("RESTED = 'x'", ("constant", "RESTED")),
        ("LEASE = 30  # seconds until another worker may claim it", ("unit", "LEASE")),
        ("# Bytes; an answer has a few hundred.\nROOM = 10_000", ("unit", "ROOM")),
        ("BODY = 64 * 1024", ("unit", "BODY")),
        ("LEASE = 3 * DAY", ("unit", "LEASE")),
        ("@property\ndef told(self): ...", ("property", "told")),
        ("@contextmanager\ndef noting(self): ...", ("property", "noting")),
        ('"""Seats that somebody left."""', ("docstring", "module “somebody”")),
        ('def ask():\n    """What stands there."""', ("docstring", "ask “what”")),
        ('def ask():\n    """Return what stands there."""', ("docstring", "ask “stands”")),
        (f'"""{"word " * 33}."""', ("docstring", "module “34 words”")),
        ("move = 1  # the house plays it", ("comment", "“the house”")),
        ("def test_nobody_is_stuck(): ...", ("test", "test_nobody_is_stuck “nobody”")),
        ("TABLE = Table('house', metadata, Column('told', Text))", ("table", "house")),
        ("TABLE = Table('seats', metadata, Column('told', Text))", ("column", "told")),
        ("METERS = {'bells': Meter('Wake-ups', 'queue')}", ("metric", "bells")),
    ],
)
def test_a_planted_offender_is_reported(source: str, offender: tuple[str, str]) -> None:
    assert offender in check(source)


@pytest.mark.parametrize("path", ["service/store/book.py", "service/bells.py", "workers/rounds.py"])
def test_a_planted_module_name_is_reported(path: str) -> None:
    assert ("module", path.split("/")[-1].removesuffix(".py")) in check("", path)


@pytest.mark.parametrize(
    "source",
    [
        "def parse_int(text, most): ...",
        "def is_expired(row): ...",
        "@property\ndef expired(self): ...",
        "@contextmanager\ndef writing(self): ...",
        "def to_text(move): ...",
        "class Refused(Exception): ...",
        "class Invited(Struct, tag=True):\n    told: str",
        "LEASE_S = 30  # seconds until another worker may claim it",
        "MAX_BODY_BYTES = 64 * 1024",
        "SEATS = 5",
        '"""Return the letters that are due, such as reminders."""',
        "text = '''\n# nobody reads this\n'''",
    ],
)
def test_plain_words_are_not_reported(source: str) -> None:
    assert check(source) == []


@pytest.mark.parametrize(
    "source",
    [
        "def neighbours(x): ...",
        "def cells_of(x): ...",
        "def seat(x): ...",
        "def fits_beside(x): ...",
        "def points_beside(x) -> bool: ...",
        "class Sheet:\n    def rows(self): ...",
        "def draw():\n    def line(seat): ...",
    ],
)
def test_a_function_without_a_verb_is_reported(source: str) -> None:
    assert len(list(plain_words.find_noun_functions("service/example.py", ast.parse(source)))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "def find_row(x): ...",
        "def seat_player(x): ...",
        "def is_over(x): ...",
        "def fits_beside(x) -> bool: ...",
        "def carries_acrobats(x) -> bool: ...",
        "@property\ndef size(self): ...",
        "def __len__(self): ...",
    ],
)
def test_a_function_with_a_verb_is_not_reported(source: str) -> None:
    assert list(plain_words.find_noun_functions("service/example.py", ast.parse(source))) == []


def test_each_exception_has_a_reason() -> None:
    assert all(one["reason"] for one in plain_words.CONFIG["exceptions"])
