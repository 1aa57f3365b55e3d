"""Pufferfish privacy: given rival facts look alike under every belief of a set."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core import Space
from ...core.arrays import readonly
from ...core.frozen import Short
from ...errors import InputError
from ...rounding import at_most, factor_at_most
from ..notion import Description, Finding, Notion
from ..rows import AnyMechanism, channel
from .events import Events, events_on
from .likelihoods import told_apart
from .priors import Priors


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rivals(Short):
    """Facts about the secret and which pairs of them must look alike.

    Attributes:
        facts: Boolean array (k, n): of which secrets each fact is true.
        pairs: Boolean array (k, k), symmetric: which facts are compared.

    Raises:
        InputError: If the arrays do not go together, or two rivals share a secret.
    """

    facts: NDArray[np.bool_]
    pairs: NDArray[np.bool_]

    def __init__(self, facts: ArrayLike, pairs: ArrayLike) -> None:
        masks, related = np.array(facts), np.array(pairs)
        square = related.ndim == 2 and related.shape[0] == related.shape[1] == len(masks)
        booleans = masks.dtype == np.bool_ and related.dtype == np.bool_
        if masks.ndim != 2 or not square or not booleans or not (related == related.T).all():
            raise InputError(
                f"facts of shape {masks.shape} and pairs of shape {related.shape} do not go together.",
                "pass booleans, arrays (k, n) and (k, k), the second symmetric.",
            )
        counts = masks.astype(np.int64)
        shared = related & (counts @ counts.T > 0)
        if shared.any():
            i, j = np.argwhere(shared)[0]
            raise InputError(
                f"the rival facts {i} and {j} are true of the same secret.",
                "rivals exclude each other: take the shared secrets out of one of them.",
            )
        object.__setattr__(self, "facts", readonly(masks))
        object.__setattr__(self, "pairs", readonly(related))

    @classmethod
    def of_pairs(cls, space: Space, pairs: Iterable[tuple[Iterable[Hashable], Iterable[Hashable]]]) -> Rivals:
        """Return the rivals of given pairs of sets of labels; each pair counts in both orders."""
        groups = [space.positions(group) for pair in pairs for group in pair]
        facts = np.zeros((len(groups), len(space)), dtype=np.bool_)
        for fact, group in zip(facts, groups, strict=True):
            fact[group] = True
        first = np.arange(0, len(groups), 2)
        related = np.zeros((len(groups), len(groups)), dtype=np.bool_)
        related[first, first + 1] = related[first + 1, first] = True
        return cls(facts, related)


DESCRIPTION: Final = Description(
    "pufferfish",
    "Pufferfish privacy",
    ("epsilon",),
    question="By which factor can a report favour a fact over its rival?",
    promise="no report is more than e^{epsilon} times as likely given one fact as given its rival",
    source="Kifer and Machanavajjhala, TODS 2014; Desfontaines, definition 35",
    context=("priors", "rivals"),
)


@final
@dataclass(frozen=True, slots=True)
class Pufferfish(Notion):
    """Pufferfish privacy: p(o | fact, prior) <= e**epsilon p(o | rival, prior).

    It is distribution privacy of the priors conditioned on the facts; a pair in which
    the prior holds a fact impossible is not compared. With the values of an attribute
    as rivals it is attribute privacy (and noiseless privacy), with all single secrets
    and all priors it is differential privacy of all pairs.

    Attributes:
        priors: The beliefs (the "data generating distributions").
        rivals: The facts (the "discriminative pairs"): given pairs, the values of an
            attribute, or facts against their opposites; every two secrets if None.

    Example:
        >>> import sfumato as sf
        >>> space = sf.Space("abc")
        >>> rivals = Rivals.of_pairs(space, [("a", "bc")])
        >>> given = Priors.of(sf.Prior(space, [0.5, 0.25, 0.25]))
        >>> Pufferfish(given, rivals).measure([[0.5, 0.5], [0.25, 0.75], [0.25, 0.75]])
        Pufferfish privacy: epsilon 0.693147

    Source:
        Kifer and Machanavajjhala, TODS 2014; Desfontaines, definition 35.
    """

    description: ClassVar[Description] = DESCRIPTION
    parameter: ClassVar[str] = "epsilon"
    on_request: ClassVar[bool] = True

    priors: Priors
    rivals: Rivals | Events | None = None

    def _measured(self, mechanism: AnyMechanism) -> Finding:
        """Return the least epsilon, with the facts, the prior and the report that attain it."""
        if not isinstance(self.rivals, Rivals):
            events = events_on(self.rivals, len(channel(mechanism).matrix))
            return told_apart(self, mechanism, self.priors, *events.rivals)
        n, size = len(channel(mechanism).matrix), self.rivals.facts.shape[1]
        if n != size:
            raise InputError(
                f"the facts are about {size} secrets, but the mechanism has {n}.",
                "state facts about the mechanism's secrets.",
            )
        return told_apart(self, mechanism, self.priors, self.rivals.facts, self.rivals.pairs)

    def sentence(self, value: float) -> str:
        """Return what the epsilon promises."""
        if math.isinf(value):
            return f"Under {self.priors}, some report decides between two rival facts: no epsilon is enough."
        return (
            f"Under {self.priors}, every report is at most {factor_at_most(value)} times as likely if one fact is "
            f"true as if its rival is (epsilon {at_most(value)})."
        )
