"""The rows of `make bots`, kept pair by pair in matches.jsonl and told in MATCHES.md: a run may be stopped any time."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, convert, to_builtins

from tests.engine.matches import Pair, Rate, summed

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
KEPT, PAGE = HERE / "matches.jsonl", HERE / "MATCHES.md"
ASKED = 200  # games
PLAYERS = ("engine/win_shares.py", "engine/search", "tests/engine/adversaries.py")
ABOUT = f"""# Matches of the bots

Made by `make bots`. The first figure is held against what is wanted: the first player's part of the victories; of equal
players each has half of them, with any number of seats. The second says how often a seat of the first player came in
before one of the second, shared places half. With three and more seats the two kinds of players alternate; both games
of a pair have the same luck and turned seats. The interval holds 95 %. *Short* rows have fewer games than the {ASKED}
that are asked; rows of *older code* were played before search or game changed. Of a row with *the same again* the first
pairs were played once more by the code of that commit, and came out the same.

| match | won | came in before | games | wanted | | day | commit |
|---|---|---|---|---|---|---|---|
"""


class Row(Struct):
    """A match, by the code that played it, and what came of each pair of its games."""

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
        """What the row is judged by."""
        return summed(self.won)

    def learn(self, pair: Pair) -> None:
        """One pair of games more."""
        self.before.append(round(pair.before, 4))
        self.won.append(round(pair.won, 4))


def commit() -> str:
    """The last commit, and whether what plays was changed since."""
    said = [
        subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True).stdout.strip()
        for words in (["rev-parse", "--short", "HEAD"], ["status", "--porcelain", "engine", "tests/engine"])
    ]
    return (said[0] or "unknown") + "-dirty" * bool(said[1])


def code_of(game: str) -> str:
    """A short hash of the files that decide how a match of this game goes: rules, outlook, search and adversaries."""
    digest = hashlib.sha256()
    for name in (*PLAYERS, f"engine/games/{game}"):
        for path in _sources(ROOT / name):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _sources(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    else:
        yield from sorted(found for suffix in ("py", "toml") for found in path.rglob(f"*.{suffix}"))


def kept() -> list[Row]:
    """All rows, those of older code too, in the order in which they were begun."""
    return [convert(json.loads(line), Row) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []


def row_of(match: str, wanted: float, code: str) -> Row:
    """The row that this code has begun, or a new one."""
    begun = (row for row in kept() if (row.match, row.code) == (match, code))
    row = next(begun, Row(match, wanted, code, [], [], ""))
    row.commit = commit()
    return row


def older_row(match: str, code: str) -> Row | None:
    """The newest row of other code, where this code has none."""
    rows = [row for row in kept() if row.match == match]
    return rows[-1] if rows and all(row.code != code for row in rows) else None


def keep(row: Row, codes: Mapping[str, str]) -> None:
    """Write what was played just now; `codes` is today's code of every match, in the order of the ladders."""
    row.date = time.strftime("%Y-%m-%d", time.gmtime())
    _replace(row.code, row, codes)


def keep_again(row: Row, pairs: int, codes: Mapping[str, str]) -> None:
    """From now on the row is one of today's code: so many pairs of it came out the same."""
    older, row.code = row.code, codes[row.match]
    row.again = f"{pairs} pairs the same again at {commit()}"
    _replace(older, row, codes)


def _replace(code: str, row: Row, codes: Mapping[str, str]) -> None:
    """Write all rows and the page, this row in place of the one that this code had of the match."""
    others = [other for other in kept() if (other.match, other.code) != (row.match, code)]
    _write(KEPT, "".join(json.dumps(to_builtins(one)) + "\n" for one in (*others, row)))
    _write(PAGE, page((*others, row), codes))


def _write(path: Path, text: str) -> None:
    new = path.with_suffix(".new")
    new.write_text(text)
    os.replace(new, path)


def page(rows: Sequence[Row], codes: Mapping[str, str]) -> str:
    """The newest row of each match, in the order of the ladders."""
    newest = {row.match: row for row in rows}
    lines = [
        _line(newest[match], code) if match in newest else f"| {match} | not played | | | | | | |"
        for match, code in codes.items()
    ]
    return ABOUT + "".join(f"{line}\n" for line in lines)


def _line(row: Row, code: str) -> str:
    rate = row.rate
    words = ["" if rate.mean >= row.wanted else "**missed**" if rate.mean + rate.error < row.wanted else "**below**"]
    words += ["short"] * (rate.games < ASKED) + ["older code"] * (row.code != code) + [row.again]
    said = ", ".join(filter(None, words))
    cells = [row.match, _figure(rate), _figure(summed(row.before)), str(rate.games), f"{row.wanted:.0%}", said]
    return f"| {' | '.join([*cells, row.date, row.commit])} |"


def _figure(rate: Rate) -> str:
    return f"{100 * rate.mean:.1f} ± {100 * rate.error:.1f} %"
