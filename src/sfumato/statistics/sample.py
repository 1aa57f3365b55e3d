"""Counts of outputs for each secret, random splits of them, and bins for continuous outputs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core import Space
from ..core.arguments import random_generator
from ..core.arrays import Floats, Positions, floats, numbers, readonly
from ..core.immutable import CompactRepr, NotebookRepr, assign
from ..errors import InputError, row_value
from ..rounding import plural
from .binomial import Counts


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sample(NotebookRepr):
    """Counts of each output for each secret, array (secrets, outputs).

    The samples of one secret are assumed to be independent draws of its row of the channel; every probability of
    failure that is derived from a sample rests on that. Secrets and outputs are numbered from 0 if left out. Name
    the outputs only if the list was fixed before looking at the samples (``outputs_fixed``): every single one is
    then an event of its own. ``secrets_named`` is whether the order of the secrets was given, as a metric needs
    it. Raises `InputError` if fewer than two secrets were sampled, or a count is negative, fractional or NaN.

    Example:
        >>> from sfumato.statistics import Sample
        >>> Sample.of(["a", "b", "a", "b"], ["x", "x", "y", "x"])
        Sample of 4 outputs of 2 secrets, 2 of them distinct
    """

    counts: Counts
    secrets: Space
    outputs: Space
    secrets_named: bool
    outputs_fixed: bool

    def __init__(self, counts: ArrayLike, secrets: Space | None = None, outputs: Space | None = None) -> None:
        array = _whole(counts)
        rows = secrets if secrets is not None else Space(range(len(array)))
        columns = outputs if outputs is not None else Space(range(array.shape[1]))
        if array.shape != (len(rows), len(columns)):
            raise InputError(
                f"the counts are {array.shape[0]} x {array.shape[1]}, "
                f"but there are {len(rows)} secrets and {len(columns)} outputs.",
                "pass one row per secret and one column per output.",
            )
        self._set(array, rows, columns, has_names=True, is_fixed=outputs is not None)

    def _set(self, counts: Counts, secrets: Space, outputs: Space, *, has_names: bool, is_fixed: bool) -> None:
        sampled = int(np.count_nonzero(counts.sum(axis=1)))
        if sampled < 2:
            subject = "no secret was" if sampled == 0 else "only one secret was"
            raise InputError(f"{subject} sampled: nothing can be compared.", "collect outputs of two secrets.")
        assign(self, counts=readonly(counts), secrets=secrets, outputs=outputs)
        assign(self, secrets_named=has_names, outputs_fixed=is_fixed)

    @classmethod
    def of(
        cls,
        secrets: Iterable[Hashable],
        outputs: Iterable[Hashable],
        *,
        space: Space | None = None,
        observables: Space | None = None,
    ) -> Sample:
        """Return the sample of pairs: the i-th output, any hashable label, was seen for the i-th secret.

        ``space`` has all secrets, in the order of the metric, by default those that occur, and ``observables`` all
        outputs, if they are known beforehand. Raises `InputError` if the two differ in length, a label is NaN, or
        is not in its space.
        """
        rows, columns = _labels(secrets, "secret"), _labels(outputs, "output")
        if len(rows) != len(columns):
            raise InputError(f"{len(rows)} secrets have {len(columns)} outputs.", "pass one output per secret.")
        if not rows:
            raise InputError("there is no sample.", "pass at least one output of at least two secrets.")
        return cls._from_labels(rows, columns, space, observables)

    @classmethod
    def of_values(
        cls,
        secrets: Iterable[Hashable],
        values: Any,
        bins: Bins | int = 32,
        *,
        space: Space | None = None,
        share: float = 0.2,
        seed: int | None = None,
    ) -> Sample:
        """Return the sample of continuous outputs, array (n,) of numbers or (n, k) of points, counted in bins.

        The bins are fixed beforehand. A number of bins is chosen as quantiles of a random part of the samples,
        ``share``, which is then left out of the counts. ``space`` has all secrets, in the order of the metric.
        Raises `InputError` if a value is NaN or infinite, or the lengths differ.
        """
        rows, points = _labels(secrets, "secret"), as_points(values)
        if len(rows) != len(points):
            raise InputError(f"there are {len(rows)} secrets, but {len(points)} outputs.", "pass one per secret.")
        counted_rows: Iterable[int] = range(len(rows))
        if isinstance(bins, int):
            if not 0 < share < 1:
                raise InputError(f"a share of {share} cannot choose bins.", "use a share between 0 and 1.")
            order = random_generator(seed).permutation(len(rows))
            count = round(share * len(rows))
            if not count:
                raise InputError(f"{plural(len(rows), 'sample')} cannot choose bins.", "collect more samples.")
            bins = quantile_bins(points[order[:count]], bins)
            counted_rows = order[count:].tolist()
        labels = bins.labels
        places = bins.place_any(points)
        pairs = [(rows[i], labels[places[i]]) for i in counted_rows]
        return cls._from_labels([s for s, _ in pairs], [o for _, o in pairs], space, Space(labels))

    @classmethod
    def from_columns(
        cls,
        table: Mapping[str, Any] | Any,
        secret: str,
        output: str,
        *,
        space: Space | None = None,
        observables: Space | None = None,
    ) -> Sample:
        """Return the sample in two columns of a dictionary, a data frame or an Arrow table; see `of`."""
        columns = []
        for name in (secret, output):
            try:
                column = table[name]
            except (KeyError, IndexError):
                raise InputError(f"the table has no column {name!r}.", "name its columns.") from None
            columns.append(column.to_pylist() if hasattr(column, "to_pylist") else list(column))
        return cls.of(*columns, space=space, observables=observables)

    @classmethod
    def _from_labels(
        cls, rows: list[Hashable], columns: list[Hashable], space: Space | None, observables: Space | None
    ) -> Sample:
        row_space = space if space is not None else Space(dict.fromkeys(rows))
        column_space = observables if observables is not None else Space(dict.fromkeys(columns))
        counts = np.zeros((len(row_space), len(column_space)), dtype=np.int64)
        np.add.at(counts, (row_space.positions(rows), column_space.positions(columns)), 1)
        sample = object.__new__(cls)
        sample._set(counts, row_space, column_space, has_names=space is not None, is_fixed=observables is not None)
        return sample

    def __len__(self) -> int:
        return int(self.counts.sum())

    def __repr__(self) -> str:
        distinct = int(np.count_nonzero(self.counts.sum(axis=0)))
        return f"Sample of {len(self)} outputs of {len(self.secrets)} secrets, {distinct} of them distinct"


def _whole(counts: ArrayLike) -> Counts:
    array = numbers(counts, "the counts")
    if array.ndim != 2 or array.size == 0:
        raise InputError(
            f"the counts have shape {array.shape}, but a row per secret and a column per output are needed.",
            "for pairs of secrets and outputs, use Sample.of.",
        )
    if not (np.isfinite(array).all() and (array >= 0).all() and (array == np.rint(array)).all()):
        raise InputError("a count is NaN, negative or not a whole number.", "pass how often each output was seen.")
    return array.astype(np.int64)


def as_label(output: Any) -> Hashable:
    """Return an output as a hashable label: numpy's numbers become Python's, arrays and lists tuples."""
    plain = output.tolist() if isinstance(output, (np.ndarray, np.generic)) else output
    label = tuple(plain) if isinstance(plain, list) else plain
    parts = label if isinstance(label, tuple) else (label,)
    if label is None or any(isinstance(part, float) and math.isnan(part) for part in parts):
        raise InputError(f"{label} is not a value.", "leave out samples without a value.")
    try:
        hash(label)
    except TypeError:
        raise InputError(
            f"the label{row_value(f' {label!r}', '')} cannot be hashed.",
            "use strings, numbers, tuples or frozensets.",
        ) from None
    return label


def _labels(labelled: Iterable[Hashable], noun: str) -> list[Hashable]:
    labels = []
    for position, label in enumerate(labelled):
        try:
            labels.append(as_label(label))
        except InputError as error:
            raise InputError(f"the {noun} of sample {position}: {error.text}", *error.hints) from None
    return labels


def split(counts: Counts, share: float, rng: np.random.Generator) -> tuple[Counts, Counts]:
    """Return the counts (rows, outputs) of a random share of each row's samples, and of the independent rest."""
    if not 0 < share < 1:
        raise InputError(f"a share of {share} leaves one part empty.", "use a share between 0 and 1, such as 0.5.")
    sizes = np.rint(share * counts.sum(axis=1)).astype(np.int64)
    rows = zip(counts, sizes, strict=True)
    parts = [rng.multivariate_hypergeometric(row, size, method="marginals") for row, size in rows]
    first = np.array(parts, dtype=np.int64)
    return first, counts - first


