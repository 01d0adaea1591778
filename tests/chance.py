"""Random bytes that are the same in each run of a test: games are dealt alike, so that no test fails by bad luck.

    CHANCE=2 make pytest

deals all games differently, to find a test that depends on its deal.
"""

import os
import secrets
from random import Random

SEED_BYTES = 32  # of a table or a branch; keys of forms and names of tables are shorter
CHANCE = os.environ.get("CHANCE", "")


def begin(test: str) -> None:
    """Draw the same random bytes as in the last run of this test; seeds do not depend on the keys that threads draw."""
    seeds, others = Random(f"{CHANCE}{test}"), Random(f"{CHANCE}{test}")

    def draw_bytes(size: int = SEED_BYTES) -> bytes:
        return (seeds if size == SEED_BYTES else others).randbytes(size)

    secrets.token_bytes = draw_bytes  # type: ignore[assignment]
