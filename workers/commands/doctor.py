"""`depesche doctor`: checks what the server needs, whether work is overdue, and whether the settings make sense."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from engine.refusal import Refused
from service.commands.terminal import (
    FINE,
    WRONG,
    CheckResult,
    Misuse,
    Parser,
    Subparsers,
    add_command,
    add_json,
    make_failure,
    make_success,
    make_warning,
    print_json,
    print_line,
)

if TYPE_CHECKING:
    from service.commands.mail_records import NameServer
    from service.settings import Settings


DNS_PORT, MAX_PORT = 53, 65_535


def add(subparsers: Subparsers[Parser]) -> None:
    """Add the command `doctor`."""
    parser = add_command(
        subparsers,
        "doctor",
        run_doctor,
        "Check all that a server needs, from database to DNS, and say how to correct what is wrong.",
        "depesche doctor",
        "depesche doctor --json",
        "depesche doctor --mail you@example.org",
        "depesche doctor --dns 9.9.9.9",
    )
    add_json(parser)
    parser.add_argument("--mail", metavar="ADDRESS", help="also send a letter there, and say what came of it")
    parser.add_argument(
        "--dns", metavar="SERVER", help="ask this name server (ADDRESS or ADDRESS:PORT), not the one of this machine"
    )


def run_doctor(args: argparse.Namespace) -> int:
    """Print a line for each check; the exit status is 1 if a check failed, but not for warnings.

    Nothing is created or changed: no folder, no secret, no database.
    """
    from service import settings

    try:
        loaded = settings.load_settings(os.environ)
    except Refused as refused:  # such as a misspelt name
        findings = [
            make_failure("settings", f"settings: {refused}", "change that setting; Depesche does not start with it")
        ]
    else:
        with _log_to_stderr():
            findings = list(_check_all(loaded, args.mail, args.dns))
    if args.json:
        print_json([_describe(finding) for finding in findings])
    else:
        for finding in findings:
            print_line(f"{finding.verdict + ':':<8} {finding.what}")
            if finding.mend:
                print_line(f"         to do: {finding.mend}")
    return WRONG if any(finding.verdict == "FAILED" for finding in findings) else FINE


@contextmanager
def _log_to_stderr() -> Iterator[None]:
    """Write log lines to standard error meanwhile, apart from the findings."""
    import structlog

    before = structlog.get_config()
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    try:
        yield
    finally:
        structlog.configure(**before)


def _describe(finding: CheckResult) -> dict[str, str]:
    return {"about": finding.about, "verdict": finding.verdict.lower(), "what": finding.what, "mend": finding.mend}


def _check_all(settings: Settings, mail: str | None, dns: str | None) -> Iterator[CheckResult]:
    """Yield the results of all checks; send a letter to `mail`, and ask the name server `dns`, if they are given.

    Overdue work is searched for only if no part of the service has failed, which would be its reason.
    """
    from service.settings import EMBEDDED
    from workers.commands import checkups

    servers = _choose_name_servers(dns)
    service_results = list(checkups.check_all(settings))
    yield from service_results
    if settings.smtp != EMBEDDED and settings.mail_host != "localhost":
        from service.commands.mail_records import Zone

        yield from Zone(settings, servers).check()
    if mail:
        yield from _send_letter(settings, mail)
    yield from check_settings(settings)
    if all(result.verdict != "FAILED" for result in service_results):
        yield from checkups.check_overdue_work(settings)


def _choose_name_servers(dns: str | None) -> list[NameServer]:
    """Return the name servers of this machine, or the given one; raise Misuse if that is no address."""
    from ipaddress import ip_address

    from service.commands import mail_records
    from service.numbers import parse_int

    if not dns:
        return mail_records.list_name_servers()
    host, port = dns, DNS_PORT
    if dns.count(":") == 1 or "]:" in dns:  # other colons belong to an address of IPv6
        host, _, port_text = dns.rpartition(":")
        port = parse_int(port_text, MAX_PORT) or 0
    try:
        address = str(ip_address(host.strip("[]")))
    except ValueError:
        address = ""  # it is a name
    if not address or not port:
        raise Misuse(f"“{dns}” is no name server; give its address, such as 9.9.9.9 or 127.0.0.1:5353.")
    return [(address, port)]


def _send_letter(settings: Settings, to: str) -> Iterator[CheckResult]:
    """Send a letter to this address; report the answer of the mail server and what to look at in the letter."""
    from service.people import register
    from service.settings import EMBEDDED
    from workers.commands import checkups

    address = register.clean_address(to)
    if settings.smtp == EMBEDDED:
        raise Refused("No letter leaves this server; name a mail server with DEPESCHE_SMTP, and try again.")
    mend = "the sentence is the mail server's own; correct DEPESCHE_SMTP or DEPESCHE_SENDER by it"
    try:
        trial = checkups.send_test_letter(settings, address)
    except Exception as error:
        yield make_failure("letter", f"letter to {address}: {error}", mend)
        return
    way = f"by {trial.tls}" if trial.tls else "unencrypted"
    what = f"letter to {address}, from {trial.sender}, {way}: {trial.reply}"
    if not trial.accepted:
        yield make_failure("letter", what, mend)
        return
    yield make_success("letter", what)
    yield CheckResult("look", "letter", f"at its headers where it arrived; it left with {', '.join(trial.headers)}")
    expected = "spf, dkim and dmarc should be “pass”, and dkim’s h= name list-unsubscribe, list-unsubscribe-post"
    yield CheckResult("look", "letter", expected)


def check_settings(settings: Settings) -> Iterator[CheckResult]:
    """Find settings that are allowed but hardly intended."""
    from service.settings import EMBEDDED

    if settings.require_authentication and not settings.trusted_authserv:
        what = "DEPESCHE_REQUIRE_AUTHENTICATION is on, but DEPESCHE_TRUSTED_AUTHSERV is empty: every answer is refused"
        yield make_warning(
            "settings", what, "set DEPESCHE_TRUSTED_AUTHSERV to the name in your server's Authentication-Results"
        )
    if settings.smtp == EMBEDDED:
        return
    address = urlsplit(settings.address)
    if address.hostname in ("127.0.0.1", "localhost"):
        what = f"letters leave this machine, but their links lead to {settings.address}"
        yield make_warning("settings", what, "set DEPESCHE_ADDRESS to the address that players see")
    elif address.scheme != "https":
        what = f"links are keys, and {settings.address} shows them to everyone on the way"
        yield make_warning(
            "settings", what, "use https in DEPESCHE_ADDRESS, with a web server in front that has a certificate"
        )
    if settings.mail_host == "localhost":
        what = "letters come from localhost, so players cannot answer them"
        yield make_warning("settings", what, "set DEPESCHE_SENDER to an address of your domain")
