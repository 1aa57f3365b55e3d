"""Implications between differential privacy and the divergences of the reports of two secrets."""

from __future__ import annotations

from ....intervals import Interval, above, exact
from ..claims import Claim
from ..contexts import divergence_name
from ..edge import Basis, Goal, Refusal, Tightness, edge, pure, same_pairs, symmetric


def chord(epsilon: Interval, f: str) -> Interval:
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


@edge(
    "dp-to-kl",
    start="differential-privacy",
    end="kl-privacy",
    rule=("epsilon becomes epsilon tanh(epsilon / 2), which is less than epsilon and than epsilon^2 / 2"),
    needs="delta = 0 and the relation is symmetric",
    tightness=Tightness.TIGHT,
    witness="randomised response (the published min{epsilon, epsilon^2} is larger)",
    source="sharpens Desfontaines, 2.2.1",
    basis=Basis.PROVED,
)
@symmetric
@pure
def _to_kl(claim: Claim, _goal: Goal) -> Claim:
    value = above(lambda: chord(exact(claim["epsilon"]), "KL divergence"))
    return Claim("kl-privacy", epsilon=value, **same_pairs(claim))


@edge(
    "dp-to-divergence",
    start="differential-privacy",
    end="divergence-privacy",
    rule=(
        "the mean (f(e^epsilon) + e^epsilon f(e^-epsilon)) / (1 + e^epsilon) of the generator: tanh(epsilon / 2) "
        "for total variation, 4 sinh^2(epsilon / 2) for chi-square"
    ),
    needs="delta = 0 and the relation is symmetric",
    tightness=Tightness.TIGHT,
    witness="randomised response",
    source="after Barthe and Olmedo 2013",
    basis=Basis.PROVED,
)
@symmetric
@pure
def _to_divergence(claim: Claim, goal: Goal) -> Claim | Refusal:
    divergence = goal.context("divergence")
    if divergence is None:
        return Refusal("the divergence must be given: divergence=")
    try:
        value = above(lambda: chord(exact(claim["epsilon"]), divergence_name(divergence)))
    except KeyError:
        return Refusal("KL, reverse KL, total variation, chi-square or squared Hellinger is needed")
    return Claim("divergence-privacy", epsilon=value, divergence=divergence, **same_pairs(claim))


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
    return Claim("differential-privacy", epsilon=0.0, delta=min(delta, 1.0), **same_pairs(claim))


@edge(
    "kl-to-dp",
    start="kl-privacy",
    end="differential-privacy",
    rule="epsilon = 0 and delta = min(sqrt(epsilon / 2), sqrt(1 - e^-epsilon))",
    tightness=Tightness.OPEN,
    witness=("the factor 1/2 is right for small epsilon (the published sqrt(2 epsilon) is twice as large)"),
    source="Pinsker; Bretagnolle and Huber; corrects Desfontaines, 2.2.1",
    basis=Basis.PUBLISHED,
)
def _kl_to_dp(claim: Claim, goal: Goal) -> Claim | Refusal:
    return _divergence_to_variation(claim, goal)


@edge(
    "divergence-to-dp",
    start="divergence-privacy",
    end="differential-privacy",
    rule=(
        "epsilon = 0 and delta a bound of the total variation: for chi-square x it is sqrt(x) / 2 up to x = 1 "
        "and x / (1 + x) above, for the squared Hellinger distance x it is sqrt(x (2 - x))"
    ),
    tightness=Tightness.TIGHT,
    witness="two reports (for KL see kl-to-dp)",
    source="Pinsker; Le Cam; Tsybakov 2009, section 2.4",
    basis=Basis.PUBLISHED,
)
def _divergence_to_dp(claim: Claim, goal: Goal) -> Claim | Refusal:
    return _divergence_to_variation(claim, goal)


@edge(
    "dp-to-variation",
    start="differential-privacy",
    end="divergence-privacy",
    rule="at epsilon = 0 the delta is the total variation",
    needs="epsilon = 0",
    tightness=Tightness.TIGHT,
    witness="every mechanism",
    source="by the definitions",
    basis=Basis.DEFINITION,
)
def _variation(claim: Claim, goal: Goal) -> Claim | Refusal:
    divergence = goal.context("divergence")
    if divergence is None or divergence_name(divergence) != "total variation":
        return Refusal("total variation is needed: divergence='total variation'")
    if claim["epsilon"] > 0:
        return Refusal("epsilon = 0 is needed")
    return Claim("divergence-privacy", epsilon=claim["delta"], divergence=divergence, **same_pairs(claim))


@edge(
    "kl-to-divergence",
    start="kl-privacy",
    end="divergence-privacy",
    rule="KL privacy is divergence privacy for the KL divergence",
    tightness=Tightness.TIGHT,
    witness="every mechanism",
    source="Barthe and Olmedo 2013",
    basis=Basis.DEFINITION,
)
def _kl_as_divergence(claim: Claim, goal: Goal) -> Claim | Refusal:
    divergence = goal.context("divergence")
    if divergence is None or divergence_name(divergence) != "KL divergence":
        return Refusal("the KL divergence is needed: divergence='KL divergence'")
    return Claim("divergence-privacy", epsilon=claim["epsilon"], divergence=divergence, **same_pairs(claim))


@edge(
    "divergence-to-kl",
    start="divergence-privacy",
    end="kl-privacy",
    rule="divergence privacy for the KL divergence is KL privacy",
    needs="the divergence is KL",
    tightness=Tightness.TIGHT,
    witness="every mechanism",
    source="Barthe and Olmedo 2013",
    basis=Basis.DEFINITION,
)
def _divergence_as_kl(claim: Claim, _goal: Goal) -> Claim | Refusal:
    if divergence_name(claim.context["divergence"]) != "KL divergence":
        return Refusal("the KL divergence is needed")
    return Claim("kl-privacy", epsilon=claim["epsilon"], **same_pairs(claim))
