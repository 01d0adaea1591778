"""The page for hosts is carried out word by word on a bare Debian, and the first letter comes within five minutes."""

import os
import re
import ssl
import subprocess
import time
from pathlib import Path

import pytest

from tests import bare_servers, servers
from tests.conftest import or_skip

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "service/deploy/README.md"
FIVE_MINUTES = 300
# Replacements for the Internet: the local source, a self-made certificate, and a mail server on this machine.
CERTIFICATE = (
    "mkdir -p /etc/letsencrypt/live/games.example.org && openssl req -x509 -newkey rsa:2048 -nodes -days 2 "
    "-subj /CN=games.example.org -keyout /etc/letsencrypt/live/games.example.org/privkey.pem "
    "-out /etc/letsencrypt/live/games.example.org/fullchain.pem 2>/dev/null"
)
OPEN_A_TABLE = """/opt/depesche/bin/python - <<'END'
import json, ssl, urllib.request as web
people = [{"name": name, "address": f"{name.lower()}@example.org"} for name in ("Anna", "Bert")]
body = json.dumps({"game": "kaiser", "players": people, "key": "0123456789abcdef0123456789abcdef"}).encode()
headers = {"Host": "games.example.org", "Content-Type": "application/json"}
asked = web.Request("https://127.0.0.1/api/v1/tables", body, headers)
print(web.urlopen(asked, context=ssl._create_unverified_context(), timeout=20).read().decode())
END"""


def blocks(section: str) -> list[str]:
    """The commands of one section, a block each."""
    text = PAGE.read_text().split(f"\n## {section}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"(?:^ {4}.*\n)+", text, re.MULTILINE)
    return [re.sub(r"^ {4}", "", block, flags=re.MULTILINE) for block in blocks]


def adapt_to_test(text: str, mail_server: str) -> str:
    instead = {
        "https://git.example.org/depesche": "/srv/depesche.git",
        "certbot certonly --nginx -d games.example.org": CERTIFICATE,
        "smtp+tls://user:password@mail.example.org:587": mail_server,
        "YOUR.NAME": "games.example.org",
    }
    for ours, theirs in instead.items():
        assert ours not in theirs
        text = text.replace(ours, theirs)
    return text


def clone(folder: Path) -> Path:
    """The source as a host fetches it: what is committed here."""
    made = folder / "depesche.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(ROOT), str(made)], check=True)
    return made


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_from_a_bare_server_to_the_first_letter(tmp_path: Path) -> None:
    trusted = Path(ssl.get_default_verify_paths().cafile or "/etc/ssl/certs/ca-certificates.crt")
    shown = [(clone(tmp_path), "/srv/depesche.git"), (trusted, "/srv/trusted.pem")]
    words = {"PIP_CERT": "/srv/trusted.pem"}  # a network may have an authority of its own, which this machine knows
    with servers.smtp_server() as sink, or_skip(lambda: bare_servers.run_bare_server(shown)) as server:
        server.run("printf '[safe]\\n directory = *\\n' > ~/.gitconfig")  # the source belongs to another user here
        began, took = time.monotonic(), list[tuple[float, str]]()
        for block in blocks("For friends: one process"):
            at = time.monotonic()
            lines = adapt_to_test(block, f"smtp://127.0.0.1:{sink.port}")
            output = server.run(f"cd /opt/depesche-source 2>/dev/null || true\n{lines}", words)
            took.append((time.monotonic() - at, block.partition("\n")[0]))
        assert "FAILED" not in output, output  # the last block is the doctor's
        server.run(OPEN_A_TABLE)
        assert has_letter(sink, "anna@example.org")
        whole = time.monotonic() - began
        print("\n".join(f"{seconds:6.1f} s  {line}" for seconds, line in took), f"\n{whole:6.1f} s  in all")
        assert has_letter(sink, "you@example.org")
        check_keys(server)
        assert whole < FIVE_MINUTES, f"{whole:.0f} s, with {os.getloadavg()[0]:.1f} processes wanting the machine"


def has_letter(sink: servers.Sink, address: str) -> bool:
    until = time.monotonic() + 30
    while not any(address in str(letter["To"]) for letter in sink.letters):
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


def check_keys(server: bare_servers.BareServer) -> None:
    """The app runs as a user without rights, and the mail server's password reached it in a file."""
    assert "DynamicUser=yes" in server.run("systemctl show depesche -p DynamicUser")
    environment = server.run("tr '\\0' '\\n' < /proc/$(systemctl show depesche -P MainPID)/environ")
    assert "DEPESCHE_SMTP_FILE=/run/credentials/depesche.service/smtp" in environment
    assert "smtp://" not in environment
    assert server.run("stat -c %a /etc/depesche/secrets /var/lib/private/depesche").split() == ["700", "700"]
