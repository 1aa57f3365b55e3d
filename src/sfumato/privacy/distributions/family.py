"""Families of distributions that must look alike, and the distances between their distributions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...core import SUM_TOLERANCE, Metric, Prior, Space
from ...core.arrays import Bools, Floats, Positions, floats, readonly
from ...core.immutable import assign
from ...errors import InputError
from ...escaping import plain, shorten
from ...rounding import plural
from ...transport import Coupling, lifting, optimal_lifting, wasserstein
from ..relation import Relation

Distributions = Mapping[str, Prior | ArrayLike] | Sequence[Prior | ArrayLike] | Floats
"""Distributions on the same n secrets: by name, or in a sequence or array (k, n)."""

_ROUNDING = 1e-12
_ANY = "any two"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Family:
    """Named distributions on the secrets, and which ordered pairs of them must look alike.

    Raises `InputError` if there are fewer than two distributions, one is not a distribution, their lengths or the
    order of their secrets differ, two have the same name, or a name of a pair is unknown.

    Args:
        distributions: Priors or arrays (n,), by name or in a sequence.
        pairs: Ordered pairs of names that count; by default all.

    Attributes:
        names: The k names; numbers from 0, as text, for a sequence.
        distributions: Array (k, n).
        secrets: The space of the priors, whose order mechanisms must have; None for arrays.
        pairs: Array (c, 2) of positions, without pairs of a distribution with itself.
        lifted_from: The relation Phi on secrets whose lifting chose the pairs, or None.
        outside: Array (c,), the mass that the coupling of each pair leaves outside Phi: 0 up to the rounding of
            the distributions.

    Example:
        >>> Family({"north": [0.5, 0.5, 0.0], "south": [0.0, 0.5, 0.5]})
        Family of 2 distributions on 3 secrets, 2 ordered pairs (any two)

    Source:
        Kawamoto and Murakami, definitions 9 to 11.
    """

    names: tuple[str, ...]
    distributions: Floats
    secrets: Space | None
    pairs: Positions
    lifted_from: Relation | None
    outside: Floats
    _origin: str
    _optimal: tuple[Metric | Floats, float] | None

    def __init__(self, distributions: Distributions, pairs: Iterable[tuple[str, str]] | None = None) -> None:
        names, rows, secrets = _name_rows(distributions)
        if pairs is None:
            positions, how = _all_pairs(len(names)), _ANY
        else:
            positions = np.array(
                [(_position(names, first), _position(names, second)) for first, second in pairs], dtype=np.intp
            )
            how = "the given list"
            if not len(positions) or (positions[:, 0] == positions[:, 1]).any():
                raise InputError(
                    "the pairs are empty, or one compares a distribution with itself.",
                    "list ordered pairs of two names; both orders count separately.",
                )
        assign(self, names=names, distributions=rows, secrets=secrets, pairs=readonly(positions))
        assign(self, lifted_from=None, outside=readonly(np.zeros(len(positions))), _origin=how, _optimal=None)

    @classmethod
    def lift(cls, distributions: Distributions, relation: Relation, *, tolerance: float = _ROUNDING) -> Family:
        """Return the family whose pairs are in the lifting of a relation Phi on the secrets, with couplings.

        A secret always counts as related to itself. Mass outside Phi up to the tolerance counts as rounding; it
        stays visible in ``outside``, and guarantees add it to their delta. Raises `InputError` if no pair is in
        the lifting, or the relation is on other secrets.
        """
        names, rows, secrets = _name_rows(distributions)
        truths = _reflexive(relation, rows.shape[1])
        outside = {
            (int(i), int(j)): answer.outside
            for i, j in _all_pairs(len(names))
            if (answer := lifting(truths, rows[i], rows[j], tolerance=tolerance)).holds
        }
        return cls._of_lifting(names, rows, relation, outside, f"the lifting of {relation.name}", secrets=secrets)

    @classmethod
    def lift_optimally(
        cls,
        distributions: Distributions,
        relation: Relation,
        distances: Metric | ArrayLike,
        p: float = 1.0,
        *,
        tolerance: float = _ROUNDING,
    ) -> Family:
        """Return the family whose pairs have an optimal coupling within a relation.

        The distances are a metric on the secrets or an array (n, n), and p, from 1 to ``inf``, is the order of the
        Wasserstein distance. The relation and the tolerance are as in `lift`. Raises `InputError` if no pair is
        in the lifting, or an argument does not fit.

        Source:
            Kawamoto and Murakami, definition 10.
        """
        names, rows, secrets = _name_rows(distributions)
        truths = _reflexive(relation, rows.shape[1])
        array = (
            distances
            if isinstance(distances, Metric)
            else floats(distances, "the distances", shape=truths.shape, infinite=True)
        )
        outside = {}
        for i, j in _all_pairs(len(names)):
            answer = optimal_lifting(truths, rows[i], rows[j], array, p, tolerance=tolerance)
            if answer.holds:
                outside[int(i), int(j)] = answer.coupling.mass_outside(truths)
        how = f"the lifting of {relation.name} by optimal couplings of order {p:g}"
        return cls._of_lifting(names, rows, relation, outside, how, (array, p), secrets)

    @classmethod
    def of_points(cls, relation: Relation) -> Family:
        """Return the point masses of all secrets, with the pairs of the relation.

        Distribution privacy of it is differential privacy for the relation.
        """
        rows = readonly(np.eye(relation.size))
        outside = {(int(i), int(j)): 0.0 for i, j in relation.pairs}
        names = tuple(str(secret) for secret in range(relation.size))
        return cls._of_lifting(names, rows, relation, outside, f"the lifting of {relation.name}")

    @classmethod
    def _of_lifting(
        cls,
        names: tuple[str, ...],
        rows: Floats,
        relation: Relation,
        masses: Mapping[tuple[int, int], float],
        how: str,
        optimal: tuple[Metric | Floats, float] | None = None,
        secrets: Space | None = None,
    ) -> Family:
        if not masses:
            raise InputError(
                f"no pair of the {len(names)} distributions is in {how}.",
                "widen the relation, or list the pairs that must look alike.",
            )
        family = object.__new__(cls)
        pairs = readonly(np.array(list(masses), dtype=np.intp))
        assign(family, names=names, distributions=rows, secrets=secrets, pairs=pairs)
        outside = readonly(np.array(list(masses.values())))
        assign(family, lifted_from=relation, outside=outside, _origin=how, _optimal=optimal)
        return family

    def __len__(self) -> int:
        """The number of distributions."""
        return len(self.names)

    def __repr__(self) -> str:
        many, pairs = len(self), len(self.pairs)
        return f"Family of {many} distributions on {self.size} secrets, {pairs} ordered pairs ({self._origin})"

    def __str__(self) -> str:
        """The distributions that must look alike, in words."""
        if self.lifted_from is None and (len(self.names) == 2 or len(self.pairs) == 1):
            first, second = (shorten(plain(self.names[place])) for place in self.pairs[0])
            both = f"the distributions {first} and {second}"
            return both if self.symmetric else f"the ordered pair of distributions {first} and {second}"
        if self._origin == _ANY:
            return f"{_ANY} of {len(self)} distributions"
        pairs = plural(len(self.pairs), "pair" if self.symmetric else "ordered pair")
        return f"the {pairs} of {len(self)} distributions in {plain(self._origin)}"

    @property
    def symmetric(self) -> bool:
        """Whether each pair counts in both orders."""
        pairs = {(i, j) for i, j in self.pairs.tolist()}
        return all((j, i) in pairs for i, j in pairs)

    @property
    def size(self) -> int:
        """The number of secrets."""
        return int(self.distributions.shape[1])

    def position(self, name: str) -> int:
        """Return the position of a distribution by its name.

        Raises `InputError` if there is none of that name.
        """
        return _position(self.names, name)

    def require_relation(self) -> Relation:
        """Return the relation that it was lifted from; raise InputError if there is none."""
        if self.lifted_from is None:
            raise InputError(
                f"the {self!r} was not lifted from a relation.",
                "make it by Family.lift(distributions, relation), which checks each pair by its coupling.",
            )
        return self.lifted_from

    def coupling(self, pair: int) -> Coupling:
        """Return the coupling, within the relation, that puts a pair (by its position) in the lifting.

        Raises `InputError` if the family was not lifted from a relation.
        """
        first, second = self.distributions[self.pairs[pair]]
        truths = _reflexive(self.require_relation(), self.size)
        if self._optimal is None:
            return lifting(truths, first, second).coupling
        return optimal_lifting(truths, first, second, *self._optimal).coupling

    def missing_points(self, relation: Relation) -> tuple[int, int] | None:
        """Return a related pair of secrets whose point masses the family does not compare, or None."""
        points = (self.distributions == 1).any(axis=1) & (np.count_nonzero(self.distributions, axis=1) == 1)
        secrets = np.argmax(self.distributions, axis=1)
        compared = np.zeros((self.size, self.size), dtype=np.bool_)
        for i, j in self.pairs:
            if points[i] and points[j]:
                compared[secrets[i], secrets[j]] = True
        left = np.argwhere(relation.array & ~compared)
        return (int(left[0][0]), int(left[0][1])) if len(left) else None


def _name_rows(distributions: Distributions) -> tuple[tuple[str, ...], Floats, Space | None]:
    if isinstance(distributions, Mapping):
        names, values = tuple(str(name) for name in distributions), list(distributions.values())
    else:
        values = list(distributions)
        names = tuple(str(k) for k in range(len(values)))
    if len(values) < 2:
        raise InputError(f"a family of {len(values)} distributions was given.", "pass at least two.")
    if len(set(names)) < len(names):
        raise InputError("two distributions have the same name as text.", "give each a name of its own.")
    spaces = [value.space for value in values if isinstance(value, Prior)]
    for space in spaces[1:]:
        spaces[0].check_order(space, "a prior")
    rows = [
        value.probabilities if isinstance(value, Prior) else floats(value, f"distribution {name}", shape=(None,))
        for name, value in zip(names, values, strict=True)
    ]
    sizes = {len(row) for row in rows}
    if len(sizes) > 1 or 0 in sizes:
        raise InputError(f"the distributions are on {sorted(sizes)} secrets.", "give all on the same secrets.")
    for name, row in zip(names, rows, strict=True):
        if (row < 0).any() or abs(float(row.sum()) - 1) > SUM_TOLERANCE:
            raise InputError(
                f"distribution {name} has smallest entry {row.min():g} and sum {row.sum():.12g}.",
                "pass probabilities that sum to 1; nothing is renormalised.",
            )
    return names, readonly(np.stack(rows)), spaces[0] if spaces else None


def _all_pairs(size: int) -> Positions:
    return np.argwhere(~np.eye(size, dtype=np.bool_))


def _position(names: tuple[str, ...], name: str) -> int:
    if name not in names:
        raise InputError(f"the family has no distribution {name!r}.", f"it has {', '.join(names[:8])}.")
    return names.index(name)


def _reflexive(relation: Relation, size: int) -> Bools:
    if relation.size != size:
        raise InputError(
            f"the relation is on {relation.size} secrets, but the distributions on {size}.",
            "use a relation on the secrets of the distributions.",
        )
    truths: Bools = relation.array | np.eye(size, dtype=np.bool_)
    return truths


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FamilyDistance:
    """Distances between the distributions of a family.

    Raises `InputError` if the array is not square, or a distance is negative.

    Args:
        array: Array (k, k) of distances; ``inf`` marks pairs that need no protection from each other.
        unit: The unit, such as ``"km"``.
        name: The name of the distance in texts.

    Attributes:
        array: An upper bound of each distance, attained up to rounding.
        lower: Array (k, k), a lower bound; the same up to rounding.
        ignored: Array (k, k), the mass that a Wasserstein distance left out as rounding.
        ground: The metric on the secrets of a Wasserstein distance, or None.
        order: Its order p, or None.

    Source:
        Kawamoto and Murakami, definitions 8 and 12.
    """

    array: Floats
    lower: Floats
    ignored: Floats
    unit: str
    name: str
    ground: Metric | None
    order: float | None

    def __init__(self, array: ArrayLike, unit: str = "", *, name: str = "given distance") -> None:
        distances = floats(array, "the distances of the family", shape=(None, None), infinite=True)
        if distances.shape[0] != distances.shape[1] or (distances < 0).any():
            raise InputError(
                f"the distances have shape {distances.shape[0]} x {distances.shape[1]}, the smallest "
                f"{distances.min():g}.",
                "pass a row and a column per distribution, and distances of at least 0.",
            )
        assign(self, array=distances, lower=distances, ignored=np.zeros_like(distances))
        assign(self, unit=unit, name=name, ground=None, order=None)

    @classmethod
    def wasserstein(
        cls, family: Family, ground: Metric, p: float = float("inf"), *, tolerance: float = 1e-12
    ) -> FamilyDistance:
        """Return the Wasserstein distances of the family's pairs; pairs that do not count are at distance ``inf``.

        The order p is 1 for the earth mover's distance and ``inf`` for the largest step. Mass up to the tolerance
        may be left out as rounding of the distributions, shown in ``ignored``; 0 measures exactly the given
        floats.
        """
        size = len(family)
        values, lower, ignored = (np.full((size, size), start) for start in (np.inf, np.inf, 0.0))
        for array in (values, lower):
            np.fill_diagonal(array, 0.0)
        # Where the ground metric is symmetric, so are the distances.
        pairs = np.unique(np.sort(family.pairs, axis=1), axis=0) if ground.symmetric else family.pairs
        for i, j in pairs:
            answer = wasserstein(family.distributions[i], family.distributions[j], ground, p, tolerance=tolerance)
            both = ([i, j], [j, i]) if ground.symmetric else (i, j)
            lower[both], values[both], ignored[both] = answer.distance.lower, answer.distance.upper, answer.ignored
        distance = object.__new__(cls)
        name = f"Wasserstein distance of order {p:g} over {ground.name}"
        assign(distance, array=readonly(values), lower=readonly(lower), ignored=readonly(ignored))
        assign(distance, unit=ground.unit, name=name, ground=ground, order=p)
        return distance

    def __len__(self) -> int:
        """The number of distributions."""
        return len(self.array)

    def __repr__(self) -> str:
        return f"FamilyDistance between {len(self)} distributions ({plain(self.name)})"


def distance_on(family: Family, distance: FamilyDistance | Metric | ArrayLike) -> FamilyDistance:
    """Return the distance for a family, from an array or a metric on its names where necessary."""
    if isinstance(distance, Metric):
        distances = FamilyDistance(distance.array, distance.unit, name=distance.name)
    else:
        distances = distance if isinstance(distance, FamilyDistance) else FamilyDistance(distance)
    if len(distances) != len(family):
        raise InputError(
            f"the distance is between {len(distances)} distributions, but the family has {len(family)}.",
            "pass a row and a column per distribution; for a metric on secrets use FamilyDistance.wasserstein.",
        )
    return distances
