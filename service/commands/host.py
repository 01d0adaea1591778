"""Commands of the host: `host-link`, `push-key`, `renew`, `backup`, `restore` and `partition`."""

from __future__ import annotations

import argparse
import os
from contextlib import closing
from pathlib import Path

from service.commands.terminal import FINE, Misuse, Parser, Subparsers, add_command


def add(subparsers: Subparsers[Parser]) -> None:
    """Add the commands of the host."""
    link = add_command(
        subparsers,
        "host-link",
        print_link,
        "Print the address of the host's page: tables, failed letters, notices. It is a password: keep it secret.",
        "depesche host-link",
        "depesche host-link --renew",
    )
    link.add_argument("--renew", action="store_true", help="make a new one; the old ones stop working")
    key = add_command(
        subparsers,
        "push-key",
        print_push_key,
        "Print the public key of web push, by which push services recognise this server.",
        "depesche push-key",
        "depesche push-key --renew",
    )
    key.add_argument("--renew", action="store_true", help="make a new one; players then switch notifications on again")
    renew = add_command(
        subparsers,
        "renew",
        renew_secrets,
        "Renew secrets that may have leaked: the visits of all people, who sign in again, or the secrets of webhooks.",
        "depesche renew sessions",
        "depesche renew webhooks",
    )
    renew.add_argument("what", choices=("sessions", "webhooks"), help="what may have leaked")
    _add_backup(subparsers)
    partition = add_command(
        subparsers,
        "partition",
        partition_tables,
        "Split the largest tables of PostgreSQL into partitions, or join them again (1); stop the server first.",
        "depesche partition 16",
    )
    partition.add_argument("parts", metavar="PARTS", type=int, help="the number of partitions; 1 joins them")


def _add_backup(subparsers: Subparsers[Parser]) -> None:
    """Add the commands `backup` and `restore`."""
    backup = add_command(
        subparsers,
        "backup",
        make_backup,
        "Write the whole server, database and secret, to one file; it may be running.",
        "depesche backup depesche-2026-11-22.copy",
    )
    backup.add_argument("file", metavar="FILE", help="the backup to write; it opens every seat: keep it secret")
    restore = add_command(
        subparsers,
        "restore",
        restore_backup,
        "Restore a server from a backup, if there is no database yet.",
        "depesche restore depesche-2026-11-22.copy",
    )
    restore.add_argument("file", metavar="FILE", help="a file that `depesche backup` made")


def print_link(args: argparse.Namespace) -> int:
    """Print the address of the host's page, a new one with `--renew`."""
    from service import settings
    from service.app import App
    from service.hosting import overview

    app = App(settings.load_settings(os.environ))
    app.open()
    print(f"{app.settings.address}/host/{overview.get_link(app, renew=args.renew)}")
    app.close()
    return FINE


def print_push_key(args: argparse.Namespace) -> int:
    """Print the public key of web push.

    With `--renew` the key is a new one: that ends the notifications of all devices, and their number is printed.
    """
    from service import settings
    from service.app import App
    from service.store import push_keys

    app = App(settings.load_settings(os.environ))
    app.open()
    with app.store.writing() as db:
        if args.renew:
            device_count = push_keys.renew_key(db)
            print(f"Devices that players switch on again: {device_count}")
        public_key = push_keys.dump_public(push_keys.load_key(db))
        print(push_keys.encode_base64url(public_key))
    app.close()
    return FINE


def renew_secrets(args: argparse.Namespace) -> int:
    """Sign out all people, or give all webhooks new secrets."""
    from service import settings
    from service.accounts import signing_in
    from service.app import App
    from service.notify import followers

    app = App(settings.load_settings(os.environ))
    app.open()
    if args.what == "sessions":
        print(f"Visits that have ended: {signing_in.sign_out_everybody(app)}")
    else:
        print(f"Webhooks with a new secret, whose owners get a letter: {followers.renew_webhook_secrets(app)}")
    app.close()
    return FINE


def make_backup(args: argparse.Namespace) -> int:
    """Write a backup of the server; raise Misuse if the file exists, or if there is no database to copy."""
    import time

    from service import settings
    from service.store import maintenance
    from service.store.connection import find_database_file

    loaded, file = settings.load_settings(os.environ), Path(args.file)
    if file.exists():
        raise Misuse(f"{file} exists already; choose another name, so that no older backup is lost.")
    database = find_database_file(loaded.database_url)  # None for PostgreSQL
    if database and not database.exists():
        raise Misuse(f"There is no database in {loaded.folder}; name its folder with DEPESCHE_FOLDER.")
    maintenance.save_backup(loaded, file, int(time.time()))
    print(f"{file} has the whole server ({file.stat().st_size // 1024} kB). It opens every seat: keep it safe.")
    return FINE


def restore_backup(args: argparse.Namespace) -> int:
    """Restore the server from a backup, and say from when it is."""
    from datetime import UTC, datetime

    from service import settings
    from service.store import maintenance

    contents = maintenance.restore_backup(settings.load_settings(os.environ), Path(args.file))
    made_at = datetime.fromtimestamp(contents.at, UTC)
    print(f"The server is as it was on {made_at:%Y-%m-%d at %H:%M} UTC. Check it: depesche audit --all")
    return FINE


def partition_tables(args: argparse.Namespace) -> int:
    """Split the largest tables into partitions, or join them again."""
    from service import settings
    from service.store import Store, maintenance

    with closing(Store(settings.load_settings(os.environ).database_url)) as store:
        store.migrate()
        with store.writing() as connection:
            maintenance.partition_tables(connection, args.parts)
    names = ", ".join(maintenance.PARTITIONED_TABLES)
    print("The tables are in one piece again." if args.parts == 1 else f"{names}: {args.parts} partitions each.")
    return FINE
