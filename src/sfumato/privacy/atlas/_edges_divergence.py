"""Implications between differential privacy and the divergences of the reports of two secrets."""

from __future__ import annotations

from typing import Final

from ...intervals import Interval, above, exact
from ._edge import Edge, Goal, Refusal, Status, Tightness, pure, symmetric
from .claims import Claim, divergence_name


def _about(claim: Claim) -> dict[str, object]:
    return {"relation": claim.context["relation"]}


def _chord(epsilon: Interval, f: str) -> Interval:
    """Return the largest divergence of two distributions whose ratios lie within e^(+-epsilon).

    It is the mean of the generator at the two ends, (f(e^epsilon) + e^epsilon f(e^-epsilon)) / (1 + e^epsilon).
    """
    half = epsilon / 2
    forms = {
        "KL divergence": lambda: epsilon * half.tanh(),
        "reverse KL divergence": lambda: epsilon * half.tanh(),
        "total variation": lambda: half.tanh(),
        "chi-square divergence": lambda: 4 * half.sinh() ** 2,
        "squared Hellinger distance": lambda: 1 - 1 / half.cosh(),
    }
    return forms[f]()


def _to_divergence(claim: Claim, goal: Goal) -> Claim | Refusal:
    divergence = goal.context("divergence")
    if divergence is None:
        return Refusal("the divergence must be given: divergence=")
    try:
        value = above(lambda: _chord(exact(claim["epsilon"]), divergence_name(divergence)))
    except KeyError:
        return Refusal("KL, reverse KL, total variation, chi-square or squared Hellinger is needed")
    return Claim("divergence-privacy", epsilon=value, divergence=divergence, **_about(claim))


def _to_kl(claim: Claim, _goal: Goal) -> Claim:
    value = above(lambda: _chord(exact(claim["epsilon"]), "KL divergence"))
    return Claim("kl-privacy", epsilon=value, **_about(claim))


def _variation_above(divergence: str, value: float) -> float | None:
    """Return an upper bound of the total variation from that of a divergence; None if none is known."""
    x = exact(value)
    match divergence:
        case "KL divergence" | "reverse KL divergence":
            return min(above(lambda: (x / 2).sqrt()), above(lambda: (1 - (-x).exp()).sqrt()))
        case "total variation":
            return value
        case "chi-square divergence":
            return above(lambda: x.sqrt() / 2 if x <= 1 else x / (1 + x))
        case "squared Hellinger distance":
            return above(lambda: (x * (2 - x)).sqrt()) if value <= 1 else 1.0
    return None


def _divergence_to_variation(claim: Claim, _goal: Goal) -> Claim | Refusal:
    name = divergence_name(claim.context.get("divergence", "KL divergence"))
    delta = _variation_above(name, claim["epsilon"])
    if delta is None:
        return Refusal("KL, reverse KL, total variation, chi-square or squared Hellinger is needed")
    return Claim("differential-privacy", epsilon=0.0, delta=min(delta, 1.0), **_about(claim))


def _variation(claim: Claim, goal: Goal) -> Claim | Refusal:
    divergence = goal.context("divergence")
    if divergence is None or divergence_name(divergence) != "total variation":
        return Refusal("total variation is needed: divergence='total variation'")
    if claim["epsilon"] > 0:
        return Refusal("epsilon = 0 is needed")
    return Claim("divergence-privacy", epsilon=claim["delta"], divergence=divergence, **_about(claim))


def _kl_as_divergence(claim: Claim, goal: Goal) -> Claim | Refusal:
    divergence = goal.context("divergence")
    if divergence is None or divergence_name(divergence) != "KL divergence":
        return Refusal("the KL divergence is needed: divergence='KL divergence'")
    return Claim("divergence-privacy", epsilon=claim["epsilon"], divergence=divergence, **_about(claim))


def _divergence_as_kl(claim: Claim, _goal: Goal) -> Claim | Refusal:
    if divergence_name(claim.context["divergence"]) != "KL divergence":
        return Refusal("the KL divergence is needed")
    return Claim("kl-privacy", epsilon=claim["epsilon"], **_about(claim))


EDGES: Final = (
    Edge(
        "dp-to-kl",
        "differential-privacy",
        "kl-privacy",
        "epsilon becomes epsilon tanh(epsilon / 2), which is less than epsilon and than epsilon^2 / 2",
        "delta = 0 and the relation is symmetric",
        Tightness.TIGHT,
        "randomised response (the published min{epsilon, epsilon^2} is larger)",
        "sharpens Desfontaines, 2.2.1",
        Status.PROVED,
        symmetric(pure(_to_kl)),
    ),
    Edge(
        "dp-to-divergence",
        "differential-privacy",
        "divergence-privacy",
        "the mean (f(e^epsilon) + e^epsilon f(e^-epsilon)) / (1 + e^epsilon) of the generator: tanh(epsilon / "
        "2) for "
        "total variation, 4 sinh^2(epsilon / 2) for chi-square",
        "delta = 0 and the relation is symmetric",
        Tightness.TIGHT,
        "randomised response",
        "after Barthe and Olmedo 2013",
        Status.PROVED,
        symmetric(pure(_to_divergence)),
    ),
    Edge(
        "kl-to-dp",
        "kl-privacy",
        "differential-privacy",
        "epsilon = 0 and delta = min(sqrt(epsilon / 2), sqrt(1 - e^-epsilon))",
        "",
        Tightness.OPEN,
        "the factor 1/2 is right for small epsilon (the published sqrt(2 epsilon) is twice as large)",
        "Pinsker; Bretagnolle and Huber; corrects Desfontaines, 2.2.1",
        Status.PUBLISHED,
        _divergence_to_variation,
    ),
    Edge(
        "divergence-to-dp",
        "divergence-privacy",
        "differential-privacy",
        "epsilon = 0 and delta a bound of the total variation: for chi-square x it is sqrt(x) / 2 up to x = 1 and "
        "x / (1 + x) above, for the squared Hellinger distance x it is sqrt(x (2 - x))",
        "",
        Tightness.TIGHT,
        "two reports (for KL see kl-to-dp)",
        "Pinsker; Le Cam; Tsybakov 2009, section 2.4",
        Status.PUBLISHED,
        _divergence_to_variation,
    ),
    Edge(
        "dp-to-variation",
        "differential-privacy",
        "divergence-privacy",
        "at epsilon = 0 the delta is the total variation",
        "epsilon = 0",
        Tightness.TIGHT,
        "every mechanism",
        "by the definitions",
        Status.DEFINITION,
        _variation,
    ),
    Edge(
        "kl-to-divergence",
        "kl-privacy",
        "divergence-privacy",
        "KL privacy is divergence privacy for the KL divergence",
        "",
        Tightness.TIGHT,
        "every mechanism",
        "Barthe and Olmedo 2013",
        Status.DEFINITION,
        _kl_as_divergence,
    ),
    Edge(
        "divergence-to-kl",
        "divergence-privacy",
        "kl-privacy",
        "divergence privacy for the KL divergence is KL privacy",
        "the divergence is KL",
        Tightness.TIGHT,
        "every mechanism",
        "Barthe and Olmedo 2013",
        Status.DEFINITION,
        _divergence_as_kl,
    ),
)
