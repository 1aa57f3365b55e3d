"""Implications between notions about attackers who know the prior: noiseless, information and their variants."""

from __future__ import annotations

from ....core import blind_error
from ....core.guarantees import as_distance
from ....intervals import above, below, exact
from ...beliefs.priors import Priors
from ..claims import Claim
from ..contexts import covers
from ..edge import Basis, Goal, Refusal, Tightness, edge, everywhere, pure, renamed
from .facts import EVERY, every_secret, holds_all, priors_of


def _dp_with(claim: Claim, goal: Goal, end: str, *names: str) -> Claim:
    return Claim(end, epsilon=claim["epsilon"], **{name: goal.context(name) for name in names})


@edge(
    "dp-to-noiseless",
    start="differential-privacy",
    end="noiseless",
    rule="epsilon stays, for any priors and attribute",
    needs="delta = 0 and all pairs of secrets are related",
    tightness=Tightness.TIGHT,
    witness="randomised response between two secrets",
    source="Desfontaines, 2.2.6",
    basis=Basis.PROVED,
)
@everywhere
@pure
def _dp_to_noiseless(claim: Claim, goal: Goal) -> Claim:
    return _dp_with(claim, goal, "noiseless", "priors", "events")


@edge(
    "noiseless-to-dp",
    start="noiseless",
    end="differential-privacy",
    rule="epsilon stays",
    needs="the attribute is the secret itself and a prior holds every secret possible",
    tightness=Tightness.TIGHT,
    witness="every mechanism",
    source="by the definitions",
    basis=Basis.PROVED,
)
def _noiseless_to_dp(claim: Claim, _goal: Goal) -> Claim | Refusal:
    priors = priors_of(claim.context["priors"])
    if not every_secret(claim) or not (holds_all(priors) or not priors.listed):
        return Refusal(
            "a prior that holds every secret possible is needed, and the secret itself as the attribute"
        )
    return Claim("differential-privacy", epsilon=claim["epsilon"])


@edge(
    "noiseless-to-aposteriori",
    start="noiseless",
    end="aposteriori-noiseless",
    rule="epsilon stays",
    tightness=Tightness.TIGHT,
    witness="approached with values of small probability",
    source="derived",
    basis=Basis.PROVED,
)
def _to_aposteriori(claim: Claim, _goal: Goal) -> Claim:
    return Claim("aposteriori-noiseless", epsilon=claim["epsilon"], **dict(claim.context))


@edge(
    "aposteriori-to-noiseless",
    start="aposteriori-noiseless",
    end="noiseless",
    rule="epsilon is doubled",
    needs="the priors are given, or all",
    tightness=Tightness.TIGHT,
    witness=("approached with two values of small probability, one likelier and one less likely than the rest"),
    source="derived",
    basis=Basis.PROVED,
)
def _to_noiseless(claim: Claim, _goal: Goal) -> Claim | Refusal:
    priors = priors_of(claim.context["priors"])
    if priors.interval is not None and priors.interval != EVERY:
        return Refusal("given priors, or all, are needed")
    return Claim("noiseless", epsilon=above(lambda: 2 * exact(claim["epsilon"])), **dict(claim.context))


@edge(
    "aposteriori-to-membership",
    start="aposteriori-noiseless",
    end="membership",
    rule="epsilon stays",
    tightness=Tightness.TIGHT,
    witness="every mechanism",
    source="derived",
    basis=Basis.PROVED,
)
def _aposteriori_to_membership(claim: Claim, _goal: Goal) -> Claim:
    return renamed(claim, "membership", keep=("priors", "events"))


@edge(
    "membership-to-aposteriori",
    start="membership",
    end="aposteriori-noiseless",
    rule="epsilon stays",
    tightness=Tightness.TIGHT,
    witness="every mechanism",
    source="derived",
    basis=Basis.PROVED,
)
def _membership_to_aposteriori(claim: Claim, _goal: Goal) -> Claim:
    return renamed(claim, "aposteriori-noiseless", keep=("priors", "events"))


@edge(
    "noiseless-to-inferential",
    start="noiseless",
    end="inferential",
    rule="epsilon stays",
    tightness=Tightness.TIGHT,
    witness="every mechanism",
    source="Ghosh and Kleinberg 2017",
    basis=Basis.DEFINITION,
)
def _noiseless_to_inferential(claim: Claim, _goal: Goal) -> Claim:
    return renamed(claim, "inferential", keep=("priors", "events"))


@edge(
    "inferential-to-noiseless",
    start="inferential",
    end="noiseless",
    rule="epsilon stays",
    tightness=Tightness.TIGHT,
    witness="every mechanism",
    source="Ghosh and Kleinberg 2017",
    basis=Basis.DEFINITION,
)
def _inferential_to_noiseless(claim: Claim, _goal: Goal) -> Claim:
    return renamed(claim, "noiseless", keep=("priors", "events"))


