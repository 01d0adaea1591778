"""`depesche move-out` and `move-in`: tables with everything they need, from one house into another."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from service.commands import terminal
from service.commands.terminal import FINE, Misuse, Parser, Subparsers, add_command, add_json

if TYPE_CHECKING:
    from service.app import App
    from service.tables.moving import Load

WARNING = "It holds seeds and addresses: give it to the new host alone, and delete it when the tables have arrived."


def add(subparsers: Subparsers[Parser]) -> None:
    out = add_command(
        subparsers,
        "move-out",
        move_out,
        "Write tables into a file for another house; from then on they are not played here, and say where they live.",
        "depesche move-out tables.json 1f3a 2b4c --to https://games.example.org",
        "depesche move-out tables.json --all --to https://games.example.org",
    )
    out.add_argument("file", metavar="FILE", help="a new file, which only you can read")
    out.add_argument("tables", metavar="TABLE", nargs="*", help="the table's name")
    out.add_argument("--all", action="store_true", help="every table of the service")
    out.add_argument("--to", metavar="ADDRESS", required=True, help="the address of the new house")
    add_json(out)
    into = add_command(
        subparsers,
        "move-in",
        move_in,
        "Take tables in that have left another house; their players get new links by letter.",
        "depesche move-in tables.json",
    )
    into.add_argument("file", metavar="FILE", help="what move-out has written there; - reads what is piped in")
    add_json(into)


def _app() -> App:
    from service import settings
    from service.app import App

    found = App(settings.load_settings())
    found.open()
    return found


def move_out(args: Namespace) -> int:
    from sqlalchemy import select

    from service.settings import refuse_address
    from service.store.schema import tables
    from service.tables import moving

    to = args.to.rstrip("/")
    refuse_address(to)
    if bool(args.tables) == args.all:
        raise Misuse("Name the tables that move, or all of them by --all.")
    app = _app()
    try:
        with app.store.writing() as connection:
            staying = select(tables.c.id).where(tables.c.moved_to == "")
            names = args.tables or connection.execute(staying).scalars().all()
            if not names:
                raise Misuse("There is no table here that could move.")
            load = moving.leave(app, connection, names, to)
            _write(Path(args.file), moving.packed(load))
    finally:
        app.close()
    _tell(load, args.json, WARNING)
    return FINE


def _write(path: Path, content: bytes) -> None:
    """A new file that only its owner can read, on the disk before the tables stop here."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise Misuse(f"{path} cannot be written: {error.strerror}. No table has moved.") from error


def move_in(args: Namespace) -> int:
    from service.tables import moving

    load = moving.unpacked(terminal.read(args.file))
    app = _app()
    try:
        with app.store.writing() as connection:
            moving.arrive(app, connection, load)
        for queue in ("post", "bots", "rounds"):
            app.wakeups.wake(queue)
    finally:
        app.close()
    _tell(load, args.json, f"They came from {load.left}. Their players get the new links by letter.")
    return FINE


def _tell(load: Load, as_json: bool, last: str) -> None:
    logs = [carried.log for carried in load.tables]
    if as_json:
        moved = [{"table": log.table, "game": log.game, "entries": len(log.entries), "head": log.head} for log in logs]
        terminal.print_json({"from": load.left, "to": load.to, "tables": moved})
        return
    for log in logs:
        terminal.tell(f"{log.table}: {log.game}, {len(log.entries)} entries, receipt {log.head}")
    terminal.tell(last)
