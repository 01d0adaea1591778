"""The command line as people use it: mistakes, Tab, Ctrl-C, totals, and a start that costs little."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from service import cli
from service.commands import bench, playout, terminal

HEAVY = ("sqlalchemy", "flask", "jinja2", "redis", "rq", "structlog", "alembic", "babel", "py_arkworks_bls12381")
MOST_MODULES = 200  # that `depesche --help` imports; each costs about half a millisecond


def run_command(capsys, *words: str) -> tuple[int, str, str]:
    status = cli.main(words)
    output = capsys.readouterr()
    return status, output.out, output.err


@pytest.mark.parametrize(
    ("words", "guess"),
    [
        (["playuot", "kaiser"], "did you mean playout?"),
        (["docter"], "did you mean doctor?"),
        (["playout", "kaiser", "--sead", "3"], "did you mean --seed?"),
        (["audit", "--al"], "did you mean --all?"),
        (["playout", "kaiser", "--bot", "strog"], "did you mean strong?"),
        (["completion", "fsh"], "did you mean fish?"),
    ],
)
def test_a_mistyped_command_or_option_gets_a_suggestion(capsys, words, guess):
    status, out, err = run_command(capsys, *words)
    assert (status, out) == (2, "")
    assert guess in err
    assert "?." not in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("words", [["playout"], ["playout", "kaiser", "--count", "x"], ["playout", "kaiser", "more"]])
def test_a_mistake_leads_to_the_help_of_its_own_command_with_an_example(capsys, words):
    status, _, err = run_command(capsys, *words)
    assert status == 2
    assert "For instance: depesche playout" in err
    assert "see: depesche playout --help" in err


def test_what_resembles_nothing_gets_no_guess(capsys):
    assert "did you mean" not in run_command(capsys, "xyzzy")[2]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_lists_every_command_and_option_in_every_shell(capsys, shell):
    status, out, _ = run_command(capsys, "completion", shell)
    assert status == 0
    for word in ("playout", "export-tables", "doctor"):
        assert word in out
    assert "--count" in out or "-l count" in out


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
@pytest.mark.parametrize(
    ("typed", "offered"), [(["depesche", "play"], ["playout"]), (["depesche", "playout", "--cou"], ["--count"])]
)
def test_bash_completes_what_is_typed(capsys, typed, offered):
    script = run_command(capsys, "completion", "bash")[1]
    words = " ".join(f'"{word}"' for word in typed)
    ask = f"COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _depesche; echo ${{COMPREPLY[@]}}"
    process = subprocess.run(["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True)
    assert process.stdout.split() == offered


def test_ctrl_c_in_playout_reports_what_was_played_so_far(capsys, monkeypatch):
    honest, played = playout.run, []

    def run(*args):
        if len(played) == 3:
            raise KeyboardInterrupt
        played.append(honest(*args))
        return played[-1]

    monkeypatch.setattr(playout, "run", run)
    status, out, err = run_command(capsys, "playout", "kaiser", "--count", "50")
    assert status == terminal.INTERRUPT
    assert "3 sound games" in out
    assert "Stopped after 3 of 50 games." in err
    played.clear()
    _, out, _ = run_command(capsys, "playout", "kaiser", "--count", "50", "--json")
    assert (json.loads(out)["games"], json.loads(out)["stopped"]) == (3, True)


def test_playout_shows_its_progress_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert "2 of 2 games" in run_command(capsys, "playout", "kaiser", "--count", "2")[2]


def test_scenarios_are_totalled_and_each_path_is_printed_once(capsys, tmp_path):
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    text = 'game = "kaiser"\ntitle = "It begins"\nsource = "none"\nseats = 2\nexpect = ["the game goes on"]\n'
    good.write_text(text)
    bad.write_text(text.replace("goes on", "is over"))
    _, out, err = run_command(capsys, "scenario", str(good), str(bad))
    assert out.splitlines()[-1] == "2 scenarios: 1 holds, 1 fails"
    assert (out + err).count(str(bad)) == 1
    assert (out + err).count(str(good)) == 1


def test_the_doctor_tells_programs_of_a_misspelt_setting(capsys, monkeypatch):
    monkeypatch.setenv("DEPESCHE_SMPT", "smtp://mail.example.org")
    status, out, _ = run_command(capsys, "doctor", "--json")
    (finding,) = json.loads(out)
    assert status == 1
    assert finding["verdict"] == "failed"
    assert "Did you mean DEPESCHE_SMTP?" in finding["what"]


def test_a_busy_machine_is_not_judged_by_its_benches(capsys, monkeypatch):
    from service.commands import benches

    slow = benches.Measure("slowness", 1.0, "a second", budget=100.0)
    monkeypatch.setattr(benches, "find_benches", lambda: {"slow": lambda: [slow]})
    monkeypatch.setattr(os, "getloadavg", lambda: (64.0 * (os.cpu_count() or 1), 0.0, 0.0))
    status, out, err = run_command(capsys, "bench", "slow")
    assert status == 0
    assert "MISSED" in out
    assert "64.0 processes wanted each core" in err
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    assert run_command(capsys, "bench", "slow")[0] == 1
    assert bench.MAX_LOAD < 1


def test_the_help_is_there_without_what_only_commands_need():
    """Time depends on the machine; what is imported does not."""
    script = "import sys; from service import cli; cli.main(['--help']); print(*sys.modules, file=sys.stderr)"
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    modules = process.stderr.split()
    assert not [module for module in modules if module.split(".")[0] in HEAVY]
    assert len(modules) < MOST_MODULES
    assert re.search(r"^ +playout ", process.stdout, re.MULTILINE)
