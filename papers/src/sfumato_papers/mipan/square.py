"""Four people around a square in Paris: the data of Experiments 1 and 2, made here."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from sfumato.core import Space
from sfumato.core.arrays import Floats
from sfumato.errors import InputError
from sfumato.learning import Pairs, nearest

SIDE_M: Final = 300.0
RADIUS_M: Final = 45.8
AREA_M: Final = 6500.0
CELLS_M: Final = (500.0, 250.0, 100.0, 50.0)
HITS: Final = (10, 100, 500)
PEOPLE: Final = ("south-west", "south-east", "north-east", "north-west")


def vertices() -> Floats:
    """Return the corners of the square around the origin, array (4, 2), metres."""
    half = SIDE_M / 2
    return np.array([[-half, -half], [half, -half], [half, half], [-half, half]])


def square_data(
    records: int = 600, *, radius_m: float = RADIUS_M, seed: int | None = None, share: float = 0.8
) -> tuple[Pairs, Pairs]:
    """Return synthetic records of four people for training and for testing.

    Each person's places are uniform in a disc around a corner of a square of 300 m. The
    coordinates are metres from the centre of the square (in the paper 5, Boulevard de
    Sébastopol, Paris, with an area of 6.5 km x 6.5 km around it).

    Args:
        records: How many of each person; the paper has 600, of which 480 train.
        radius_m: Of the discs.
        seed: For studies: makes the data the same each time.
        share: The part that trains.

    Raises:
        InputError: If there are too few records, or the radius is negative.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, section IV.
    """
    training = round(share * records)
    if not 1 <= training < records or not (math.isfinite(radius_m) and radius_m >= 0):
        raise InputError(
            f"{records} records with a share of {share} and discs of {radius_m} m cannot be split.",
            "use some hundreds of records, a share between 0 and 1, and a radius of at least 0.",
        )
    rng = np.random.default_rng(seed)
    radius = radius_m * np.sqrt(rng.random((4, records)))
    angle = 2 * math.pi * rng.random((4, records))
    points = vertices()[:, None] + np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    space = Space(PEOPLE)
    one, two = (
        Pairs(np.repeat(PEOPLE, part.shape[1]).tolist(), part.reshape(-1, 2), "m", space)
        for part in (points[:, :training], points[:, training:])
    )
    return one, two


def square_cells(cell_m: float, reach_m: float = 200.0) -> Space:
    """Return cells of a grid around the square, one of them centred on its centre.

    Args:
        cell_m: The side of a cell.
        reach_m: How far from the centre the cells reach at least, in both directions.

    Raises:
        InputError: If a length is not positive.
    """
    if not (cell_m > 0 and reach_m > 0 and math.isfinite(reach_m / cell_m)):
        raise InputError(f"cells of {cell_m} m up to {reach_m} m are not possible.", "use positive lengths.")
    steps = range(-math.ceil(reach_m / cell_m), math.ceil(reach_m / cell_m) + 1)
    labels = [(column, row) for row in steps for column in steps]
    return Space(labels, np.array(labels) * cell_m, "m")


def loss_of_cells(data: Pairs, useful: Space, reports: Space) -> Floats:
    """Return the mean distance from the records of each useful cell to each report, array (useful, reports).

    It is the loss of reporting the centre of a cell in place of the exact value, so that
    nothing of the exact loss is lost by counting in cells. A cell without records takes the
    distance of its centre.

    Args:
        data: The records.
        useful: The cells of the useful values.
        reports: The cells that can be reported.

    Raises:
        InputError: If a space has no coordinates.
    """
    where = nearest(data.points, useful)
    targets, centres = reports.coordinates, useful.coordinates
    if targets is None or centres is None:
        raise InputError("the reports have no coordinates.", "pass cells of a grid.")
    sums = np.zeros((len(useful), len(reports)))
    np.add.at(sums, where, np.linalg.norm(data.points[:, None] - targets, axis=2))
    counts = np.bincount(where, minlength=len(useful))[:, None]
    apart = np.linalg.norm(centres[:, None] - targets, axis=2)
    means: Floats = np.where(counts > 0, sums / np.maximum(counts, 1), apart)
    return means
