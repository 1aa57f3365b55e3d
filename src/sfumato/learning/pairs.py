"""Data of the game: a sensitive label and a useful value of each record."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..attacks.classifiers import Examples
from ..core import Loss, Space, units
from ..core.arrays import Floats, floats, numbers, readonly
from ..core.immutable import assign
from ..errors import DataError, InputError, argument, row_value
from ..escaping import plain
from ..geo import Places, Visits


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pairs:
    """Records of a sensitive label X and a useful value W that is to be reported with noise.

    Raises `InputError` if sizes differ, there are fewer than two labels, or a value is NaN.

    Args:
        sensitive: The label of each record, k of them.
        useful: Array (k, dimensions), or (k,): the coordinates of each useful value.
        unit: The unit of the coordinates.
        space: All labels; by default those that occur.

    Attributes:
        classes: Array (k,), the positions of the labels.
        points: Array (k, dimensions), the useful values.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, section II.

    Example:
        >>> from sfumato.learning import Pairs
        >>> Pairs(["Alice", "Bob"], [[0.0, 0.0], [300.0, 0.0]])
        Pairs: 2 records of 2 labels, useful values of 2 coordinates in m
    """

    classes: NDArray[np.intp]
    points: Floats
    space: Space
    unit: str

    def __init__(
        self, sensitive: Iterable[Hashable], useful: ArrayLike, unit: str = "m", space: Space | None = None
    ) -> None:
        labels = list(sensitive)
        coordinates = numbers(useful, "the useful values")
        columns = coordinates[:, None] if coordinates.ndim == 1 else coordinates
        points = floats(columns, "the useful values", shape=(len(labels), None))
        if not labels or points.shape[1] == 0:
            raise InputError("there is no record.", "pass a label and coordinates for each.")
        labels_space = Space(dict.fromkeys(labels)) if space is None else space
        if len(labels_space) < 2:
            raise InputError(
                f"all records have {row_value(f'the label {labels_space.labels[0]!r}', 'one label')}, "
                "so there is nothing to hide.",
                "pass at least two labels.",
            )
        classes = readonly(np.asarray(labels_space.positions(labels), dtype=np.intp))
        assign(self, classes=classes, points=points, space=labels_space, unit=units.canonical(unit))

    @classmethod
    def of_visits(
        cls,
        visits: Visits,
        places: Places,
        sensitive: str | None = None,
        *,
        values: Sequence[Hashable] | None = None,
        most: int | None = None,
    ) -> Pairs:
        """Return the visits inside the cells: a column to hide is the label, the place is the useful value.

        Raises `DataError` if no visit is inside the cells. Raises `InputError` if the visits have no such column,
        a value has no visit inside the cells, or fewer than two values are left.

        Args:
            visits: The visits.
            places: The cells; coordinates are on their plane, in metres.
            sensitive: The column to hide; by default the user.
            values: The values to select, which become the labels in this order; by default all.
            most: Select this many of the values, those with the most visits inside the cells.
        """
        within = places.inside(visits.lat, visits.lon)
        if not within.any():
            raise DataError("no visit lies in the region.", f"choose another {argument('region')}.")
        inside = visits.select(within)
        column = _column(inside, sensitive)
        distinct, counts = np.unique(column, return_counts=True)
        if values is not None:
            selected = [str(value) for value in values]
            if absent := [value for value in selected if value not in distinct]:
                common = ", ".join(distinct[np.argsort(-counts, kind="stable")[:6]])
                raise InputError(
                    f"no visit in the region has {sensitive or 'user'} {absent[0]!r}.",
                    row_value(f"there are, such as: {common}.", "correct the name."),
                )
        else:
            selected = list(distinct[np.argsort(-counts, kind="stable")[:most]])
        rows = np.isin(column, selected)
        points = places.projection.forward(inside.lat[rows], inside.lon[rows])
        return cls(column[rows].tolist(), points, "m", None if values is None else Space(selected))

    def __len__(self) -> int:
        return len(self.classes)

    def __repr__(self) -> str:
        k = self.points.shape[1]
        return (
            f"Pairs: {len(self)} records of {len(self.space)} labels, useful values of "
            f"{k} coordinate{'s' if k > 1 else ''}" + (f" in {plain(self.unit)}" if self.unit else "")
        )

    @property
    def shares(self) -> Floats:
        """Frequency of each label, as a share, array (labels,)."""
        return np.bincount(self.classes, minlength=len(self.space)) / len(self)

    @property
    def blind_error(self) -> float:
        """The error of the best guess without a report: 1 less the largest share."""
        return 1.0 - float(self.shares.max())

    def split(self, share: float, *, by_label: bool = False, seed: int | None = None) -> tuple[Pairs, Pairs]:
        """Return a random share of the records and the rest, neither empty.

        With ``by_label`` each label has that share of its records, up to rounding, in the first part. Such records
        are not independent draws. The seed is for studies.
        """
        first = round(share * len(self)) if 0 < share < 1 else 0
        if not 1 <= first <= len(self) - 1:
            raise InputError(
                f"a share of {share} of {len(self)} records leaves one part empty.",
                "use a share between 0 and 1, such as 0.8.",
            )
        order = np.random.default_rng(seed).permutation(len(self))
        if by_label:
            place = np.empty(len(self))  # of a record among those of its label, from 0 to 1
            for label in range(len(self.space)):
                alike = order[self.classes[order] == label]
                place[alike] = (np.arange(len(alike)) + 0.5) / max(1, len(alike))
            order = order[np.argsort(place[order], kind="stable")]
        return self.take(order[:first]), self.take(order[first:])

    def take(self, rows: NDArray[np.intp]) -> Pairs:
        """Return the records of these positions, in their order; a position may occur often."""
        labels = self.space.labels
        return Pairs([labels[c] for c in self.classes[rows]], self.points[rows], self.unit, self.space)

    def joint(self, cells: Space) -> Floats:
        """Return the shares P(x, w) of label and nearest cell, array (labels, cells).

        The cells, such as a `Grid`, need coordinates in the same plane and unit.
        """
        joint = np.zeros((len(self.space), len(cells)))
        np.add.at(joint, (self.classes, nearest(self.points, cells)), 1.0 / len(self))
        return joint

    def loss(self, cells: Space, reports: Floats | None = None) -> Loss:
        """Return the mean loss of a report for the true values of each cell, array (cells, reports).

        Reports (m, dimensions) are in the plane of the cells, by default their centres. With `joint`, the expected
        loss of a mechanism on the cells, in the same plane and unit, is the mean distance from the true values of
        these records to their reports. A cell without records counts from its centre.
        """
        from scipy.spatial.distance import cdist

        cell_of = nearest(self.points, cells)
        centres = np.asarray(cells.coordinates)
        targets = centres if reports is None else reports
        costs = cdist(centres, targets)
        for cell in np.unique(cell_of):
            costs[cell] = cdist(self.points[cell_of == cell], targets).mean(axis=0)
        return Loss(costs, self.unit, true_point="euclidean")

    def with_reports(self, reports: Floats) -> Examples:
        """Return the labels with reports, array (k, dimensions), in place of the useful values."""
        return Examples(self.classes, reports, self.space)


def _column(visits: Visits, sensitive: str | None) -> NDArray[np.str_]:
    """Return a column as texts; None is the user."""
    if sensitive is None:
        if visits.user is None:
            raise InputError(
                "the visits have no user column.",
                f"name the column to hide with {argument('sensitive')}",
                f"state who is a person with {argument('people', 'file')} (or folder).",
            )
        labels = visits.user
    elif sensitive in visits.attributes:
        labels = visits.attributes[sensitive]
    else:
        known = ", ".join(visits.attributes) or "none"
        raise InputError(f"there is no column {sensitive!r}.", f"the other columns are: {known}.")
    return np.array([str(label) for label in labels])


def nearest(points: Floats, cells: Space) -> NDArray[np.intp]:
    """Return the position of the cell whose centre is nearest to each point, array (k,).

    Raises `InputError` if the cells have no coordinates, or of another dimension.
    """
    from scipy.spatial import cKDTree

    centres = cells.coordinates
    if centres is None or centres.shape[1] != points.shape[1]:
        raise InputError(
            f"{cells!r} has no coordinates of {points.shape[1]} dimensions.",
            "pass a space with coordinates in the plane of the values.",
        )
    return np.asarray(cKDTree(centres).query(points)[1], dtype=np.intp)
