"""The doctor: is everything there that a house needs, does anything lie too long, are the settings meant so?"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from engine.refusal import Refused
from service.commands.findings import Finding, ill, odd, well
from service.commands.terminal import FINE, WRONG, Misuse, Parser, Subparsers, add_command, add_json, print_json, tell

if TYPE_CHECKING:
    from service.dns_client import Server
    from service.settings import Settings


def add(subparsers: Subparsers[Parser]) -> None:
    parser = add_command(
        subparsers,
        "doctor",
        run,
        "Check all that a house needs, from database to DNS, and say how to mend what is not well.",
        "depesche doctor",
        "depesche doctor --json",
        "depesche doctor --mail you@example.org",
        "depesche doctor --dns 9.9.9.9",
    )
    add_json(parser)
    parser.add_argument("--mail", metavar="ADDRESS", help="also send one letter there, and say what came of it")
    parser.add_argument("--dns", metavar="SERVER", help="ask this name server (ADDRESS or ADDRESS:PORT), not the usual")


def run(args: argparse.Namespace) -> int:
    """What works and what does not, a line each; status 1 where something is ill, not where something is only odd.

    It only looks: no folder, no secret and no database is made for it.
    """
    from service import settings

    try:
        found = settings.read(os.environ)
    except Refused as refused:  # such as a misspelt name, with which no house starts
        findings = [ill("settings", f"settings: {refused}", "change that setting; without it no house starts")]
    else:
        with _logs_aside():
            findings = list(_looked(found, args.mail, args.dns))
    if args.json:
        print_json([_told(finding) for finding in findings])
    else:
        for finding in findings:
            tell(f"{finding.verdict + ':':<5} {finding.what}")
            if finding.mend:
                tell(f"      mend it: {finding.mend}")
    return WRONG if any(finding.verdict == "ILL" for finding in findings) else FINE


@contextmanager
def _logs_aside() -> Iterator[None]:
    """What the parts of the house log meanwhile does not stand among the findings."""
    import structlog

    usual = structlog.get_config()
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    try:
        yield
    finally:
        structlog.configure(**usual)


def _told(finding: Finding) -> dict[str, str]:
    return {"about": finding.about, "verdict": finding.verdict.lower(), "what": finding.what, "mend": finding.mend}


def _looked(settings: Settings, mail: str | None, dns: str | None) -> Iterator[Finding]:
    from service.settings import EMBEDDED
    from workers.commands import checkups

    servers = _name_servers(dns)
    findings = list(checkups.all_of(settings))
    yield from findings
    if settings.smtp != EMBEDDED and settings.mail_host != "localhost":
        from service.commands.mail_records import Zone

        yield from Zone(settings, servers).look()
    if mail:
        yield from _letter(settings, mail)
    yield from oddities(settings)
    if not any(finding.verdict == "ILL" for finding in findings):
        yield from checkups.lying(settings)


def _name_servers(dns: str | None) -> list[Server]:
    """Those of this machine, or the one that is named."""
    from ipaddress import ip_address

    from service import dns_client
    from service.numbers import read

    if not dns:
        return dns_client.name_servers()
    host, _, port = dns.rpartition(":") if dns.count(":") == 1 or "]:" in dns else (dns, ":", "53")
    try:
        number = read(port, 65_535)
        return [(str(ip_address(host.strip("[]"))), number or int("no port"))]
    except ValueError:
        raise Misuse(f"“{dns}” is no name server; give its address, such as 9.9.9.9 or 127.0.0.1:5353.") from None


def _letter(settings: Settings, to: str) -> Iterator[Finding]:
    """What came of a letter to this address, and what its reader should look at."""
    from service.people import register
    from service.settings import EMBEDDED
    from workers.outgoing import trial_letter

    address = register.clean_address(to)
    if settings.smtp == EMBEDDED:
        raise Refused("No letter leaves this house; name a mail server with DEPESCHE_SMTP, and try again.")
    mend = "the sentence is the mail server's own; mend DEPESCHE_SMTP or DEPESCHE_SENDER by it"
    try:
        found = trial_letter.send(settings, address)
    except Exception as error:
        yield ill("letter", f"letter to {address}: {error}", mend)
        return
    way = f"by {found.tls}" if found.tls else "unencrypted"
    said = f"letter to {address}, from {found.sender}, {way}: {found.said}"
    if not found.taken:
        yield ill("letter", said, mend)
        return
    yield well("letter", said)
    yield Finding("look", "letter", f"at its headers where it arrived; it left with {', '.join(found.headers)}")
    wanted = "spf, dkim and dmarc should be “pass”, and dkim’s h= name list-unsubscribe, list-unsubscribe-post"
    yield Finding("look", "letter", wanted)


def oddities(settings: Settings) -> Iterator[Finding]:
    """Settings that are allowed, and are hardly meant."""
    from engine import catalogue
    from service.settings import EMBEDDED

    for name in catalogue.find_missing(settings.packages):
        said = f"DEPESCHE_GAMES names {name}, but no installed package brings it: its tables cannot be played on"
        yield odd("settings", said, f"install the package with {name}, or take it out of DEPESCHE_GAMES")
    if settings.require_authentication and not settings.trusted_authserv:
        said = (
            "DEPESCHE_REQUIRE_AUTHENTICATION is on, but DEPESCHE_TRUSTED_AUTHSERV names nobody: every answer is refused"
        )
        yield odd("settings", said, "set DEPESCHE_TRUSTED_AUTHSERV to the name in your server's Authentication-Results")
    if settings.smtp == EMBEDDED:
        return
    address = urlsplit(settings.address)
    if address.hostname in ("127.0.0.1", "localhost"):
        said = f"letters leave this machine, but their links lead to {settings.address}"
        yield odd("settings", said, "set DEPESCHE_ADDRESS to the address that players see")
    elif address.scheme != "https":
        said = f"links are keys, and {settings.address} shows them to everybody on the way"
        yield odd("settings", said, "use https in DEPESCHE_ADDRESS, with a web server in front that has a certificate")
    if settings.mail_host == "localhost":
        said = "letters come from localhost, which nobody can answer"
        yield odd("settings", said, "set DEPESCHE_SENDER to an address of your domain")
