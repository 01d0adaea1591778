"""The recipes of service/deploy: their programs accept them, and they agree with the program."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from service import cli, create_app, settings
from service.commands import benches, terminal
from service.monitoring import METRICS
from tests.sites import Site

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "service/deploy"
UNITS = sorted((DEPLOY / "systemd").iterdir())
CERTIFICATES = ROOT / "tests/certificates"
PLACES = {"web": "8000", "inbound": "8024"}


def program(name: str, package: str) -> str:
    path = shutil.which(name) or shutil.which(f"/usr/sbin/{name}")
    if not path:
        pytest.skip(f"{name} is not here; on Debian or Ubuntu: sudo apt-get install {package}")
    return path


def run_command(*command: object, **others: Any) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=30, **others)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    return output


def read_recipes() -> dict[str, str]:
    return {path.relative_to(DEPLOY).as_posix(): path.read_text() for path in DEPLOY.rglob("*") if path.is_file()}


@pytest.mark.release
def test_systemd_takes_every_unit(tmp_path: Path) -> None:
    verify = program("systemd-analyze", "systemd")
    for unit in UNITS:
        text = unit.read_text().replace("/opt/depesche/bin/depesche", sys.executable)
        (tmp_path / unit.name).write_text(text.replace("EnvironmentFile=/etc/depesche", f"EnvironmentFile=-{tmp_path}"))
    names = [unit.name.replace("@.", "@worker.") for unit in UNITS]
    assert run_command(verify, "verify", "--man=no", *(tmp_path / name for name in names)) == ""


@pytest.mark.release
def test_nginx_takes_its_recipe(tmp_path: Path) -> None:
    nginx = program("nginx", "nginx-light")
    recipe = (DEPLOY / "nginx.conf").read_text()
    recipe = re.sub(r"ssl_certificate .*;", f"ssl_certificate {CERTIFICATES}/ours.pem;", recipe)
    recipe = re.sub(r"ssl_certificate_key .*;", f"ssl_certificate_key {CERTIFICATES}/ours.pem;", recipe)
    whole = tmp_path / "nginx.conf"
    whole.write_text(f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ {recipe} }}")
    assert "test is successful" in run_command(nginx, "-t", "-c", whole, "-p", tmp_path)


@pytest.mark.release
def test_caddy_takes_its_recipe(tmp_path: Path) -> None:
    caddy = program("caddy", "caddy")
    home = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    assert "Valid configuration" in run_command(
        caddy, "validate", "--adapter", "caddyfile", "--config", DEPLOY / "Caddyfile", env=home
    )


@pytest.mark.release
def test_postfix_knows_every_line_of_its_recipe(tmp_path: Path) -> None:
    postconf = program("postconf", "postfix")
    shutil.copy(DEPLOY / "postfix.cf", tmp_path / "main.cf")
    (tmp_path / "master.cf").touch()
    output = run_command(postconf, "-c", tmp_path, "-n")
    assert "warning" not in output
    assert "virtual_transport = lmtp:inet:127.0.0.1:8024" in output


def test_mail_server_and_web_server_connect_where_depesche_listens() -> None:
    recipes = read_recipes()
    assert f"server 127.0.0.1:{PLACES['web']};" in recipes["nginx.conf"]
    assert f"reverse_proxy 127.0.0.1:{PLACES['web']}" in recipes["Caddyfile"]
    assert f"lmtp:inet:127.0.0.1:{PLACES['inbound']}" in recipes["postfix.cf"]
    assert f"--port {PLACES['web']}" in recipes["systemd/depesche.service"]
    assert f"DEPESCHE_PORT={PLACES['web']}" in recipes["systemd/depesche@.service"]
    compose = yaml.safe_load(recipes["compose.yaml"])["services"]
    for name, port in PLACES.items():
        assert compose[name]["ports"] == [f"127.0.0.1:{port}:{port}"]


@pytest.mark.parametrize("name", read_recipes())
def test_every_setting_of_a_recipe_exists(name: str) -> None:
    named = {word.removesuffix("_FILE") for word in re.findall(r"\bDEPESCHE_[A-Z_]+[A-Z]\b", read_recipes()[name])}
    assert named <= settings.VARIABLES


def test_secrets_are_in_files_and_not_in_the_environment() -> None:
    keys = "SECRET DATABASE SMTP".split()
    recipes = read_recipes()
    compose = yaml.safe_load(recipes["compose.yaml"])
    for name in ("web", "worker", "clock", "inbound"):
        environment = compose["services"][name]["environment"]
        assert not {f"DEPESCHE_{key}" for key in keys} & environment.keys()
        files = [environment[f"DEPESCHE_{key}_FILE"] for key in keys]
        assert [file.removeprefix("/run/secrets/") for file in files] == compose["services"][name]["secrets"]
    assert "POSTGRES_PASSWORD" not in compose["services"]["database"]["environment"]
    for unit in ("systemd/depesche.service", "systemd/depesche@.service"):
        loaded = re.findall(r"^LoadCredential=(\w+):/etc/depesche/secrets/\1$", recipes[unit], re.MULTILINE)
        files = re.findall(r"^Environment=DEPESCHE_(\w+)_FILE=%d/(\w+)$", recipes[unit], re.MULTILINE)
        assert files == [(name.upper(), name) for name in loaded]
        assert "smtp" in loaded


def test_the_command_for_root_knows_settings_and_keys(tmp_path: Path) -> None:
    """The script `depesche` sets what systemd sets for the service."""
    script = (
        read_recipes()["depesche"]
        .replace("/etc/depesche", str(tmp_path))
        .replace("/opt/depesche/bin/depesche", "/bin/env")
    )
    (tmp_path / "settings").write_text('DEPESCHE_SENDER="Depesche <play@games.example.org>"\nDEPESCHE_PROXIES=1\n')
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/smtp").write_text("smtp://relay\n")
    (tmp_path / "depesche").write_text(script)
    output = run_command("sh", tmp_path / "depesche", env={"PATH": os.environ["PATH"]})
    environment = dict(line.split("=", 1) for line in output.splitlines())
    loaded = settings.load_settings({name: text for name, text in environment.items() if name.startswith("DEPESCHE_")})
    assert (loaded.sender_name, loaded.proxies, loaded.smtp) == ("Depesche", 1, "smtp://relay")
    assert str(loaded.folder) == "/var/lib/depesche"


def test_every_command_of_a_recipe_exists() -> None:
    compose = yaml.safe_load(read_recipes()["compose.yaml"])["services"]
    commands = [service["command"] for service in compose.values() if service.get("image") == "depesche"]
    for text in read_recipes().values():
        commands += [
            line.split() for line in re.findall(r"(?:/bin/|^ {4})depesche ((?!%i)[a-z]+[^&'\n]*)", text, re.MULTILINE)
        ]
    assert len(commands) >= 7
    for command in commands:
        try:
            cli.make_parser().parse_args(command)
        except terminal.Misuse as misuse:
            pytest.fail(f"{command}: {misuse}")


def test_in_containers_no_process_is_root_and_the_program_cannot_be_written() -> None:
    compose = yaml.safe_load(read_recipes()["compose.yaml"])["services"]
    for name in ("web", "worker", "clock", "inbound"):
        assert compose[name]["read_only"]
        assert compose[name]["cap_drop"] == ["ALL"]
    assert re.search(r"^USER \d+$", read_recipes()["Containerfile"], re.MULTILINE)


def test_the_image_holds_all_that_the_program_needs() -> None:
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", read_recipes()["Containerfile"], re.MULTILINE)
    assert {"engine", "service", "workers", "templates", "pyproject.toml"} <= set(" ".join(copied).split())
    assert all((ROOT / path).exists() for path in " ".join(copied).split())


def test_the_page_on_sizing_names_metrics_benches_and_commands_that_there_are(site: Site) -> None:
    text = read_recipes()["SIZING.md"]
    metrics = create_app(site.app).test_client().get("/metrics").text
    families = {f"depesche_{name}" for name in METRICS} | set(re.findall(r"^# TYPE (\w+)", metrics, re.MULTILINE))
    assert {name.removesuffix("_total") for name in re.findall(r"`(depesche_\w+)`", text)} <= families
    table = text.partition("| what | cost | measured by |")[2].partition("\n\n")[0]
    measured_by = (line.split("|")[-2] for line in table.splitlines() if line)
    named = {name for cell in measured_by for name in re.findall(r"`(\w+)`", cell)} - {"ps"}
    assert len(named) >= 4
    assert named <= set(benches.find_benches())
    for command in re.findall(r"`depesche ((?:worker|web) [^`]+)`", text):
        cli.make_parser().parse_args([*command.split(), *(["1"] if command.endswith("--workers") else [])])
