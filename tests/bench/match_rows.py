"""The rows of `make bots`: stored in matches.jsonl after each pair, so that a run can stop, and shown in MATCHES.md."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, convert, to_builtins

from tests.engine.matches import Pair, Rate, compute_rate

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
ROWS_FILE, PAGE_FILE = FOLDER / "matches.jsonl", FOLDER / "MATCHES.md"
MIN_GAMES = 200  # of a complete row
PLAYERS = ("engine/win_shares.py", "engine/search", "tests/engine/adversaries.py")
INTRODUCTION = f"""# Matches of the bots

Written by `make bots`. The first figure is compared with the wanted one: the first player's share of the victories;
equal players have half of them each, with any number of seats. The second figure says how often a seat of the first
player came in before one of the second; shared places count half. With three and more seats the two kinds of players
alternate; both games of a pair have the same chance events, with the seats exchanged. The interval is that of 95 %.
*Short* rows have fewer than {MIN_GAMES} games. Rows of *older code* were played before the search or the game changed.
In a row with *the same again*, the code of that commit played the first pairs once more, with the same results.

| match | won | came in before | games | wanted | | day | commit |
|---|---|---|---|---|---|---|---|
"""


class Row(Struct):
    """A match with the code that played it, and the results of each pair of its games."""

    match: str
    wanted: float
    code: str
    won: list[float]
    before: list[float]
    commit: str
    date: str = ""
    again: str = ""

    @property
    def rate(self) -> Rate:
        """The figure that is compared with the wanted one."""
        return compute_rate(self.won)

    def add(self, pair: Pair) -> None:
        """Add the result of a pair of games."""
        self.before.append(round(pair.before, 4))
        self.won.append(round(pair.won, 4))


def read_commit() -> str:
    """Return the last commit, and `-dirty` if the code that plays was changed since."""
    outputs = [
        subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True).stdout.strip()
        for words in (["rev-parse", "--short", "HEAD"], ["status", "--porcelain", "engine", "tests/engine"])
    ]
    return (outputs[0] or "unknown") + "-dirty" * bool(outputs[1])


def hash_code(game: str) -> str:
    """Return a short hash of the files that decide a match of this game: rules, outlook, search and adversaries."""
    digest = hashlib.sha256()
    for name in (*PLAYERS, f"engine/games/{game}"):
        for path in _sources(ROOT / name):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _sources(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    else:
        yield from sorted(file for suffix in ("py", "toml") for file in path.rglob(f"*.{suffix}"))


def load_rows() -> list[Row]:
    """Load all rows, also those of older code, in the order in which they were started."""
    return [convert(json.loads(line), Row) for line in ROWS_FILE.read_text().splitlines()] if ROWS_FILE.exists() else []


def find_row(match: str, target: float, code: str) -> Row:
    """Return the row that this code has started, or a new one."""
    rows = (row for row in load_rows() if (row.match, row.code) == (match, code))
    row = next(rows, Row(match, target, code, [], [], ""))
    row.commit = read_commit()
    return row


def find_older_row(match: str, code: str) -> Row | None:
    """Return the newest row of other code if this code has none."""
    rows = [row for row in load_rows() if row.match == match]
    return rows[-1] if rows and all(row.code != code for row in rows) else None


def store(row: Row, codes: Mapping[str, str]) -> None:
    """Store a row; `codes` maps every match to the hash of its current code, in the order of the ladders."""
    row.date = time.strftime("%Y-%m-%d", time.gmtime())
    _replace(row.code, row, codes)


def store_again(row: Row, pairs: int, codes: Mapping[str, str]) -> None:
    """Store a row as one of the current code, after so many pairs came out the same again."""
    older, row.code = row.code, codes[row.match]
    row.again = f"{pairs} pairs the same again at {read_commit()}"
    _replace(older, row, codes)


def _replace(code: str, row: Row, codes: Mapping[str, str]) -> None:
    """Write all rows and the page, with this row in place of the row of that code."""
    others = [other for other in load_rows() if (other.match, other.code) != (row.match, code)]
    _write(ROWS_FILE, "".join(json.dumps(to_builtins(one)) + "\n" for one in (*others, row)))
    _write(PAGE_FILE, format_page((*others, row), codes))


def _write(path: Path, text: str) -> None:
    new = path.with_suffix(".new")
    new.write_text(text)
    os.replace(new, path)


def format_page(rows: Sequence[Row], codes: Mapping[str, str]) -> str:
    """Format the newest row of each match, in the order of the ladders."""
    newest = {row.match: row for row in rows}
    lines = [
        _line(newest[match], code) if match in newest else f"| {match} | not played | | | | | | |"
        for match, code in codes.items()
    ]
    return INTRODUCTION + "".join(f"{line}\n" for line in lines)


def _line(row: Row, code: str) -> str:
    rate = row.rate
    words = ["" if rate.mean >= row.wanted else "**missed**" if rate.mean + rate.error < row.wanted else "**below**"]
    words += ["short"] * (rate.games < MIN_GAMES) + ["older code"] * (row.code != code) + [row.again]
    remarks = ", ".join(filter(None, words))
    cells = [row.match, _figure(rate), _figure(compute_rate(row.before)), str(rate.games), f"{row.wanted:.0%}", remarks]
    return f"| {' | '.join([*cells, row.date, row.commit])} |"


def _figure(rate: Rate) -> str:
    return f"{100 * rate.mean:.1f} ± {100 * rate.error:.1f} %"
