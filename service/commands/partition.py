"""`depesche partition`: the largest tables of PostgreSQL in parts."""

from __future__ import annotations

import argparse
import os
from contextlib import closing

from service.commands.terminal import FINE, Parser, Subparsers, add_command


def add(subparsers: Subparsers[Parser]) -> None:
    command = add_command(
        subparsers,
        "partition",
        divide,
        "Lay the largest tables of PostgreSQL in parts, or in one piece again (1); stop the house first.",
        "depesche partition 16",
    )
    command.add_argument("parts", metavar="PARTS", type=int, help="how many parts; 1 is one piece")


def divide(args: argparse.Namespace) -> int:
    from service import settings
    from service.store import Store, partitions

    with closing(Store(settings.load_settings(os.environ).database_url)) as store:
        store.migrate()
        with store.writing() as connection:
            partitions.partition_tables(connection, args.parts)
    print(
        "The tables are in one piece again."
        if args.parts == 1
        else f"{', '.join(partitions.PARTITIONED_TABLES)}: {args.parts} partitions each."
    )
    return FINE
