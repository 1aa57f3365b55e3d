"""Repeated outputs: whether a memo or a fixed seed takes the place of fresh noise."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core import Mechanism, Metric, Space
from ...core.frozen import Short
from ...errors import InputError
from ...rounding import at_most
from .events import distances_of
from .sample import as_label


@dataclass(frozen=True, slots=True, repr=False)
class RepetitionEstimate(Short):
    """Outputs of repeated calls at the same secret.

    Attributes:
        calls: The fewest calls at any secret.
        secrets: How many secrets were called.
        constant: The secrets whose output never changed, each with that output.
        probability: Fresh noise as claimed gives outputs that repeat like this with
            probability at most this, over all secrets called; 1 if nothing is odd, None if
            no claim was given to compare with.
        against: What the probability is computed for, in words.
    """

    calls: int
    secrets: int
    constant: tuple[tuple[Hashable, Hashable], ...]
    probability: float | None
    against: str

    def __str__(self) -> str:
        """The finding in words."""
        if not self.constant:
            return f"At each of {self.secrets} secrets, {self.calls} calls gave more than one output."
        secret, output = self.constant[0]
        seen = (
            f"{len(self.constant)} of {self.secrets} secrets gave one output in all of at least {self.calls} "
            f"calls ({secret!r} always gave {output!r})"
        )
        if self.probability is None:
            return (
                f"{seen}: either there is no noise, or it is not fresh. Without the claimed mechanism "
                "or epsilon, no probability can be stated."
            )
        return (
            f"{seen}; fresh noise {self.against} would repeat like this "
            f"with probability at most {at_most(self.probability, 3)}."
        )


def repetition(
    black_box: Callable[[Any], Any],
    secrets: Iterable[Hashable],
    calls: int = 32,
    *,
    mechanism: Mechanism | None = None,
    epsilon: float | None = None,
    metric: Metric | None = None,
) -> RepetitionEstimate:
    """Call a black box repeatedly at each secret and say how likely so much repetition is.

    With the claimed mechanism, k calls at s agree with probability sum over o of p(o|s)^k.
    With a claimed epsilon only, k calls at s that all give o, and k calls at s' that all
    give another o', happen with probability at most (1 + exp(-epsilon d(s, s')))^(-2(k-1)):
    p(o|s) and p(o'|s') are each at most 1 - exp(-epsilon d) times the other, so that
    their product is at most (1 + exp(-epsilon d))^-2. Both are multiplied by the number
    of secrets, or of pairs, among which the oddest one was looked for.

    Args:
        black_box: Returns one output for a secret.
        secrets: The secrets to call.
        calls: How often to call each.
        mechanism: The claimed mechanism, with these secrets among its own.
        epsilon: The claimed epsilon per unit of the metric, if the mechanism is not known.
        metric: The metric on the secrets called, in their order; by default 1 between
            distinct ones.

    Raises:
        InputError: If there are fewer than two calls or no secret.
    """
    labels = list(secrets)
    if calls < 2 or not labels:
        raise InputError(
            f"{calls} calls at {len(labels)} secrets cannot show repetition.",
            "call at least one secret at least twice.",
        )
    outputs: dict[Hashable, list[Hashable]] = {label: [] for label in labels}
    for _ in range(calls):
        for label in outputs:
            outputs[label].append(as_label(black_box(label)))
    return repetition_of(outputs, mechanism=mechanism, epsilon=epsilon, metric=metric)


def repetition_of(
    outputs: Mapping[Any, Sequence[Hashable]],
    *,
    mechanism: Mechanism | None = None,
    epsilon: float | None = None,
    metric: Metric | None = None,
) -> RepetitionEstimate:
    """Return the same for outputs that were collected already, by secret; see `repetition`."""
    lengths = [len(row) for row in outputs.values()]
    if not lengths or min(lengths) < 2:
        raise InputError("some secret has fewer than two outputs.", "collect at least two for each.")
    space = Space(outputs)
    constant = {
        s: row[0] for s, row in zip(space.labels, outputs.values(), strict=True) if all(o == row[0] for o in row)
    }
    probability: float | None
    if not constant:
        probability, against = 1.0, ""
    elif mechanism is not None:
        probability, against = _of_mechanism(constant, outputs, mechanism), "of the claimed mechanism"
    elif epsilon is not None:
        probability, against = _of_epsilon(constant, outputs, epsilon, metric), f"of epsilon {epsilon:g}"
    else:
        probability, against = None, ""
    return RepetitionEstimate(min(lengths), len(space), tuple(constant.items()), probability, against)


def _of_mechanism(
    constant: Mapping[Hashable, Hashable], outputs: Mapping[Any, Sequence[Hashable]], mechanism: Mechanism
) -> float:
    rows = mechanism.matrix[mechanism.secrets.positions(constant)]
    calls = np.array([len(outputs[s]) for s in constant])
    agree = (rows ** calls[:, None]).sum(axis=1)
    return min(1.0, len(outputs) * float(agree.min()) * (1 + 1e-9))


def _of_epsilon(
    constant: Mapping[Hashable, Hashable],
    outputs: Mapping[Any, Sequence[Hashable]],
    epsilon: float,
    metric: Metric | None,
) -> float:
    if not (np.isfinite(epsilon) and epsilon >= 0):
        raise InputError(f"the epsilon {epsilon} is not a number of at least 0.", "pass the claimed epsilon.")
    distances = distances_of(len(outputs), metric)
    position = {s: i for i, s in enumerate(outputs)}
    pairs = len(outputs) * (len(outputs) - 1) / 2
    least = 1.0
    for s, o in constant.items():
        for t, other in constant.items():
            d = distances[position[s], position[t]]
            if o != other and np.isfinite(d):
                k = min(len(outputs[s]), len(outputs[t]))
                least = min(least, pairs * float((1 + np.exp(-epsilon * d)) ** (-2.0 * (k - 1))) * (1 + 1e-9))
    return least