class Bins(ABC):
    """A partition of the line or of the plane (or more) into finitely many bins.

    Merging outputs is post-processing: a lower bound for the merged reports holds for the reports themselves, as
    long as the bins do not depend on the counted samples.
    """

    __slots__ = ()

    dimensions: int
    """The number of coordinates of an output."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Names of the bins."""

    @abstractmethod
    def place(self, values: Floats) -> Positions:
        """Return the bin of each output, array (n,), for outputs of shape (n, dimensions)."""

    def place_any(self, values: Any) -> Positions:
        """Return the bin of each output, after checking the outputs."""
        points = as_points(values)
        if points.shape[1] != self.dimensions:
            raise InputError(
                f"the outputs have {points.shape[1]} numbers each, but the bins are for {self.dimensions}.",
                "use bins of the outputs' dimension.",
            )
        return self.place(points)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class IntervalBins(Bins, CompactRepr):
    """The intervals between increasing edges of the line, each with its left edge, and two without an end."""

    edges: Floats
    dimensions: int

    def __init__(self, edges: ArrayLike) -> None:
        assign(self, edges=_edges(edges, "the edges"), dimensions=1)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the bins."""
        return _intervals(self.edges)

    def place(self, values: Floats) -> Positions:
        """Return the bin of each output, array (n,)."""
        return np.searchsorted(self.edges, values[:, 0], side="right")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RectangleBins(Bins, CompactRepr):
    """The rectangles of a grid of the plane, by increasing edges; those at its border have no end."""

    x_edges: Floats
    y_edges: Floats
    dimensions: int

    def __init__(self, x_edges: ArrayLike, y_edges: ArrayLike) -> None:
        x, y = _edges(x_edges, "the x edges"), _edges(y_edges, "the y edges")
        assign(self, x_edges=x, y_edges=y, dimensions=2)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the bins."""
        return tuple(f"{x} x {y}" for x in _intervals(self.x_edges) for y in _intervals(self.y_edges))

    def place(self, values: Floats) -> Positions:
        """Return the bin of each output, array (n,)."""
        column = np.searchsorted(self.x_edges, values[:, 0], side="right")
        row = np.searchsorted(self.y_edges, values[:, 1], side="right")
        return np.asarray(column * (len(self.y_edges) + 1) + row)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Halvings(Bins, CompactRepr):
    """Bins that halve points (n, dimensions) again and again, along x, y, x, y, ... (a k-d tree).

    The points are samples that are not counted later; ``depth`` halvings give 2**depth bins.
    """

    cuts: tuple[Floats, ...]
    dimensions: int

    def __init__(self, values: Any, depth: int) -> None:
        points = as_points(values)
        if depth < 1 or len(points) < 2**depth:
            raise InputError(f"{len(points)} outputs cannot be halved {depth} times.", "use more or fewer bins.")
        parts, cuts = [points], []
        for level in range(depth):
            axis = level % points.shape[1]
            cut = np.array([np.median(part[:, axis]) for part in parts])
            low = [part[:, axis] < c for part, c in zip(parts, cut, strict=True)]
            parts = [half for part, side in zip(parts, low, strict=True) for half in (part[side], part[~side])]
            if min(map(len, parts)) == 0:
                raise InputError(
                    "many outputs are equal, so no cut halves them.",
                    "outputs with repeated values need no bins: count them as labels.",
                )
            cuts.append(cut)
        assign(self, cuts=tuple(cuts), dimensions=points.shape[1])

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the bins."""
        depth = len(self.cuts)
        return tuple(f"part {part:0{depth}b}" for part in range(2**depth))

    def place(self, values: Floats) -> Positions:
        """Return the bin of each output, array (n,)."""
        part = np.zeros(len(values), dtype=np.intp)
        for level, cut in enumerate(self.cuts):
            part = 2 * part + (values[:, level % self.dimensions] >= cut[part])
        return part


@dataclass(frozen=True, slots=True)
class FineBits(Bins):
    """Bins by whether each number has bits below ``step``, for numbers nearer to zero than ``limit``.

    Noise added in doubles is a multiple of the last bit of the secret's size. A report near zero that has finer
    bits than a large secret can leave in it excludes that secret, for every claimed epsilon. The step is a power
    of two, such as 2**-45; numbers beyond the limit have a bin of their own.

    Source:
        Mironov, "On significance of the least significant bits for differential privacy", CCS 2012.
    """

    step: float
    limit: float
    dimensions: int = 1

    def __post_init__(self) -> None:
        if not (self.step > 0 and np.frexp(self.step)[0] == 0.5 and self.limit > 0 and self.dimensions >= 1):
            raise InputError(
                f"fine bits below {self.step} within {self.limit} in {self.dimensions} numbers cannot be counted.",
                "use a power of two (2**-45), a positive limit and at least one number.",
            )

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the bins."""
        names = [""]
        for _ in range(self.dimensions):
            names = [f"{head} {tail}".strip() for head in names for tail in ("far", "coarse", "fine")]
        return tuple(names)

    def place(self, values: Floats) -> Positions:
        """Return the bin of each output, array (n,)."""
        # Division by a power of two is exact, and so is the remainder.
        kinds = np.where(np.abs(values) >= self.limit, 0, np.where(values / self.step % 1 == 0, 1, 2))
        powers = 3 ** np.arange(self.dimensions - 1, -1, -1)
        return np.asarray(kinds @ powers, dtype=np.intp)


