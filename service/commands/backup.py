"""`depesche backup` and `depesche restore`: a house as one file, and a house from that file."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from service.commands.terminal import FINE, Misuse, Parser, Subparsers, add_command


def add(subparsers: Subparsers[Parser]) -> None:
    backup = add_command(
        subparsers,
        "backup",
        save,
        "Copy the whole house, database and secret, into one file, while it goes on working.",
        "depesche backup depesche-2026-11-22.copy",
    )
    backup.add_argument("file", metavar="FILE", help="the copy to make; it can do all that the house can: guard it")
    restore = add_command(
        subparsers,
        "restore",
        load,
        "Found a house anew from such a file, where there is none yet.",
        "depesche restore depesche-2026-11-22.copy",
    )
    restore.add_argument("file", metavar="FILE", help="a copy that `depesche backup` made")


def save(args: argparse.Namespace) -> int:
    """Only a house that is there is copied: none is made to be copied."""
    import time

    from service import settings
    from service.store import copies

    found, file = settings.load_settings(os.environ), Path(args.file)
    if file.exists():
        raise Misuse(f"{file} is there already; choose another name, so that no older copy is lost.")
    url = found.database_url
    if url.startswith("sqlite:///") and not Path(url.removeprefix("sqlite:///")).exists():
        raise Misuse(f"There is no house in {found.folder}; name its folder with DEPESCHE_FOLDER.")
    copies.save_backup(found, file, int(time.time()))
    print(f"{file} holds the whole house ({file.stat().st_size // 1024} kB). It opens every seat: keep it safe.")
    return FINE


def load(args: argparse.Namespace) -> int:
    from datetime import UTC, datetime

    from service import settings
    from service.store import copies

    found = settings.load_settings(os.environ)
    contents = copies.restore_backup(found, Path(args.file))
    made = datetime.fromtimestamp(contents.at, UTC)
    print(f"The house is as it was on {made:%Y-%m-%d at %H:%M} UTC. Check it: depesche audit --all")
    return FINE
