"""The decisions that differ between editions of the game: a table keeps the edition that it was opened with."""

from __future__ import annotations


def pays_bonus_for_recalled_abbot(edition: int) -> bool:
    """§8.3: Whether an abbot who comes home brings the points of the fairy and of other bonuses too."""
    return edition == 1


def performs_without_target(edition: int) -> bool:
    """§5.6: Whether a message about nothing can be performed for no points, if the table has chosen that."""
    return edition >= 2


def settles_before_other_part(edition: int) -> bool:
    """§7.8: Whether boxes react to a figure only before another part begins; up to edition 2 also after that part."""
    return edition >= 3


def lets_wagons_into_school(edition: int) -> bool:
    """§21.1: Whether a wagon can drive to the school."""
    return edition < 3


def recalls_surrounded_abbot(edition: int) -> bool:
    """§8.3: Whether an abbot can be taken back although his place is complete and is about to be scored."""
    return edition < 4


def counts_gate_road_twice(edition: int) -> bool:
    """§32.1: Whether the road on a double tile of Leipzig counts as two tiles."""
    return edition < 4


def pays_leipzig_for_message_8(edition: int) -> bool:
    """§32.4: Whether message 8 pays what a quarter of Leipzig brings, as the final scoring does."""
    return edition >= 4


def asks_citizens_before_churches(edition: int) -> bool:
    """§30.4: Whether meeples come out of Carcassonne onto all features of a tile before any church is counted."""
    return edition >= 4


def drives_from_leipzig(edition: int) -> bool:
    """§32.3: Whether a wagon that was sent to Leipzig is asked where it drives all the same."""
    return edition < 4


def forgets_figure_of_fairy(edition: int) -> bool:
    """§10.3: Whether the fairy is beside no meeple once hers has left, even if an equal one comes to its place."""
    return edition >= 6


def lists_every_turn_of_towers(edition: int) -> bool:
    """§2.2, §23.5: Whether the tile with a tower in one of two cities can be placed with either city on a side."""
    return edition >= 5
