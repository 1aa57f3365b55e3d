"""Composition: distribution privacy of several reports, and of reports that are processed.

All proofs are in docs/proofs/distribution-privacy.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...core import Mechanism, Space
from ...core.arrays import Floats
from ...core.weights import ONE_WORD, TWO_WORDS
from ...errors import InputError
from ...rounding import at_most
from ..notion import Notion
from .family_reports import RECOMPUTE, OfFamily, not_composing
from .promise import PROOFS, Promise, Reason

_SOURCE: Final = "Kawamoto and Murakami, table III"
_POINTS: Final = Reason(
    "point masses",
    "what holds for the point masses of all related pairs holds for the lifting",
    "Kawamoto and Murakami, section V",
    f"{PROOFS}#points",
)


def same_input(first: Promise, second: Promise) -> Promise:
    """Return what two reports about one secret promise together; the second may read the first report.

    (epsilon, delta) add up: for distribution privacy of a whole lifting, for metric
    distribution privacy with W_inf, and for divergences that add. The second promise
    must hold for each report of the first mechanism that the second may be told.

    For an arbitrary set of pairs this is false, and refused: two reports that each hide
    a pair of distributions perfectly can reveal it together. The promise must be known of
    every pair in the lifting, as it is when it covers the point masses.

    Args:
        first: About the first mechanism.
        second: About the second one, for the same family, and the same distance or divergence.

    Raises:
        InputError: If a promise is not known for a whole lifting, the promises are not
            about the same relation and pairs, or their notion does not compose.

    Source:
        Kawamoto and Murakami, table III, without its factor on delta.
    """
    known = []
    for promise in (first, second):
        whole = known_everywhere(promise)
        if whole is None:
            raise InputError(
                f"{promise!r} is known for the pairs of its family only. Reports about the same secret can reveal "
                "together what each one hides: of the secrets 00, 01, 10, 11, one report per bit hides equal bits "
                "from unequal bits, and both reports tell them apart.",
                f"{RECOMPUTE} Promises that come from single secrets (lifted_differential_privacy and its like) "
                "do compose.",
            )
        known.append(whole)
    _same_ground(known[0].notion, known[1].notion)
    notion, value = _combined(*known)
    reason = Reason("two reports about one secret", _added(notion, value), _SOURCE, f"{PROOFS}#same-input")
    return Promise(notion, value, (*known[0].reasons, *known[1].reasons, reason), everywhere=True)


def independent_inputs(first: Promise, second: Promise) -> Promise:
    """Return what two reports about two independent secrets of the same distribution promise together.

    (epsilon, delta) add up for any pairs of distributions.

    Args:
        first: About the first mechanism.
        second: About the second one, for the same family, and the same distance or divergence.

    Returns:
        A promise about the pair of reports, where both secrets are drawn from lam, or both
        from mu, independently.

    Raises:
        InputError: If the promises are not about the same pairs, or their notion does not compose.

    Source:
        Kawamoto and Murakami, table III.
    """
    notion, value = _combined(first, second)
    reason = Reason(
        "reports about independent secrets", _added(notion, value), _SOURCE, f"{PROOFS}#independent-inputs"
    )
    return Promise(notion, value, (*first.reasons, *second.reasons, reason))


def post_processed(promise: Promise) -> Promise:
    """Return what remains promised when reports pass through any further step that does not see the secret.

    Everything that was promised; refused for probabilistic distribution privacy, which
    post-processing can break.

    Args:
        promise: About the mechanism.

    Raises:
        InputError: If the notion is not known to survive post-processing.

    Source:
        Kawamoto and Murakami, table III.
    """
    notion = promise.notion
    if not isinstance(notion, OfFamily):
        raise InputError(
            f"a promise of {notion.title} was given.", "pass a promise about a family of distributions."
        )
    notion.check_processing()
    reason = Reason("post-processing", "the same values", _SOURCE, f"{PROOFS}#post-processing")
    return Promise(notion, promise.value, (*promise.reasons, reason), promise.everywhere)


def known_everywhere(promise: Promise) -> Promise | None:
    """Return a promise for the whole lifting of a relation, or all pairs at finite distance, or None.

    A promise that covers the point masses of every related pair is one: what couplings
    of the family leave out is added to its delta.
    """
    notion = promise.notion
    if promise.everywhere:
        return promise
    whole = notion.of_lifting() if isinstance(notion, OfFamily) else None
    return None if whole is None else Promise(whole, promise.value, (*promise.reasons, _POINTS), everywhere=True)


def _combined(first: Promise, second: Promise) -> tuple[Notion, float]:
    """Return the notion of both reports and its value, the same for either kind of input."""
    a, b = first.notion, second.notion
    if isinstance(a, OfFamily) and isinstance(b, OfFamily) and type(a) is type(b):
        return a.together(b, first.value, second.value)
    raise not_composing(a, b)


def _same_ground(a: Notion, b: Notion) -> None:
    """Refuse liftings of different relations or metrics: one pair can be in both by different couplings."""
    grounds = [each.ground if isinstance(each, OfFamily) else None for each in (a, b)]
    if grounds[0] is None or grounds[1] is None or not np.array_equal(grounds[0], grounds[1]):
        raise InputError(
            "the promises are known for liftings of different relations or metrics on the secrets, so that both "
            "reports together may tell apart secrets that one promise is not about.",
            f"use the same relation or metric for both; or {RECOMPUTE}",
        )


def _added(notion: Notion, value: float) -> str:
    delta = getattr(notion, "delta", 0.0)
    return f"together {notion.parameter} {at_most(value, 9)}" + (f", delta {at_most(delta, 9)}" if delta else "")


def product_channel(
    first: Mechanism | Floats, second: Mechanism | Floats | Sequence[Mechanism | Floats]
) -> Mechanism:
    """Return the mechanism that makes both reports about one secret.

    p((o0, o1)|s) = p0(o0|s) p1(o1|s), or p1(o1|s, o0) where the second reads the first report

    It is exact where both have 62 bits: the products of the integers are the integers of
    the product. Otherwise the products are rounded to integers as in `Mechanism`.

    Args:
        first: The first mechanism.
        second: The second one; or a sequence with one for each report of the first.

    Returns:
        The mechanism; its observables are pairs of reports.

    Raises:
        InputError: If the numbers of secrets, or of reports and second mechanisms, differ; or the secrets are the
            same in another order.

    Example:
        >>> import numpy as np
        >>> bits = np.eye(2)[[0, 0, 1, 1]], np.eye(2)[[0, 1, 0, 1]]
        >>> product_channel(*bits).shape
        (4, 4)
    """
    one = first if isinstance(first, Mechanism) else Mechanism(first)
    given = list(second) if not isinstance(second, Mechanism | np.ndarray) else [second] * one.shape[1]
    others = [other if isinstance(other, Mechanism) else Mechanism(other) for other in given]
    if len(others) != one.shape[1] or len({other.shape for other in others}) != 1:
        raise InputError(
            f"{len(others)} second mechanisms were given for {one.shape[1]} reports of the first.",
            "pass one for each report, all with the same secrets and observables.",
        )
    if others[0].shape[0] != one.shape[0]:
        raise InputError(
            f"the first mechanism has {one.shape[0]} secrets and the second {others[0].shape[0]}.",
            "both report about the same secret.",
        )
    for other in others:
        one.secrets.check_order(other.secrets, "the second mechanism")
    pairs = Space(
        [(a, b) for a, other in zip(one.observables.labels, others, strict=True) for b in other.observables.labels]
    )
    if {one.bits, *(other.bits for other in others)} == {ONE_WORD}:
        exactly = [
            one.weights[:, [o]].astype(object) * other.weights.astype(object) << (TWO_WORDS - 2 * ONE_WORD)
            for o, other in enumerate(others)
        ]
        return Mechanism.from_weights(np.hstack(exactly), TWO_WORDS, one.secrets, pairs)
    floats = [one.matrix[:, [o]] * other.matrix for o, other in enumerate(others)]
    return Mechanism(np.hstack(floats), one.secrets, pairs)
