"""The command line: what it prints, and how it refuses."""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
from argparse import ArgumentTypeError
from pathlib import Path
from types import SimpleNamespace

import jinja2
import msgspec
import pytest

from engine import catalogue
from engine import log as logs
from service import cli
from service.commands import benches, playout, terminal
from service.commands import logs as log_commands
from service.commands.benches import Measure
from service.text import templates
from tests import play
from tests.engine import highcard
from tests.engine.ledger import make_variant

ROOT = Path(__file__).parents[3]
COMMANDS = (
    "serve web worker clock inbound doctor host-link push-key backup restore partition export-tables import-tables "
    "games playout scenario replay audit export import new-game catalogues dev bench completion"
).split()
SENTENCES_TEMPLATE = """
{% macro Dealt(e) %}{{ name(e.seat) }} holds {{ e.cards | join(" ") or "something" }}.{% endmacro %}
{% macro Played(e) %}{{ name(e.seat) }} plays {{ e.card }}.{% endmacro %}
{% macro TrickWon(e) %}{{ name(e.seat) }} wins the trick.{% endmacro %}
{% macro GameEnded(e) %}That was it.{% endmacro %}
"""


class Result:
    """The status and the output of a command."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def depesche(capsys):
    """Run the command line in this process."""

    def run(*words: object) -> Result:
        status = cli.main([str(word) for word in words])
        return Result(status, *capsys.readouterr())

    return run


@pytest.fixture
def refused(depesche):
    """Run a command that has to be refused, and return the one sentence that says why."""

    def run(*words: object) -> str:
        result = depesche(*words)
        assert result.status == 2
        assert result.out == ""
        assert result.err.startswith("depesche: ")
        assert result.err.count("\n") == 1
        return result.err

    return run


@pytest.fixture
def high_card(monkeypatch, use_games):
    """A game with secrets, in the catalogue and with templates."""
    use_games(highcard=highcard)
    files = {
        "games/highcard/sentences.txt": SENTENCES_TEMPLATE,
        "games/highcard/board.txt": "mine {{ view.own | join(' ') }}",
    }
    env = templates.get_environment("en", "highcard")
    monkeypatch.setattr(env, "loader", jinja2.ChoiceLoader([jinja2.DictLoader(files), env.loader]))
    monkeypatch.setitem(sys.modules, f"{highcard.__name__}.board", SimpleNamespace())
    return highcard


@pytest.fixture
def kaiser():
    return catalogue.find("kaiser")


def save(path: Path, export: logs.Export) -> Path:
    path.write_bytes(msgspec.json.encode(export))
    return path


def change_entry(export: logs.Export, seq: int, **fields: object) -> logs.Export:
    entries = list(export.entries)
    entries[seq] = msgspec.structs.replace(entries[seq], entry=entries[seq].entry | fields)
    return msgspec.structs.replace(export, entries=tuple(entries))


class Shelf:
    """A database that stores its logs in a dictionary."""

    def __init__(self, **exports: logs.Export) -> None:
        self.exports = exports

    def export(self, table: str, seat: int | None = None) -> logs.Export:
        if table not in self.exports or seat:
            raise terminal.Misuse(f"There is no table {table}, or no seat {seat}.")
        return self.exports[table]

    def export_whole(self, table: str) -> logs.Export:
        return self.export(table)

    def import_(self, export: logs.Export) -> str:
        self.exports[f"new{len(self.exports)}"] = export
        return list(self.exports)[-1]

    def is_over(self, table: str) -> bool:
        return self.export(table).seed is not None

    def list_tables(self) -> list[str]:
        return list(self.exports)


@functools.cache
def play_kaiser(seats: int = 2) -> logs.Export:
    """Return the log of a finished game of Kaiser; it takes longer to play than most commands take to run."""
    return play.play_to_end(catalogue.find("kaiser"), seats)


@pytest.fixture
def shelf(monkeypatch, kaiser):
    book = Shelf(one=play_kaiser(), two=play.play_part(kaiser, 3, 30))
    monkeypatch.setattr(log_commands, "open_log_store", lambda database, create=False: book)
    return book


# The command as a whole


def test_it_runs_as_a_process_with_its_exit_status(tmp_path):
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "service.cli", *words]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)

    fine = run("games", "--json")
    assert (fine.returncode, fine.stderr) == (0, "")
    assert "Kaiser, König, Edelmann" in [game["title"] for game in json.loads(fine.stdout)]
    wrong = run("audit", str(save(tmp_path / "log", change_entry(play_kaiser(), 9, at=1))))
    assert (wrong.returncode, wrong.stderr) == (1, "")
    misused = run("playout", "chess")
    assert (misused.returncode, misused.stdout) == (2, "")
    assert misused.stderr.startswith("depesche: There is no game “chess”")


def test_it_survives_a_terminal_that_knows_only_ascii_and_a_reader_that_leaves(tmp_path):
    file = save(tmp_path / "log", play_kaiser())
    command = f'"{sys.executable}" -m service.cli replay "{file}" | head -n 1'
    shell = ["bash", "-c", f"set -o pipefail; {command}"]
    done = subprocess.run(
        shell, cwd=ROOT, capture_output=True, text=True, check=False, env={"PYTHONIOENCODING": "ascii", "PATH": "/bin"}
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Kaiser, K\\xf6nig, Edelmann")


def test_listing_the_games_loads_neither_the_web_nor_the_database():
    code = "import sys; from service import cli; cli.main(['games']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.rsplit("\n", 2)[-2].split())
    assert not loaded & {"flask", "sqlalchemy", "rq", "redis", "jinja2", "uvicorn"}


def test_a_command_does_not_load_those_after_it():
    code = "import sys; from service import cli; cli.main(['serve', '--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.rsplit("\n", 2)[-2].split())
    assert "workers.commands.run" in loaded
    assert not {one for one in loaded if one.startswith("service.commands.")} - {"service.commands.terminal"}


def test_help_names_every_command(depesche):
    result = depesche("--help")
    assert result.status == 0
    for command in COMMANDS:
        assert re.search(rf"^    {command}[ \n]", result.out, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(depesche, command):
    result = depesche(command, "--help")
    assert result.status == 0
    assert re.search(rf"^examples?:\n  depesche {command}", result.out, re.MULTILINE)


def test_the_version_is_printed(depesche):
    assert re.fullmatch(r"depesche \d\S*\n", depesche("--version").out)


def test_a_call_without_a_command_prints_the_help_as_misuse(depesche):
    result = depesche()
    assert result.status == 2
    assert "playout" in result.err


def test_unknown_commands_and_arguments_are_refused_in_one_sentence(refused):
    assert "There is no command “fly”" in refused("fly")
    assert "depesche games has no option --fast" in refused("games", "--fast")
    assert "required: GAME" in refused("playout")
    assert "required: FILE" in refused("scenario")


@pytest.mark.parametrize(("kind", "least"), [(terminal.parse_positive, 1), (terminal.parse_count, 0)])
def test_numbers_are_plain_whole_numbers(kind, least):
    assert kind(str(least)) == least
    assert kind("999999999") == 999_999_999
    for text in ("", "-1", "1.5", "x", "²", "1" * 10, "9" * 5000, *(["0"] if least else [])):
        with pytest.raises(ArgumentTypeError):
            kind(text)


# games


def test_games_are_listed_for_people(depesche):
    result = depesche("games")
    assert result.status == 0
    assert "kaiser: Kaiser, König, Edelmann\n  2, 3 or 4 players" in result.out
    assert "--option rounds=1..12 (1 unless chosen)" in result.out


def test_games_are_listed_for_programs(depesche):
    kaiser = next(game for game in depesche("games", "--json").json if game["name"] == "kaiser")
    assert kaiser["seats"] == [2, 3, 4]
    assert {"title", "stage", "edition", "designer", "publisher", "year"} <= set(kaiser)
    options = {option["name"]: option for option in kaiser["options"]}
    assert options["corners"]["values"] == ["adjacent", "opposite"]
    assert options["rounds"]["kind"] == "number"
    for option in options.values():
        assert option["default"] in option["values"]
        assert option["about"]


# playout


def test_playout_gives_figures_and_the_same_games_for_the_same_seed(depesche):
    def figures() -> dict[str, object]:
        words = ("playout", "kaiser", "--seats", 3, "--count", 2, "--seed", 7, "--option", "last_emperor=must_enter")
        result = depesche(*words, "--json")
        assert (result.status, result.err) == (0, "")
        return result.json

    once, again = figures(), figures()
    assert once["games_per_second"] > 0
    assert once["moves_per_second"] > once["games_per_second"]
    assert once["games"] == 2
    assert sum(once["wins_by_seat"]) >= 2
    assert once["entries_per_game"] * 2 == once["moves"] + 2
    assert once["shortest"] <= once["entries_per_game"] <= once["longest"]
    assert once["options"]["last_emperor"] == "must_enter"
    assert once["broken"] is None
    for figure in ("seconds", "games_per_second", "moves_per_second"):
        del once[figure], again[figure]
    assert once == again


def test_playout_tells_people_in_lines(depesche):
    result = depesche("playout", "kaiser", "--count", 1, "--seed", "a lantern")
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith("kaiser, 2 seats, seed “a lantern”: 1 sound games\n  games per second")


def test_playout_lets_bots_play_and_the_same_seed_gives_the_same_games(depesche):
    def games(bot: str) -> dict[str, object]:
        return depesche("playout", "kaiser", "--count", 1, "--seed", 7, "--bot", bot, "--json").json

    played = {bot: games(bot)["entries_per_game"] for bot in ("random", "easy", "normal")}
    assert games("normal")["entries_per_game"] == played["normal"]
    assert len({str(entries) for entries in played.values()}) == 3


def test_playout_without_a_seed_plays_another_game_each_time(depesche):
    seeds = {depesche("playout", "kaiser", "--count", 1, "--json").json["seed"] for _ in range(2)}
    assert len(seeds) == 2


def test_playout_refuses_what_cannot_be_played(refused):
    assert "There is no game “chess”" in refused("playout", "chess")
    assert "not by 7" in refused("playout", "kaiser", "--seats", 7)
    assert "no option “colour”" in refused("playout", "kaiser", "--option", "colour=red")
    assert "can be adjacent / opposite" in refused("playout", "kaiser", "--option", "corners=round")
    assert "NAME=VALUE, not “corners”" in refused("playout", "kaiser", "--option", "corners")
    assert "are for two players" in refused("playout", "kaiser", "--seats", 3, "--option", "corners=opposite")
    assert "“0” is not a whole number" in refused("playout", "kaiser", "--count", 0)
    assert "grandmaster" in refused("playout", "kaiser", "--bot", "grandmaster")


def worse(game, **changes):
    """High Card with a fault."""
    names = [name for name in dir(game) if not name.startswith("__")]
    return SimpleNamespace(**{name: getattr(game, name) for name in names} | changes, __hash__=None)


def never_ending(state, chance):
    return highcard.TrickWon(0) if len(state.trick) == len(state.hands) else None


def empty_handed(state, seat):
    return highcard.menu(state, seat) if state.hands[seat] else ()


def endless(state, event):
    if isinstance(event, highcard.Played):
        return msgspec.structs.replace(state, leader=1 - state.leader)
    return highcard.evolve(state, event)


def forgetful(state, event):
    forgetful.calls += 1
    return msgspec.structs.replace(highcard.evolve(state, event), leader=forgetful.calls % 2)


def fail_to_decide(state, seat, move, chance):
    if len(state.seen) == 3:
        raise ZeroDivisionError("by nothing")
    return highcard.decide(state, seat, move, chance)


FAULTS = {
    "nobody has a move, yet the game is not over": {"upkeep": never_ending, "menu": empty_handed},
    "has not ended after 50 moves": {"evolve": endless},
    "ZeroDivisionError: by nothing": {"decide": fail_to_decide},
    "another position than playing did": {"evolve": forgetful},
    "these are no final places": {"standing": lambda state: (highcard.Standing(0, place=2),) * 2},
    "1 of 2 seats have a standing": {"standing": lambda state: (highcard.Standing(0),)},
    "the game is over, yet somebody has a move": {"standing": lambda state: (highcard.Standing(0, place=1),) * 2},
    "a move made nothing happen": {"decide": lambda state, seat, move, chance: []},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_playout_finds_a_game_that_breaks_a_promise(depesche, use_games, fault):
    forgetful.calls = 0
    use_games(highcard=worse(highcard, **FAULTS[fault]))
    result = depesche("playout", "highcard", "--count", 3, "--seed", "x y", "--limit", 50)
    assert result.status == 1
    assert fault in result.err
    assert "Again: depesche playout highcard --seats 2 --count 1 --seed 'x y' --limit 50" in result.err
    assert fault in result.json["sentence"]
    assert result.json["seed"] == "x y"


@pytest.mark.parametrize("others", [(), ("--bot", "easy"), ("--limit", "7"), ("--bot", "easy", "--limit", "7")])
def test_the_command_that_a_broken_playout_prints_repeats_the_game(depesche, use_games, others):
    fault = {"evolve": endless} if "--limit" in others else {"decide": fail_to_decide}
    use_games(highcard=worse(highcard, **fault))
    broken = depesche("playout", "highcard", "--seed", "x y", *others)
    program, *again = shlex.split(broken.err.partition("Again: ")[2])
    assert program == "depesche"
    assert depesche(*again).json == broken.json


def test_a_broken_playout_saves_its_moves_including_the_last(depesche, use_games, tmp_path):
    use_games(highcard=worse(highcard, decide=fail_to_decide))
    result = depesche("playout", "highcard", "--seed", 1, "--log", tmp_path / "log.json", "--json")
    assert result.status == 1
    assert result.json["games"] == 0
    broken = json.loads((tmp_path / "log.json").read_text())
    assert broken == result.json["broken"]
    assert len(broken["moves"]) == 4
    assert "ZeroDivisionError" in broken["trace"]


def test_a_broken_playout_reports_no_move_that_a_bot_only_imagined(depesche, use_games):
    made = playout.run(playout.PlayoutTable(highcard, highcard.META.options(), 2, "easy"), "1").moves
    use_games(highcard=worse(highcard, decide=fail_to_decide))
    broken = depesche("playout", "highcard", "--seed", 1, "--bot", "easy", "--json").json["broken"]
    assert "ZeroDivisionError" in broken["trace"]
    assert [(move["seat"], move["move"]) for move in broken["moves"]] == made[: len(broken["moves"])]


def test_a_later_game_is_repeated_with_its_own_seed(kaiser):
    table = playout.PlayoutTable(kaiser, kaiser.META.options(), 2)
    second = list(playout._iter_games(table, "s", 2, 5000))[1]
    assert second.seed == "s-1"
    assert playout.run(table, "s-1").moves == second.moves


# scenario

SOUND = """
game = "kaiser"
seats = 2
title = "The first step"
rig = { "start player" = [0] }
steps = [{ seat = 0, move = "move A12 A4", expect = ["Moved happened", "seat 1 is to move"] }]
"""


def test_scenarios_that_hold_are_fine(depesche, tmp_path):
    (tmp_path / "a.toml").write_text(SOUND)
    (tmp_path / "b.json").write_text('{"game": "kaiser", "seats": 3, "expect": ["the game goes on"]}')
    result = depesche("scenario", tmp_path / "a.toml", tmp_path / "b.json")
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines() == [
        f"ok     {tmp_path}/a.toml: The first step",
        f"ok     {tmp_path}/b.json",
        "2 scenarios: 2 holds",
    ]


def test_a_scenario_that_fails_is_found_wrong_and_says_where(depesche, tmp_path):
    (tmp_path / "a.toml").write_text(SOUND)
    (tmp_path / "b.toml").write_text(SOUND.replace("seat 1 is to", "seat 0 is to"))
    result = depesche("scenario", tmp_path / "a.toml", tmp_path / "b.toml")
    assert result.status == 1
    assert "FAILED" in result.out.splitlines()[1]
    assert "“seat 0 is to move” does not hold" in result.out
    verdicts = depesche("scenario", "--json", tmp_path / "a.toml", tmp_path / "b.toml").json
    assert [scenario["verdict"] for scenario in verdicts] == ["holds", "fails"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("game = ", "not a scenario"),
        ("[" * 5000, "not a scenario"),
        ("game = 3", "not a scenario"),
        ('game = "chess"\nseats = 2', "no game “chess”"),
        ('game = "kaiser"\nseats = 9', "not by 9"),
        ('game = "kaiser"\nseats = 2\noptions = { corners = "round" }', "can be adjacent"),
        ('game = "kaiser"\nseats = 2\nexpect = [{ paht = "turn" }]', "paht"),
        ("\xff", "not a scenario"),
    ],
)
def test_a_file_that_is_no_scenario_is_misuse(refused, tmp_path, text, why):
    file = tmp_path / "a.toml"
    file.write_bytes(text.encode("latin-1") if text == "\xff" else text.encode())
    assert why in refused("scenario", file)


def test_a_broken_rule_in_a_scenario_is_found_wrong(depesche, tmp_path):
    (tmp_path / "a.toml").write_text(SOUND.replace("seat 1 is to move", "Moved never happened"))
    assert depesche("scenario", tmp_path / "a.toml").status == 1
    (tmp_path / "a.toml").write_text(SOUND.replace("[0]", "[7]"))
    result = depesche("scenario", tmp_path / "a.toml")
    assert result.status == 1
    assert "cannot be drawn" in result.out


def test_files_that_cannot_be_read_are_misuse(refused, tmp_path):
    for command in ("scenario", "replay", "audit", "import"):
        assert "cannot be read: No such file" in refused(command, tmp_path / "none")
        assert "cannot be read: Is a directory" in refused(command, tmp_path)
        assert "cannot be read" in refused(command, "a\0b")


# replay


def test_a_finished_game_is_replayed_step_by_step(depesche, tmp_path, kaiser):
    export = play_kaiser(3)
    result = depesche("replay", save(tmp_path / "log", export))
    assert (result.status, result.err) == (0, "")
    assert result.out.count("\n--- entry ") == len(export.entries)
    assert "--- entry 0, the server: open kaiser 3" in result.out
    assert "Seat 1 sits down." in result.out
    assert "E: B17" in result.out
    assert "The table is closed" in result.out


def test_one_entry_can_be_asked_for(depesche, tmp_path):
    file = save(tmp_path / "log", play_kaiser())
    every = depesche("replay", file, "--json").json["entries"]
    only = depesche("replay", file, "--at", 20, "--json").json["entries"]
    assert only == [every[20]]
    assert depesche("replay", file, "--at", 20).out.count("--- entry") == 1


def test_replay_for_programs(depesche, tmp_path):
    export = play_kaiser()
    replay = depesche("replay", save(tmp_path / "log", export), "--json").json
    assert (replay["game"], replay["seats"], replay["head"], replay["finished"]) == ("kaiser", 2, export.head, True)
    assert [moment["seq"] for moment in replay["entries"]] == list(range(len(export.entries)))
    first, last = replay["entries"][0], replay["entries"][-1]
    assert first["board"] is None
    assert last["view"]["places"]
    assert last["board"]


def test_a_seat_is_shown_only_what_it_knew(depesche, tmp_path, high_card):
    file = save(tmp_path / "log", play.play_to_end(high_card, 3, incident_rate=0))
    everything = depesche("replay", file, "--at", 4).out
    assert "something" not in everything
    assert "mine" in everything
    own = depesche("replay", file, "--at", 4, "--seat", 1)
    assert "Seat 1 holds something.\nSeat 2 holds" in own.out
    hand = re.search(r"Seat 2 holds ([\d ]+)\.", own.out)[1]
    assert f"mine {hand}" in own.out
    assert "--- entry 4, the server: (hidden)" in own.out
    as_json = depesche("replay", file, "--at", 4, "--seat", 1, "--json").json["entries"][0]
    assert [event.get("cards", []) for event in as_json["events"][1:]] == [[], [int(c) for c in hand.split()], []]


def test_a_log_with_hidden_information_is_replayed_without_a_board(depesche, refused, tmp_path, high_card):
    file = save(tmp_path / "log", play.play_part(high_card, 3, 8, seat=2))
    result = depesche("replay", file)
    assert result.status == 0
    assert "There is no board: this log leaves out hidden information" in result.out
    assert "Seat 1 holds something." in result.out
    assert "mine" not in result.out
    assert depesche("replay", file, "--seat", 2).out == result.out
    assert depesche("replay", file, "--json").json["no_board"]
    assert "was exported for seat 2 before the end" in refused("replay", file, "--seat", 0)


def test_a_running_game_without_secrets_has_a_board(depesche, tmp_path, kaiser):
    result = depesche("replay", save(tmp_path / "log", play.play_part(kaiser, 2, 20, seat=1)))
    assert result.status == 0
    assert "(not finished)" in result.out
    assert "As Seat 2 saw it" in result.out
    assert "E: A17" in result.out


def test_replay_refuses_what_is_not_there(refused, tmp_path):
    export = play_kaiser()
    file = save(tmp_path / "log", export)
    last = len(export.entries) - 1
    assert f"has no entry 99999; its entries are 0 to {last}" in refused("replay", file, "--at", 99999)
    assert "no seat 2; its seats are 0 to 1" in refused("replay", file, "--seat", 2)
    assert "“-1” is not a whole number" in refused("replay", file, "--at=-1")


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[1]", b"\xff\xfe", b"[" * 100_000, b'{"format": "chess"}', b"a log, surely"]
)
@pytest.mark.parametrize("command", ["replay", "audit", "import"])
def test_a_file_that_is_not_a_log_is_misuse(refused, tmp_path, command, content):
    (tmp_path / "log").write_bytes(content)
    assert "is not a log of Depesche" in refused(command, tmp_path / "log")


def test_a_log_of_an_unknown_game_or_with_strange_entries_is_misuse(refused, tmp_path):
    export = play_kaiser()
    unknown = save(tmp_path / "unknown", msgspec.structs.replace(export, game="chess"))
    assert "“chess”, which is not installed here" in refused("replay", unknown)
    strange = save(tmp_path / "strange", change_entry(export, 9, events=[{"type": "Exploded"}]))
    assert "Entry 9 of" in refused("replay", strange)
    missing = save(tmp_path / "missing", msgspec.structs.replace(export, entries=export.entries[1:]))
    assert "does not begin with the opening" in refused("replay", missing)
    headless = save(tmp_path / "headless", msgspec.structs.replace(export, entries=()))
    assert "does not begin with the opening" in refused("replay", headless)
    absent = {"type": "Captured", "seat": 0, "at": "Z", "victim": 1, "rank": "king"}
    for event in (absent, {"type": "Passed", "seat": 9}):
        gap = save(tmp_path / "gap", change_entry(export, 5, events=[event]))
        assert "This log cannot be described" in refused("replay", gap)


def test_a_game_without_drawings_is_refused(refused, tmp_path, use_games):
    use_games(highcard=highcard)
    file = save(tmp_path / "log", play.play_to_end(highcard, 2, incident_rate=0))
    assert "no template games/highcard/sentences.txt" in refused("replay", file)


# audit, export, import


def test_honest_logs_pass_the_audit(depesche, tmp_path, kaiser):
    finished = save(tmp_path / "a", play_kaiser(4))
    running = save(tmp_path / "b", play.play_part(kaiser, 2, 25))
    result = depesche("audit", finished, running)
    assert (result.status, result.err) == (0, "")
    assert re.search(rf"^{finished}: .*\n  The chain, every digest, every draw", result.out, re.MULTILINE)
    assert re.search(rf"^{running}: .*\n  The chain of 25 digests is whole", result.out, re.MULTILINE)
    assert result.out.count(str(finished)) == 1
    assert "25 entries are proven to be what was sealed" in result.out
    first, second = depesche("audit", finished, running, "--json").json
    assert first["sound"]
    assert first["replayed"] == first["entries"]
    assert (second["finding"], second["replayed"]) == (None, 0)


def test_tampering_is_found_wrong(depesche, tmp_path):
    export = play_kaiser()
    file = save(tmp_path / "log", change_entry(export, 12, at=5))
    result = depesche("audit", file)
    assert result.status == 1
    assert "TAMPERING at entry 12" in result.out
    result = depesche("audit", file, "--json")
    assert result.status == 1
    assert (result.json[0]["finding"]["kind"], result.json[0]["finding"]["seq"]) == ("tampering", 12)
    broken = save(tmp_path / "log", msgspec.structs.replace(export, seed="zz"))
    assert depesche("audit", broken).status == 1


def test_audit_needs_something_to_audit(refused):
    assert "Name the logs to audit" in refused("audit")


def test_the_tables_of_the_service_are_audited(depesche, refused, shelf):
    result = depesche("audit", "--all")
    assert result.out.count(", receipt ") == 2
    assert result.out.endswith("2 logs: 2 sound\n")
    assert [report["log"] for report in depesche("audit", "--table", "two", "--json").json] == ["two"]
    assert "There is no table three" in refused("audit", "--table", "three")
    shelf.exports["one"] = change_entry(shelf.exports["one"], 3, at=0)
    assert depesche("audit", "--all").status == 1


def test_every_file_is_audited_and_the_gravest_verdict_counts(depesche, tmp_path):
    export = play_kaiser()
    good, forged = save(tmp_path / "good", export), save(tmp_path / "forged", change_entry(export, 12, at=5))
    (tmp_path / "junk").write_text("a log, surely")
    result = depesche("audit", forged, tmp_path / "junk", good)
    assert (result.status, "is not a log" in result.err) == (1, True)
    assert result.out.endswith("3 logs: 1 tampering, 1 unusable, 1 sound\n")
    assert depesche("audit", tmp_path / "junk", good).status == 2
    reports = depesche("audit", forged, tmp_path / "junk", good, "--json").json
    assert [one["verdict"] for one in reports] == ["tampering", "unusable", "sound"]


def test_drift_and_damage_have_statuses_of_their_own(depesche, tmp_path, kaiser, use_games):
    file = save(tmp_path / "log", play_kaiser())
    use_games(kaiser=make_variant(kaiser, menu=lambda state, seat: ()))
    assert depesche("audit", file).status == 3
    use_games(kaiser=make_variant(kaiser, menu=lambda state, seat: 1 // 0))
    result = depesche("audit", file)
    assert (result.status, "cannot be followed" in result.out) == (4, True)


def test_an_audit_that_was_broken_off_goes_on_where_it_was(depesche, shelf, tmp_path):
    notes = tmp_path / "audited"
    assert depesche("audit", "--table", "one", "--resume", notes).out.count(", receipt ") == 1
    assert "one: " not in depesche("audit", "--all", "--resume", notes).out
    assert depesche("audit", "--all", "--resume", notes).out == ""
    shelf.exports["one"] = msgspec.structs.replace(shelf.exports["one"], head=logs.GENESIS)
    assert depesche("audit", "--all", "--resume", notes).status == 1


def test_several_processes_audit_a_book(depesche, tmp_path):
    database = f"sqlite:///{tmp_path}/book.sqlite"
    file = save(tmp_path / "log", play_kaiser())
    assert depesche("import", file, "--database", database).status == 0
    result = depesche("audit", "--all", "--jobs", 2, "--database", database)
    assert (result.status, result.out.count("as they should be")) == (0, 1)


def test_who_only_reads_changes_no_database(depesche, refused, tmp_path):
    book = tmp_path / "book.sqlite"
    database = f"sqlite:///{book}"
    assert "There is no database" in refused("audit", "--all", "--database", database)
    assert not book.exists()
    file = save(tmp_path / "log", play_kaiser())
    assert depesche("import", file, "--database", database).status == 0
    with sqlite3.connect(book) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0001'")
    connection.close()
    for words in (("audit", "--all"), ("export", "sample")):
        assert "is of another version" in refused(*words, "--database", database)
    with sqlite3.connect(book) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("0001",)]
    connection.close()


def test_a_seat_that_is_not_there_has_no_log(refused, depesche, tmp_path):
    database = f"sqlite:///{tmp_path}/book.sqlite"
    assert depesche("import", save(tmp_path / "log", play_kaiser()), "--database", database).status == 0
    assert "its seats are 0 to 1" in refused("export", "sample", "--seat", 5, "--database", database)


def test_an_import_creates_the_database_and_refuses_logs_of_missing_games(depesche, tmp_path):
    database = f"sqlite:///{tmp_path / 'not' / 'yet' / 'there.sqlite'}"
    export = play_kaiser()
    strange = save(tmp_path / "strange", msgspec.structs.replace(export, game="chess"))
    result = depesche("import", strange, save(tmp_path / "log", export), "--database", database, "--json")
    assert result.status == 1
    assert "There is no game “chess”; the games are: " in result.json[0]["why"]
    assert "why" not in result.json[1]
    assert depesche("audit", "--all", "--database", database).status == 0


def test_a_database_that_cannot_be_created_is_reported_in_one_line(refused, tmp_path):
    (tmp_path / "file").write_text("in the way")
    database = f"sqlite:///{tmp_path / 'file' / 'there.sqlite'}"
    why = refused("import", save(tmp_path / "log", play_kaiser()), "--database", database)
    assert "cannot be opened" in why
    assert why.count("\n") <= 1


def test_a_log_is_piped_from_one_command_into_the_next(tmp_path):
    file = save(tmp_path / "log", play_kaiser())
    command = [sys.executable, "-m", "service.cli", "audit", "-"]
    result = subprocess.run(command, input=file.read_bytes(), capture_output=True, check=False)
    assert (result.returncode, b"as they should be" in result.stdout) == (0, True)


def test_the_beginning_of_a_receipt_will_do(depesche, tmp_path):
    export = play_kaiser()
    file = save(tmp_path / "log", export)
    head = logs.compute_heads([link.digest for link in export.entries])[16]
    for text in (f"{head[:8]}...@17", f"{head[:12]}@17", f"{head[:20]}…@17", f"{head}@17"):
        assert depesche("audit", file, "--receipt", text).status == 0
    assert depesche("audit", file, "--receipt", f"{'0' * 8}...@17").status == 1


def test_a_log_that_cannot_be_followed_is_damaged_with_a_receipt_too(depesche, tmp_path, kaiser, use_games):
    file = save(tmp_path / "log", play_kaiser())
    use_games(kaiser=make_variant(kaiser, menu=lambda state, seat: 1 // 0))
    result = depesche("audit", file, "--receipt", f"{'0' * 8}@17")
    assert (result.status, "None of these receipts" in result.err) == (4, False)


def test_no_word_of_a_log_steers_the_terminal(depesche, tmp_path):
    export = play_kaiser()
    evil = "\x1b]0;owned\x07\x1b[2J"
    renamed = save(tmp_path / "renamed", msgspec.structs.replace(export, game=evil))
    moved = save(tmp_path / "moved", change_entry(export, 9, move=evil))
    drawn = save(tmp_path / "drawn", change_entry(export, 3, draws=[[evil, 6, 9]]))
    for file in (renamed, moved, drawn):
        for command in ("audit", "replay", "import"):
            result = depesche(command, file)
            assert "\x1b" not in result.out + result.err


def test_a_table_is_exported_to_the_screen_or_a_file(depesche, refused, shelf, tmp_path):
    result = depesche("export", "one")
    assert msgspec.json.decode(result.out, type=logs.Export) == shelf.exports["one"]
    assert depesche("export", "one", "--output", tmp_path / "log").out == ""
    assert (tmp_path / "log").read_text() == result.out
    assert depesche("audit", tmp_path / "log").status == 0
    assert "cannot be written" in refused("export", "one", "--output", tmp_path / "no" / "log")


def test_finished_logs_that_replay_cleanly_are_imported_and_of_the_others_it_is_said_why(depesche, shelf, tmp_path):
    good = save(tmp_path / "good", shelf.exports["one"])
    result = depesche("import", good, "--json")
    assert result.json == [{"file": str(good), "table": "new2"}]
    assert "table new3" in depesche("import", good).out
    bad = save(tmp_path / "bad", change_entry(shelf.exports["one"], 4, draws=[["die", 6, 0]]))
    half = save(tmp_path / "half", shelf.exports["two"])
    result = depesche("import", bad, half, good, "--json")
    assert result.status == 1
    assert [one.get("verdict", "taken") for one in result.json] == ["refused", "refused", "taken"]
    assert "digest differs" in result.json[0]["why"]
    assert "does not disclose its seed" in result.json[1]["why"]
    assert len(shelf.exports) == 5


# bench


@pytest.fixture
def stopwatch(monkeypatch):
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))  # a machine that is quiet
    """Benches with known figures."""
    measures = {
        "fast": [Measure("a thing", 5.0, "ms", 10.0, at_most=True), Measure("another", 3.0, "games/s")],
        "slow": [Measure("a third", 500.0, "letters/s", 1000.0)],
        "beside": [Measure("a fourth", 1.0, "moves/s", 2.0, source="peer")],
    }
    functions = {name: lambda figures=tuple(figures): figures for name, figures in measures.items()}
    monkeypatch.setattr(benches, "find_benches", lambda: functions)


def test_bench_prints_figures_beside_their_budgets(depesche, refused, stopwatch):
    result = depesche("bench", "fast", "beside")
    assert result.status == 0
    assert re.search(r"a thing +5.00 ms +at most +10.00 +ratio +2.00\n", result.out)
    assert re.search(r"a fourth +1.00 moves/s +peer +2.00 +ratio +0.50\n", result.out)
    everything = depesche("bench")
    assert everything.status == 1
    assert "ratio   0.50  MISSED" in everything.out
    assert "There is no bench “fun”; the benches are: fast, slow, beside" in refused("bench", "fun")


def test_bench_for_programs(depesche, stopwatch):
    result = depesche("bench", "slow", "--json")
    assert result.status == 1
    assert result.json == [
        {
            "what": "a third",
            "value": 500.0,
            "unit": "letters/s",
            "budget": 1000.0,
            "at_most": False,
            "ratio": 0.5,
            "kept": False,
        }
    ]


def test_the_benches_that_exist_are_listed(depesche):
    result = depesche("bench", "--list")
    assert result.status == 0
    for name in ("rebuild: ", "audit: ", "games: "):
        assert name in result.out


def test_a_bench_measures_something(depesche):
    figures = depesche("bench", "rebuild", "--json").json
    assert figures[0]["budget"] == 10.0
    assert figures[0]["value"] > 0
