"""`depesche export-tables` and `import-tables`: tables with everything they need, from one server to another."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from service.commands import terminal
from service.commands.terminal import FINE, Misuse, Parser, Subparsers, add_command, add_json

if TYPE_CHECKING:
    from service.app import App
    from service.tables.transfer import TransferFile

WARNING = "It holds seeds and addresses: give it to the new host alone, and delete it when the tables have arrived."


def add(subparsers: Subparsers[Parser]) -> None:
    """Add the commands `export-tables` and `import-tables`."""
    out = add_command(
        subparsers,
        "export-tables",
        export_tables,
        "Write tables into a file for another server; from then on they are played there, and links lead to it.",
        "depesche export-tables tables.json 1f3a 2b4c --to https://games.example.org",
        "depesche export-tables tables.json --all --to https://games.example.org",
    )
    out.add_argument("file", metavar="FILE", help="a new file, which only you can read")
    out.add_argument("tables", metavar="TABLE", nargs="*", help="the table's name")
    out.add_argument("--all", action="store_true", help="every table of the service")
    out.add_argument("--to", metavar="ADDRESS", required=True, help="the address of the new server")
    add_json(out)
    into = add_command(
        subparsers,
        "import-tables",
        import_tables,
        "Take in tables of another server; their players get new links by letter.",
        "depesche import-tables tables.json",
    )
    into.add_argument("file", metavar="FILE", help="the file of export-tables; - reads it from the standard input")
    add_json(into)


def _open_app() -> App:
    """Open the app of the settings; the caller closes it."""
    from service import settings
    from service.app import App

    app = App(settings.load_settings())
    app.open()
    return app


def export_tables(args: Namespace) -> int:
    """Write tables into a file and hand them over to the new server: both in one transaction, or neither."""
    from sqlalchemy import select

    from service.settings import refuse_address
    from service.store.schema import tables
    from service.tables import transfer

    to = args.to.rstrip("/")
    refuse_address(to)
    if bool(args.tables) == args.all:  # both, or neither
        raise Misuse("Name the tables to export, or all of them with --all.")
    app = _open_app()
    try:
        with app.store.writing() as db:
            staying = select(tables.c.id).where(tables.c.moved_to == "")
            names = args.tables or db.execute(staying).scalars().all()
            if not names:
                raise Misuse("There is no table here to export.")
            file = transfer.export_tables(app, db, names, to)
            _write(Path(args.file), transfer.dump_file(file))
    finally:
        app.close()
    _print_tables(file, args.json, WARNING)
    return FINE


def _write(path: Path, content: bytes) -> None:
    """Write a new file that only its owner can read; it is on the disk before the transaction commits."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise Misuse(f"{path} cannot be written: {error.strerror}. No table was exported.") from error


def import_tables(args: Namespace) -> int:
    """Take in the tables of a file, all or none, and wake the workers that go on with them."""
    from service.tables import transfer

    file = transfer.parse_file(terminal.read_file(args.file))
    app = _open_app()
    try:
        with app.store.writing() as db:
            transfer.import_tables(app, db, file)
        for queue in ("post", "bots", "rounds"):
            app.wakeups.wake(queue)
    finally:
        app.close()
    _print_tables(file, args.json, f"They came from {file.old_server}. Their players get the new links by letter.")
    return FINE


def _print_tables(file: TransferFile, as_json: bool, last_line: str) -> None:
    """Print the tables of a file, as JSON or one on each line with a last line."""
    logs = [one.log for one in file.tables]
    if as_json:
        moved = [{"table": log.table, "game": log.game, "entries": len(log.entries), "head": log.head} for log in logs]
        terminal.print_json({"from": file.old_server, "to": file.new_server, "tables": moved})
        return
    for log in logs:
        terminal.print_line(f"{log.table}: {log.game}, {len(log.entries)} entries, receipt {log.head}")
    terminal.print_line(last_line)
