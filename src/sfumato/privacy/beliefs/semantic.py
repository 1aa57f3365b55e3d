"""Semantic privacy: limits on how much the use of a person's record changes beliefs."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from ...core import Space
from ...core.arrays import Bools, Floats, Positions, any_array, readonly
from ...core.immutable import CompactRepr
from ...errors import InputError
from ...rounding import at_most, log_error
from ..notion import Description, Finding, Notion, Witness
from ..rows import AnyMechanism, channel, check_size

MOST_OUTPUTS = 20
"""The largest number of used observables for which all sets of reports are tried."""


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SemanticPrivacy(Notion, CompactRepr):
    """Semantic privacy: beliefs after the true report are near those after a report without the person's record.

    |P[X | M(s) in S] - P[X | M(N(s)) in S]| <= epsilon

    for all priors, all sets X of secrets, all sets S of reports that are possible in both cases, and each map N
    that takes one record out of a secret or replaces it. With r(s) = p(S|s) / p(S|N(s)) and R the ratio of the
    largest to the least r,

    epsilon = max over N and S of tanh(ln(R) / 4).

    In the local model one record is the secret itself, and N sends every secret to one default. A report of the
    default says nothing, so the second belief is the prior. By default every secret in turn is the default: the
    worst one makes epsilon the tanh of a quarter of the epsilon of differential privacy of all pairs. One default
    (`replacing`) is measured exactly too, at any number of observables. For other maps all sets of up to 20 used
    observables are tried; for more, use `bound`, or the weaker notion of single reports. Raises `InputError` if
    the maps are not positions of secrets.

    Attributes:
        maps: Array (k, n) of positions: maps[i, s] is N_i(s), or -1 if no prior may hold s possible. None stands
            for the n maps to one default each.
        sets: Whether S ranges over sets of reports; else over single ones.

    Example:
        >>> SemanticPrivacy().measure([[0.75, 0.25], [0.25, 0.75]])
        Semantic privacy: epsilon 0.267949
        >>> leaks = [[1.0, 0.0], [0.5, 0.5]]
        >>> SemanticPrivacy().measure(leaks), SemanticPrivacy.replacing(2, default=0).measure(leaks)
        (Semantic privacy: epsilon 1, Semantic privacy: epsilon 0.171573)
    """

    description = Description(
        "semantic",
        "semantic privacy",
        question="How much can the use of a person's record change anyone's beliefs?",
        promise="after a report, beliefs differ by at most {epsilon} from those after a report without the record",
        source="Ganta, Kasiviswanathan and Smith, KDD 2008; Desfontaines, definition 40",
        context=("maps", "possible"),
    )

    maps: Positions | None = None
    sets: bool = True

    def __post_init__(self) -> None:
        if self.maps is None:
            return
        maps = np.array(any_array(self.maps, "maps="))
        if maps.ndim != 2 or maps.dtype.kind not in "iu" or (maps < -1).any() or (maps >= maps.shape[1]).any():
            raise InputError(
                f"the maps were given as an array of {maps.dtype} of shape {maps.shape}.",
                "pass positions of secrets, array (maps, secrets), with -1 for secrets to leave out.",
            )
        object.__setattr__(self, "maps", readonly(maps.astype(np.intp)))

    @classmethod
    def replacing(cls, size: int, default: int, *, sets: bool = True) -> SemanticPrivacy:
        """Return the notion of the map that replaces each of ``size`` secrets by a default."""
        return cls(np.full((1, size), default), sets)

    @classmethod
    def of_maps(
        cls, space: Space, maps: Iterable[Mapping[Hashable, Hashable]], *, sets: bool = True
    ) -> SemanticPrivacy:
        """Return the notion of maps from labels to labels; secrets without an entry are left out."""
        rows = []
        for mapping in maps:
            row = np.full(len(space), -1, dtype=np.intp)
            for label, image in mapping.items():
                row[space.position(label)] = space.position(image)
            rows.append(row)
        return cls(np.array(rows, dtype=np.intp).reshape(len(rows), len(space)), sets)

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        matrix, used = self._rows_and_outputs(mechanism)
        if self.maps is None:
            best = _any_default(matrix, used)
        else:
            candidates = (self._of_map(matrix, used, mapping) for mapping in self.maps)
            best = max([_Best(0.0, None, used[:0]), *candidates], key=lambda candidate: candidate.log_spread)
        value = math.tanh(best.log_spread / 4)
        rounding = (2 * log_error(best.log_spread, len(used)) + log_error(0.0, len(used))) / 4
        if best.mapping is None:
            return Finding(self, value, rounding, Witness())
        return Finding(self, value, rounding, _map_witness(matrix, best.mapping, best.outputs))

    def _of_map(self, matrix: Floats, used: Positions, mapping: Positions) -> _Best:
        """Return the largest ln R over the sets of reports, or single ones, for one map."""
        secrets = np.flatnonzero(mapping >= 0)
        defaults = np.unique(mapping[secrets])
        if not self.sets:
            value, row = _largest_spread(matrix[:, used].T, mapping)
            return _Best(value, mapping, used[[row]])
        if len(defaults) == 1:
            spread, columns = worst_set(matrix[np.ix_(secrets, used)], matrix[defaults[0], used] > 0)
            return _Best(spread, mapping, used[columns])
        if len(used) > MOST_OUTPUTS:
            raise InputError(
                f"{len(used)} observables are used: 2^{len(used)} sets of them are too many to try.",
                f"merge them into at most {MOST_OUTPUTS}, call bound(), or use sets=False for single reports.",
            )
        best, subset = 0.0, 0
        for start, sums in subset_sums(matrix[:, used]):
            value, row = _largest_spread(sums, mapping)
            if value > best:
                best, subset = value, start + row
        return _Best(best, mapping, used[members(subset)])

    def bound(self, mechanism: AnyMechanism) -> float:
        """Return an upper bound of the least epsilon over sets, for any number of observables.

        It is tanh((D + D') / 4), where D and D' bound |ln p(o|s) / p(o|N(s))| upwards and downwards over all s and
        o: at most tanh(epsilon / 2) for differential privacy.
        """
        matrix, used = self._rows_and_outputs(mechanism)
        if self.maps is None:
            return min(1.0, self.measure(mechanism).upper)
        largest = 0.0
        for mapping in self.maps:
            secrets = np.flatnonzero(mapping >= 0)
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = np.log(matrix[np.ix_(secrets, used)]) - np.log(matrix[np.ix_(mapping[secrets], used)])
            logs = logs[~np.isnan(logs)]  # both probabilities are 0
            if len(logs):
                largest = max(largest, float(logs.max() - logs.min()))
        rounding = 2 * log_error(largest)
        return min(1.0, math.tanh((largest + rounding) / 4) * (1 + 2.0**-50))

    @property
    def no_claim_reason(self) -> str:
        """The reason why single reports make no claim."""
        return "" if self.sets else "is about single reports"

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        if self.maps is None:
            return f"For any prior, a report changes the probability of any statement by at most {at_most(value)}."
        event = "any set of reports" if self.sets else "any single report"
        return (
            f"For any prior belief, {event} changes the probability of any statement by at most "
            f"{at_most(value)} more or less than it would without the person's own record."
        )

    def _rows_and_outputs(self, mechanism: AnyMechanism) -> tuple[Floats, Positions]:
        matrix = channel(mechanism).matrix
        if self.maps is not None:
            check_size("the maps are on", self.maps.shape[1], len(matrix), "use maps on the mechanism's secrets.")
        return matrix, np.flatnonzero(matrix.any(axis=0))


class _Best(NamedTuple):
    log_spread: float
    mapping: Positions | None
    outputs: Positions


def _any_default(matrix: Floats, used: Positions) -> _Best:
    """Return the largest ln R over all defaults, by one report with its most probable secret as default."""
    columns = matrix[:, used]
    top, bottom = columns.max(axis=0), columns.min(axis=0)
    with np.errstate(divide="ignore", over="ignore"):
        ratios = top / bottom
    column = int(ratios.argmax())
    default = int(columns[:, column].argmax())
    return _Best(float(np.log(ratios[column])), np.full(len(matrix), default), used[[column]])


def _largest_spread(sums: Floats, mapping: Positions) -> tuple[float, int]:
    """Return the largest ln R over the sets of a block, and where."""
    secrets = np.flatnonzero(mapping >= 0)
    if not len(secrets):
        return 0.0, 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios = sums[:, secrets] / sums[:, mapping[secrets]]
        largest, least = np.fmax.reduce(ratios, axis=1), np.fmin.reduce(ratios, axis=1)
        spreads = largest / least
        spreads[~(spreads >= 1)] = 1.0  # nothing was possible, or every ratio is infinite
        row = int(spreads.argmax())
        return float(np.log(spreads[row])), row


def _map_witness(matrix: Floats, mapping: Positions, outputs: Positions) -> Witness:
    """Return the two secrets and the prior between them that attain the value of a map and a set."""
    secrets = np.flatnonzero(mapping >= 0)
    a, b = matrix[secrets][:, outputs].sum(axis=1), matrix[mapping[secrets]][:, outputs].sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios = a / b
    top, bottom = int(np.nanargmax(ratios)), int(np.nanargmin(ratios))
    s, t = int(secrets[top]), int(secrets[bottom])
    with np.errstate(divide="ignore", over="ignore"):
        spread = float(ratios[top] / ratios[bottom])
    if math.isfinite(spread):
        weights = np.array([math.sqrt(spread) * a[bottom], a[top]])
        share, note = float(weights[0] / weights.sum()), ""
    elif ratios[top] == math.inf and ratios[bottom] == 0:
        share, note = 0.5, ""
    else:
        share = 1.0 if ratios[top] == math.inf else 0.0
        note = f"approached as the prior probability of the event tends to {share:g}"
    prior = np.zeros(len(mapping))
    prior[s], prior[t] = share, 1 - share
    return Witness((s, t), outputs, readonly(prior), readonly(np.array([s])), note)


def worst_set(rows: Floats, possible: Bools) -> tuple[float, Positions]:
    """Return the largest ln p(S|s) / p(S|t) over two rows and a set S with a ``possible`` column, and S.

    No column is zero everywhere in the mechanism. The best S takes the columns whose ratio p(o|s) / p(o|t) is
    above a threshold, and one possible column if none of them is. All thresholds are tried, by sums of
    non-negative numbers (proof in docs/proofs/bayesian-notions.md).
    """
    best, subset = 1.0, np.flatnonzero(possible)[:1]
    for s, row in enumerate(rows):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratios = np.nan_to_num(row / rows, nan=0.0, posinf=math.inf)
        for t in np.flatnonzero(ratios.max(axis=1) > best):
            if t == s:
                continue
            ratio, columns = _of_pair(row, rows[t], ratios[t], possible)
            if ratio > best:
                best, subset = ratio, columns
            if best == math.inf:
                return math.inf, subset
    return math.log(best), subset


def _of_pair(row: Floats, other: Floats, ratios: Floats, possible: Bools) -> tuple[float, Positions]:
    """Return the largest p(S|s) / p(S|t) of two rows, and S."""
    order = np.argsort(-ratios, kind="stable")
    above, below = (np.concatenate([[0.0], np.cumsum(masses[order])]) for masses in (row, other))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    best, subset = 0.0, order[:0]
    for column in np.flatnonzero(possible):
        # Up to its own place the column is added to the prefix; after it, the prefix contains it.
        upper = np.concatenate([above[: place[column] + 1] + row[column], above[place[column] + 2 :]])
        lower = np.concatenate([below[: place[column] + 1] + other[column], below[place[column] + 2 :]])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            values = np.nan_to_num(upper / lower, nan=0.0, posinf=math.inf)
        k = int(values.argmax())
        if values[k] > best:
            size = k if k <= place[column] else k + 1
            best, subset = float(values[k]), np.union1d(order[:size], [column])
    return best, subset


_BLOCK = 2**22  # numbers per block


def subset_sums(columns: Floats) -> Iterator[tuple[int, Floats]]:
    """Yield the sums of every subset of columns, by its bits, in blocks: first subset and array (subsets, n)."""
    n, m = columns.shape
    inner = min(m, max(0, (_BLOCK // max(1, n)).bit_length() - 1))
    low = _all_sums(columns[:, :inner])
    for number, base in enumerate(_all_sums(columns[:, inner:])):
        yield number << inner, low + base


def members(subset: int) -> Positions:
    """Return the columns of a subset."""
    return np.flatnonzero([(subset >> j) & 1 for j in range(subset.bit_length())])


def _all_sums(columns: Floats) -> Floats:
    """Return the sums of all subsets, array (2**m, n)."""
    sums = np.zeros((1, len(columns)))
    for column in columns.T:
        sums = np.concatenate([sums, sums + column])
    return sums
