"""The tupling mechanism, which hides one report among dummies in random order."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core import Capability, Integers, Mechanism, Prior, Randomizer, Recipe, Row, Space, StatedGuarantee, Words
from ...core.arrays import Floats, floats, integer
from ...core.immutable import Immutable, assign
from ...errors import InputError
from ...sampling.coins import draw_below
from ..family import check_listable

FARTHEST: Final = 700.0
"""The largest epsilon that is searched; one above counts as infinite."""

_DUMMY = Space(("dummy",))
_MOST_LISTED: Final = 170  # reports in a tuple: the factorial is a float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tupling(Immutable, Randomizer):
    """Reports the inner mechanism's observable among k independent dummies, in uniformly random order.

    Q(y_1, ..., y_{k+1} | lam) = prod_j nu(y_j) * 1/(k+1) * sum_i A(y_i | lam) / nu(y_i)

    for the inner mechanism A and the distribution nu of dummies: a `Prior` on its observables or an array
    (observables,). Only the multiset of the reports carries information. The least pure epsilon is that of the
    inner mechanism, for every k. With a delta above 0 dummies lower epsilon; `PairAccountant` and
    `FamilyAccountant` compute by how much. ``source`` is nu in integers: a mechanism of one secret, from which
    dummies are sampled. Raises `InputError` if k is not an integer of at least 0, nu is not on the observables, or
    nu is 0 at an observable that some secret may report, which would reveal the secret.

    Example:
        >>> from sfumato.core import Mechanism
        >>> coin = Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> Tupling(coin, 10, [0.5, 0.5])
        Tupling with 10 dummies over a Mechanism of 2 secrets and 2 observables in 62-bit integers

    Source:
        Kawamoto and Murakami, "Local obfuscation mechanisms for hiding probability distributions", ESORICS 2019,
        algorithm 1. Proofs: docs/proofs/tupling.md.
    """

    inner: Mechanism
    dummies: int
    source: Mechanism

    def __init__(self, inner: Mechanism, dummies: int, distribution: Prior | ArrayLike) -> None:
        check_dummies(dummies)
        if isinstance(distribution, Prior):
            if distribution.space != inner.observables:
                raise InputError(
                    f"the dummies are drawn from {distribution.space!r}, but reports are {inner.observables!r}.",
                    "use a distribution on the inner mechanism's observables.",
                )
            nu = distribution.probabilities
        else:
            nu = floats(distribution, "the dummy distribution", shape=(inner.shape[1],))
        self._set(inner, dummies, Mechanism(nu[None, :], _DUMMY, inner.observables))

    @classmethod
    def of_source(cls, inner: Mechanism, dummies: int, source: Mechanism) -> Tupling:
        """Return the mechanism whose dummies have the integers of a mechanism of one secret, as files store them.

        Raises `InputError` as for the constructor, or if the source has other observables or several secrets.
        """
        check_dummies(dummies)
        if source.shape[0] != 1 or source.observables != inner.observables:
            raise InputError(
                f"dummies are drawn from a {source!r}, but reports are {inner.observables!r}.",
                "use a mechanism of one secret with the inner mechanism's observables.",
            )
        tupling = object.__new__(cls)
        tupling._set(inner, dummies, source)
        return tupling

    def _set(self, inner: Mechanism, dummies: int, source: Mechanism) -> None:
        bare = (inner.weights != 0).any(axis=0) & (source.weights[0] == 0)
        if bare.any():
            label = inner.observables.labels[int(np.argmax(bare))]
            raise InputError(
                f"{int(bare.sum())} observables are reported but never drawn as dummies, such as {label!r}.",
                "mix in a little of the uniform distribution: see mixture_dummies.",
            )
        assign(self, inner=inner, dummies=int(dummies), source=source)

    @property
    def distribution(self) -> Floats:
        """The probabilities nu of a dummy, array (observables,)."""
        return np.asarray(self.source.matrix[0])

    @property
    def queries(self) -> int:
        """The number of reports that a user sends: k + 1."""
        return self.dummies + 1

    @property
    def secrets(self) -> Space:
        """The secrets of the inner mechanism."""
        return self.inner.secrets

    @property
    def observables(self) -> Space:
        """The observables of the inner mechanism, of which a tuple holds k + 1."""
        return self.inner.observables

    @property
    def stated_guarantees(self) -> tuple[StatedGuarantee, ...]:
        """Those of the inner mechanism: a tuple is made from its report alone."""
        return self.inner.guarantees

    def supports(self, capability: Capability) -> bool:
        """Return whether the capability is tuples, or a matrix, which can be listed if the tuples are few."""
        return capability in (Capability.TUPLES, Capability.MATRIX)

    def channel(self) -> Mechanism:
        """Return the matrix from secrets to multisets of reports, as the order of a tuple reveals nothing.

        Q(multiset t | s) = (k + 1)! / prod_y t_y! * prod_y nu(y)^t_y * 1/(k+1) sum_y t_y A(y | s) / nu(y)

        Probabilities are computed in floats and rounded to integers, so they are near those of `recipe`, and
        nothing is guaranteed of them. The observables are tuples of labels in the order of the inner mechanism's.
        Raises `InputError` if there are more than 170 reports in a tuple, or the matrix is too large to list.
        """
        nu, n = self.distribution, self.inner.shape[0]
        used = np.flatnonzero(nu)
        if self.queries > _MOST_LISTED:
            raise InputError(
                f"tuples of {self.queries:,} reports are too many to list.", f"use at most {_MOST_LISTED} reports."
            )
        check_listable(n, math.comb(len(used) + self.dummies, self.queries), f"a {self!r}")
        sets = list(combinations_with_replacement(used.tolist(), self.queries))
        counts = np.zeros((len(sets), len(used)))
        np.add.at(counts, (np.arange(len(sets))[:, None], np.searchsorted(used, np.array(sets))), 1.0)
        factorials = np.array([float(math.factorial(count)) for count in range(self.queries + 1)])
        orders = factorials[-1] / factorials[counts.astype(np.intp)].prod(axis=1)
        of_dummies = orders * np.prod(nu[used] ** counts, axis=1)
        rows = (self.inner.matrix[:, used] / nu[used]) @ counts.T / self.queries * of_dummies
        labels = self.observables.labels
        listed = Space([tuple(labels[position] for position in multiset) for multiset in sets])
        return Mechanism(rows / rows.sum(axis=1, keepdims=True), self.secrets, listed)

    def recipe(self) -> AmongDummies:
        """Return the recipe that draws a tuple exactly."""
        return AmongDummies(Row(self.inner), Row(self.source), self.queries)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self).of_source, (self.inner, self.dummies, self.source)

    def __repr__(self) -> str:
        return f"Tupling with {self.dummies:,} dummies over a {self.inner!r}"

    def log_likelihood(self, tuples: ArrayLike, distribution: ArrayLike) -> Floats:
        """Return ln Q(tuple) for secrets of a given distribution; the order of a tuple does not matter.

        Tuples are positions of observables, array (..., k + 1), and the distribution lam is an array (secrets,).
        The result has the leading shape of the tuples; ``-inf`` where one is impossible. Raises `InputError` if
        the tuples have another length, or hold no positions of observables.
        """
        array = np.asarray(tuples)
        m = self.inner.shape[1]
        if array.ndim == 0 or array.shape[-1] != self.queries or array.dtype.kind not in "iu":
            raise InputError(
                f"tuples of shape {array.shape} and type {array.dtype} were given.",
                f"pass positions of observables, {self.queries} in each tuple.",
            )
        if array.size and (int(array.min()) < 0 or int(array.max()) >= m):
            raise InputError("a tuple holds a number that is not an observable's position.", f"use 0 to {m - 1}.")
        nu = self.distribution
        image = self.inner.lift(distribution)
        weight = np.divide(image, nu, out=np.zeros(m), where=nu > 0)
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(nu)[array].sum(axis=-1) + np.log(weight[array].mean(axis=-1))
        return logs


@dataclass(frozen=True, slots=True)
class AmongDummies(Recipe):
    """Draw a dummy for every place, then put the true report at a uniformly random one, exactly.

    Dummies are independent and identically distributed, so all orders of a tuple are equally likely. The work is
    the same for all secrets.

    Source:
        Kawamoto and Murakami, ESORICS 2019, algorithm 1; docs/proofs/tupling.md.
    """

    report: Row
    dummy: Row
    places: int

    @property
    def secrets(self) -> int:
        """The number of secrets of the inner mechanism."""
        return self.report.secrets

    @property
    def row(self) -> Row:
        """The row of the true report."""
        return self.report

    @property
    def shape(self) -> tuple[int, ...]:
        """One position of an observable for each of the k + 1 places."""
        return (self.places,)

    def draw(self, rows: Integers, words: Words) -> NDArray[np.intp]:
        """Return one tuple for each row, array (count, k + 1)."""
        reports, count = self.report.draw(rows, words), len(rows)
        # A dummy is drawn for every place, so that the true report's place is chosen by one index alone.
        dummies = self.dummy.draw(np.zeros(count * self.places, dtype=np.intp), words)
        tuples = dummies.reshape(count, self.places)
        tuples[np.arange(count), draw_below(self.places, count, words)] = reports
        return tuples


def check_dummies(dummies: object) -> None:
    """Refuse a number of dummies that is not an integer from 0 to 2**31 (`InputError`)."""
    number = integer(dummies)
    if number is None or not 0 <= number <= 1 << 31:
        raise InputError(f"the number of dummies is {dummies!r}.", "use an integer from 0, such as 10.")


def check_epsilon(epsilon: float) -> None:
    """Refuse an epsilon that is not from 0 to 700 (`InputError`)."""
    if not 0 <= epsilon <= FARTHEST:
        raise InputError(f"epsilon is {epsilon}.", f"use a number from 0 to {FARTHEST:g}.")


def check_delta(delta: float) -> None:
    """Refuse a delta that is not from 0 to 1 (`InputError`)."""
    if not 0 <= delta <= 1:
        raise InputError(f"delta {delta} is not between 0 and 1.", "pass a probability, such as 1e-3.")