def quantile_bins(values: Any, count: int) -> Bins:
    """Return about ``count`` bins that hold equally many of the given outputs, which are not counted later.

    The number is rounded down to a power of two unless outputs are single numbers.
    """
    points = as_points(values)
    if count < 2:
        raise InputError(f"{count} bins distinguish nothing.", "use at least two.")
    if points.shape[1] > 1:
        return Halvings(points, int(np.log2(count)))
    return IntervalBins(np.unique(np.quantile(points[:, 0], np.arange(1, count) / count)))


def as_points(values: Any) -> Floats:
    """Return outputs as an array (n, dimensions) of finite numbers."""
    array = numbers(values, "the outputs")
    return floats(array[:, None] if array.ndim == 1 else array, "the outputs", shape=(None, None))


def is_point(output: object) -> bool:
    """Return whether an output is a float or a tuple of floats, so that it can be put in bins."""
    parts = output if isinstance(output, tuple) else (output,)
    return all(isinstance(part, float) for part in parts)


def _edges(values: ArrayLike, noun: str) -> Floats:
    edges = floats(values, noun, shape=(None,))
    if len(edges) == 0 or (np.diff(edges) <= 0).any():
        raise InputError(f"{noun} do not increase, or there is none.", "pass at least one, in increasing order.")
    return edges


def _intervals(edges: Floats) -> tuple[str, ...]:
    texts = [repr(float(edge)) for edge in edges]
    middle = [f"[{a}, {b})" for a, b in pairwise(texts)]
    return (f"below {texts[0]}", *middle, f"from {texts[-1]}")
