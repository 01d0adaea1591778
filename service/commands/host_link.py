"""`depesche host-link`: the address of the host's page."""

from __future__ import annotations

import argparse
import os

from service.commands.terminal import FINE, Parser, Subparsers, add_command


def add(subparsers: Subparsers[Parser]) -> None:
    parser = add_command(
        subparsers,
        "host-link",
        run,
        "Print the address of the host's page: tables, letters that did not leave, notices. It is a key: keep it.",
        "depesche host-link",
        "depesche host-link --renew",
    )
    parser.add_argument("--renew", action="store_true", help="make a new one; those before it open nothing any more")


def run(args: argparse.Namespace) -> int:
    from service import settings
    from service.app import App
    from service.hosting import remedies

    app = App(settings.load_settings(os.environ))
    app.open()
    print(f"{app.settings.address}/host/{remedies.get_link(app, args.renew)}")
    app.close()
    return FINE