@edge(
    "noiseless-to-identity",
    start="noiseless",
    end="identity",
    rule="epsilon stays",
    tightness=Tightness.TIGHT,
    witness="every mechanism",
    source="Desfontaines, 2.2.6",
    basis=Basis.DEFINITION,
)
def _noiseless_to_identity(claim: Claim, _goal: Goal) -> Claim:
    return renamed(claim, "identity", keep=("priors", "events"))


@edge(
    "identity-to-noiseless",
    start="identity",
    end="noiseless",
    rule="epsilon stays",
    tightness=Tightness.TIGHT,
    witness="every mechanism",
    source="Desfontaines, 2.2.6",
    basis=Basis.DEFINITION,
)
def _identity_to_noiseless(claim: Claim, _goal: Goal) -> Claim:
    return renamed(claim, "noiseless", keep=("priors", "events"))


@edge(
    "dp-to-information",
    start="differential-privacy",
    end="information",
    rule="epsilon stays, for any priors",
    needs="delta = 0 and all pairs of secrets are related",
    tightness=Tightness.TIGHT,
    witness="approached with a prior near a point mass",
    source="du Pin Calmon and Fawaz 2012",
    basis=Basis.PROVED,
)
@everywhere
@pure
def _dp_to_information(claim: Claim, goal: Goal) -> Claim:
    return _dp_with(claim, goal, "information", "priors")


@edge(
    "information-to-dp",
    start="information",
    end="differential-privacy",
    rule="epsilon is doubled; it stays if the claim is against every prior",
    needs="a prior holds every secret possible",
    tightness=Tightness.TIGHT,
    witness=(
        "approached with two secrets of small probability, one likelier and one less likely to report it than "
        "the rest"
    ),
    source="du Pin Calmon and Fawaz 2012",
    basis=Basis.PUBLISHED,
)
def _information_to_dp(claim: Claim, _goal: Goal) -> Claim | Refusal:
    priors = priors_of(claim.context["priors"])
    if not priors.listed and priors.interval == EVERY:
        return Claim("differential-privacy", epsilon=claim["epsilon"])
    if not holds_all(priors):
        return Refusal("a prior that holds every secret possible is needed")
    return Claim("differential-privacy", epsilon=above(lambda: 2 * exact(claim["epsilon"])))


@edge(
    "information-to-membership",
    start="information",
    end="membership",
    rule="epsilon stays, for any facts",
    needs="the priors are given, or all",
    tightness=Tightness.TIGHT,
    witness="single secrets",
    source="derived",
    basis=Basis.PROVED,
)
def _information_to_membership(claim: Claim, goal: Goal) -> Claim | Refusal:
    if priors_of(claim.context["priors"]).interval not in (None, EVERY):
        return Refusal("given priors, or all, are needed")
    return Claim(
        "membership", epsilon=claim["epsilon"], priors=claim.context["priors"], events=goal.context("events")
    )


@edge(
    "aposteriori-to-information",
    start="aposteriori-noiseless",
    end="information",
    rule="epsilon stays",
    needs="the attribute is the secret itself",
    tightness=Tightness.TIGHT,
    witness="every mechanism",
    source="by the definitions",
    basis=Basis.DEFINITION,
)
def _aposteriori_to_information(claim: Claim, _goal: Goal) -> Claim | Refusal:
    if not every_secret(claim):
        return Refusal("the secret itself as the attribute is needed")
    return Claim("information", epsilon=claim["epsilon"], priors=claim.context["priors"])


@edge(
    "information-to-distortion",
    start="information",
    end="distortion",
    rule="the error is e^-epsilon times the error of the best blind guess",
    needs="the prior is covered by the claim",
    tightness=Tightness.OPEN,
    witness="right for epsilon = 0",
    source="derived",
    basis=Basis.PROVED,
)
def _information_to_distortion(claim: Claim, goal: Goal) -> Claim | Refusal:
    distance, wanted = goal.context("distance"), goal.context("priors")
    held = priors_of(claim.context["priors"])
    if (
        distance is None
        or not isinstance(wanted, Priors)
        or len(wanted.listed) != 1
        or wanted.interval is not None
    ):
        return Refusal("the distance and one prior must be given: distance= and priors=Priors.of(prior)")
    if not covers("priors", held, wanted):
        return Refusal("a prior is needed that the claim covers")
    array = as_distance(distance).array  # type: ignore[arg-type]
    blind = blind_error(wanted.listed[0].probabilities, array)
    # The sum of n products errs by at most a relative n 2**-53.
    safe = blind * (1 - (array.shape[1] + 8) * 2.0**-52)
    least = below(lambda: exact(safe) * (-exact(claim["epsilon"])).exp())
    return Claim("distortion", error=max(least, 0.0), distance=distance, priors=wanted)
