"""The table of the atlas: which notion implies which, and how the numbers change."""

from __future__ import annotations

import math
from typing import Final

from ...intervals import exact, upper_end
from ..curves.curve import GaussianTradeOff
from . import belief_rules as beliefs
from . import pair_rules as pairs
from .claims import (
    Basis,
    Check,
    Edge,
    Map,
    Tightness,
    divergence_name,
    everywhere,
    keep,
    needing,
    number,
    pure,
    rename,
    symmetric,
    take,
)

DEFINITION, PROVED, PUBLISHED = Basis.DEFINITION, Basis.PROVED, Basis.PUBLISHED
OPEN: Final = Tightness.OPEN

SYMMETRIC: Final = ("the relation is symmetric", (symmetric,))
PURE_SYMMETRIC: Final = ("delta = 0 and the relation is symmetric", (symmetric, pure))
PURE_EVERYWHERE: Final = ("delta = 0 and all pairs of secrets are related", (everywhere, pure))
LIFTING: Final = (
    "the claim is about all distributions that couplings join",
    (
        needing(
            "a claim about all distributions that couplings join is needed, not about one family",
            lambda claim: claim.context.get("family") is None,
        ),
    ),
)
about_kl: Final = needing(
    "the KL divergence is needed", lambda claim: divergence_name(claim.context["divergence"]) == "KL divergence"
)
at_top: Final = needing("the order inf is needed", lambda claim: math.isinf(claim["order"]))
at_zero: Final = needing("epsilon = 0 is needed", lambda claim: claim["epsilon"] == 0)

# fmt: off
_KEYS: Final = {
    "dp": "differential-privacy", "pdp": "probabilistic-differential-privacy", "metric": "metric-privacy",
    "kl": "kl-privacy", "divergence": "divergence-privacy", "variation": "divergence-privacy",
    "renyi": "renyi-privacy", "zcdp": "concentrated-privacy", "range": "bounded-range", "curve": "trade-off",
    "ratio": "event-ratio", "positive": "positive-membership", "negative": "negative-membership",
    "aposteriori": "aposteriori-noiseless", "distp": "distribution-privacy",
    "xdistp": "metric-distribution-privacy", "pdistp": "probabilistic-distribution-privacy",
    "divdistp": "divergence-distribution-privacy", "xdiv": "divergence-metric-privacy",
    "xdivdistp": "divergence-metric-distribution-privacy",
}
"""The notions that names of implications abbreviate."""
# fmt: on


def _edge(
    name: str,
    map_: Map,
    rule: str,
    witness: str,
    source: str,
    basis: Basis,
    needs: str = "",
    checks: tuple[Check, ...] = (),
    tightness: Tightness = Tightness.TIGHT,
) -> Edge:
    """Return the implication between the notions of its name, with its condition in words, and checks of it."""
    start, _, end = name.partition("-to-")
    first, last = _KEYS.get(start.split("-")[0], start), _KEYS.get(end, end)
    return Edge(name, first, last or first, map_, rule, witness, source, basis, tightness, needs, checks)


# fmt: off
ATLAS: Final[tuple[Edge, ...]] = (
    # Pairs of secrets, and metrics.
    _edge("dp-groups", pairs.groups, "epsilon becomes k epsilon, delta becomes delta (1 + e^epsilon + ... + "
        "e^((k-1) epsilon)), for pairs that k steps join", "the tight mechanism of a line attains k epsilon",
        "Dwork and Roth, Theorem 2.2", PUBLISHED, "steps join all pairs that are to be protected"),
    _edge("dp-weaker", pairs.weaker, "a smaller epsilon' costs delta' = 1 - (1 - delta) (1 + e^epsilon') / (1 + "
        "e^epsilon); tanh(epsilon / 2) at 0", "randomised response that reveals the truth with probability delta",
        "Kairouz, Oh and Viswanath 2015", PUBLISHED, *SYMMETRIC),
    _edge("pdp-to-dp", keep, "epsilon and delta stay", "the truth with probability delta, and else randomised "
        "response", "Kawamoto and Murakami, section II", PUBLISHED),
    _edge("dp-to-pdp", pairs.to_probabilistic, "for any epsilon' > epsilon, delta' = delta (1 + e^-epsilon') / (1 "
        "- e^(epsilon - epsilon')); epsilon' is 2 epsilon unless given", "approached by a pair of reports with "
        "ratios just above e^epsilon' (the published 2 delta / (1 - e^-epsilon) is larger)",
        "after Kasiviswanathan and Smith, Lemma 3.3", PROVED, *SYMMETRIC),
    _edge("dp-to-metric", pairs.hops_to_metric, "epsilon becomes epsilon times the most steps per unit of "
        "distance", "the tight mechanism of a line, for the metric of hops", "Chatzikokolakis, Andrés, Bordenabe "
        "and Palamidessi 2013; Shokri, equation 9", PUBLISHED,
        "delta = 0, and steps join all secrets at a finite distance", (pure,)),
    _edge("metric-to-metric", pairs.other_metric, "epsilon is multiplied by the largest length of a shortest way "
        "per unit of the other metric; for claims about some pairs this is the dilation",
        "the tight mechanism of a line, for a scaled metric and for a spanner", "Bordenabe, Chatzikokolakis and "
        "Palamidessi 2014; corrects Shokri, appendix C", PUBLISHED, "delta = 0, or the claim is about all pairs"),
    _edge("metric-to-dp", pairs.metric_to_pairs, "epsilon is multiplied by the largest distance of related "
        "secrets, the diameter for all", "any mechanism whose epsilon is attained at the farthest related pair",
        "by the definitions", DEFINITION, "the related secrets are at finite distances"),
    # Divergences.
    _edge("dp-to-kl", number("epsilon", pairs.largest_kl), "epsilon becomes epsilon tanh(epsilon / 2), which is "
        "less than epsilon and than epsilon^2 / 2", "randomised response (the published min{epsilon, epsilon^2} "
        "is larger)", "sharpens Desfontaines, 2.2.1", PROVED, *PURE_SYMMETRIC),
    _edge("dp-to-divergence", pairs.to_divergence, "the mean (f(e^epsilon) + e^epsilon f(e^-epsilon)) / (1 + "
        "e^epsilon) of the generator: tanh(epsilon / 2) for total variation, 4 sinh^2(epsilon / 2) for chi-square",
        "randomised response", "after Barthe and Olmedo 2013", PROVED, *PURE_SYMMETRIC),
    _edge("kl-to-dp", pairs.to_variation, "epsilon = 0 and delta = min(sqrt(epsilon / 2), sqrt(1 - e^-epsilon))",
        "the factor 1/2 is right for small epsilon (the published sqrt(2 epsilon) is twice as large)",
        "Pinsker; Bretagnolle and Huber; corrects Desfontaines, 2.2.1", PUBLISHED, tightness=OPEN),
    _edge("divergence-to-dp", pairs.to_variation, "epsilon = 0 and delta a bound of the total variation: for "
        "chi-square x it is sqrt(x) / 2 up to x = 1 and x / (1 + x) above, for the squared Hellinger distance x "
        "it is sqrt(x (2 - x))", "two reports (for KL see kl-to-dp)", "Pinsker; Le Cam; Tsybakov 2009, section "
        "2.4", PUBLISHED),
    _edge("dp-to-variation", pairs.as_divergence("total variation", "delta"), "at epsilon = 0 the delta is the "
        "total variation", "every mechanism", "by the definitions", DEFINITION, "epsilon = 0", (at_zero,)),
    _edge("kl-to-divergence", pairs.as_divergence("KL divergence", "epsilon"), "KL privacy is divergence privacy "
        "for the KL divergence", "every mechanism", "Barthe and Olmedo 2013", DEFINITION),
    _edge("divergence-to-kl", keep, "divergence privacy for the KL divergence is KL privacy", "every mechanism",
        "Barthe and Olmedo 2013", DEFINITION, "the divergence is KL", (about_kl,)),
    # Rényi, zero-concentrated and range-bounded privacy.
    _edge("dp-to-renyi", pairs.to_renyi, "ln((e^(a epsilon) + e^((1 - a) epsilon)) / (1 + e^epsilon)) / (a - 1) "
        "for the order a", "randomised response", "Mironov 2017 (randomised response)", PUBLISHED,
        *PURE_SYMMETRIC),
    _edge("renyi-orders", pairs.smaller_order, "epsilon stays for smaller orders",
        "a report that either secret produces alone with the same probability", "van Erven and Harremoës 2014, "
        "Theorem 3", PUBLISHED),
    _edge("renyi-inf-to-dp", keep, "the divergence of order inf is the epsilon", "every mechanism",
        "by the definitions", DEFINITION, "the order is inf", (at_top,)),
    _edge("renyi-to-kl", keep, "epsilon stays, since the KL divergence is that of order 1",
        "every mechanism at order 1", "van Erven and Harremoës 2014, Theorems 3 and 5", PUBLISHED),
    _edge("renyi-to-dp", pairs.renyi_to_dp, "epsilon + ln(1 - 1/a) - (ln delta + ln a) / (a - 1) for the order a, "
        "at any delta above 0", "within ln 2 / (a - 1) or so of numerical optima",
        "Canonne, Kamath and Steinke 2020, Proposition 12", PUBLISHED, tightness=OPEN),
    _edge("dp-to-zcdp", number("rho", pairs.largest_kl), "rho = epsilon tanh(epsilon / 2) <= epsilon^2 / 2",
        "randomised response, as the order falls to 1", "sharpens Bun and Steinke 2016, Proposition 1.4", PROVED,
        *PURE_SYMMETRIC),
    _edge("zcdp-to-renyi", pairs.concentrated_to_renyi, "epsilon = a rho for the order a", "normal noise",
        "by the definitions", DEFINITION),
    _edge("zcdp-to-kl", rename("rho", "epsilon"), "epsilon = rho, as the order falls to 1", "normal noise",
        "Bun and Steinke 2016", PUBLISHED),
    _edge("zcdp-to-dp", pairs.concentrated_to_dp, "the least over orders of what Rényi privacy gives, at most rho "
        "+ 2 sqrt(rho ln(1 / delta))", "for normal noise the curve of Gaussian privacy is smaller",
        "Bun and Steinke 2016, Proposition 1.3; Canonne, Kamath and Steinke 2020", PUBLISHED,
        tightness=OPEN),
    _edge("range-to-dp", rename("eta", "epsilon"), "epsilon = eta", "approached by two reports with ratios near "
        "e^eta and near 1", "Durfee and Rogers 2019", PUBLISHED),
    _edge("dp-to-range", number("eta", lambda claim: upper_end(lambda: 2 * exact(claim["epsilon"]))),
        "eta = 2 epsilon", "randomised response", "Durfee and Rogers 2019", PUBLISHED, *PURE_SYMMETRIC),
    _edge("range-to-zcdp", number("rho", lambda claim: upper_end(lambda: exact(claim["eta"]) ** 2 / 8)),
        "rho = eta^2 / 8", "the factor 1/8 is right for small eta", "Cesar and Rogers 2021", PUBLISHED,
        tightness=OPEN),
    # Trade-off curves and Gaussian privacy.
    _edge("dp-to-curve", pairs.to_curve, "the curve max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a))",
        "randomised response that reveals the truth with probability delta", "Wasserman and Zhou 2010, Theorem "
        "2.4; Dong, Roth and Su 2022, Proposition 2.5", PUBLISHED, *SYMMETRIC),
    _edge("curve-to-dp", pairs.curve_to_dp, "delta(epsilon) = max over a of 1 - f(a) - e^epsilon a, at epsilon 0 "
        "unless given, as floating point computes it with its rounding added; for Laplace noise shifted by x it "
        "is 1 - e^((epsilon - x) / 2), and 0 from x on", "the pair whose curve it is",
        "Dong, Roth and Su 2022, Proposition 2.12", PUBLISHED, "the curve is that of a pair or of Laplace noise"),
    _edge("curve-to-gaussian", pairs.curve_to_gaussian, "a normal curve is Gaussian privacy", "normal noise",
        "Dong, Roth and Su 2022, Definition 2.6", DEFINITION, "the curve is normal"),
    _edge("gaussian-to-curve", lambda claim, _goal: {"curve": GaussianTradeOff(claim["mu"])},
        "the curve Phi(Phi^-1(1 - a) - mu)", "normal noise", "Dong, Roth and Su 2022, Definition 2.6", DEFINITION),
    _edge("dp-to-gaussian", pairs.dp_to_gaussian, "mu = 2 Phi^-1(e^epsilon / (1 + e^epsilon))",
        "randomised response", "after Dong, Roth and Su 2022, Proposition 2.5", PROVED, *PURE_SYMMETRIC),
    _edge("gaussian-to-dp", pairs.gaussian_to_dp, "delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 "
        "- epsilon/mu), at epsilon 0 unless given", "normal noise", "Balle and Wang 2018, Theorem 8; Dong, Roth "
        "and Su 2022, Corollary 2.13", PUBLISHED),
    _edge("gaussian-to-zcdp", number("rho", lambda claim: upper_end(lambda: exact(claim["mu"]) ** 2 / 2)),
        "rho = mu^2 / 2", "normal noise", "Bun and Steinke 2016; Dong, Roth and Su 2022, Corollary B.6",
        PUBLISHED),
    # The probability of a fact before and after a report.
    _edge("dp-to-indistinguishable", keep, "epsilon stays", "every mechanism", "Desfontaines, Proposition 1",
        PUBLISHED, *PURE_SYMMETRIC),
    _edge("indistinguishable-to-dp", keep, "epsilon stays", "every mechanism", "Desfontaines, Proposition 1",
        PUBLISHED),
    _edge("dp-to-ratio", beliefs.dp_to_ratio, "rise and fall are at most epsilon, for any priors and facts if all "
        "pairs of secrets are related, else for given priors",
        "randomised response between two secrets", "after Desfontaines, 2.2.6; Li, Qardaji, Su, Wu and Yang 2013",
        PROVED, "delta = 0, and all pairs of secrets are related, or related secrets couple those where a fact is "
        "true with those where it is false", (pure,)),
    _edge("ratio-to-dp", beliefs.ratio_to_dp, "epsilon is the smaller of rise and fall; the larger if only one of "
        "two secrets is a fact",
        "randomised response between two secrets", "priors on two secrets", PROVED,
        "the claim is against every prior and about every single secret, or given priors leave two secrets in "
        "doubt"),
    _edge("ratio-to-positive", beliefs.ratio_to_membership("rise"), "ln max(e^r / (1 + a (e^r - 1)), 1 + b (e^r - "
        "1)) for r = rise and facts of probability a to b; ln((1 + e^r) / 2) at one half",
        "the report with the largest ratio", "Tramèr et al. 2015", PROVED),
    _edge("ratio-to-negative", beliefs.ratio_to_membership("fall"), "the same with fall for rise, 1 - b for a and "
        "1 - a for b", "the report with the least ratio", "after Tramèr et al. 2015", PROVED),
    _edge("ratio-to-membership", beliefs.ratio_to_membership("rise", "fall"), "the larger of the positive and the "
        "negative epsilon", "the report with the largest or the least ratio", "after Tramèr et al. 2015", PROVED),
    _edge("positive-to-ratio", beliefs.membership_to_ratio("rise"), "e^rise <= min(e^epsilon (1 - a) / (1 - a "
        "e^epsilon), (e^epsilon + b - 1) / b) for facts of probability a to b; fall stays unknown",
        "the report with the largest ratio", "Tramèr et al. 2015", PROVED),
    _edge("negative-to-ratio", beliefs.membership_to_ratio("fall"), "the same for fall, with 1 - b for a and 1 - "
        "a for b; rise stays unknown", "the report with the least ratio", "after Tramèr et al. 2015", PROVED),
    _edge("membership-to-ratio", beliefs.membership_to_ratio("rise", "fall"), "both, as for positive and negative "
        "membership privacy", "the report with the largest or the least ratio", "after Tramèr et al. 2015",
        PROVED),
    _edge("membership-to-positive", keep, "epsilon stays", "one of its halves", "Desfontaines, 2.2.6", DEFINITION),
    _edge("membership-to-negative", keep, "epsilon stays", "one of its halves", "Desfontaines, 2.2.6", DEFINITION),
    _edge("positive-to-adversarial", keep, "epsilon stays, delta = 0", "facts of small prior probability",
        "Desfontaines, 2.2.6", DEFINITION),
    _edge("ratio-to-adversarial", beliefs.ratio_to_adversarial, "delta = (sqrt(e^rise) - sqrt(e^epsilon))^2 / "
        "(e^rise - 1) over all probabilities of the fact, or less over some", "the report with the largest ratio, "
        "at one prior probability", "derived", PROVED),
    _edge("adversarial-to-ratio", beliefs.adversarial_to_ratio, "e^(rise / 2) = (e^(epsilon / 2) + sqrt(delta "
        "(e^epsilon - 1 + delta))) / (1 - delta) over all probabilities of the fact; fall stays unknown",
        "the report with the largest ratio", "derived", PROVED),
    _edge("noiseless-to-ratio", beliefs.noiseless_to_ratio, "rise and fall are at most epsilon",
        "attributes of two values", "derived", PROVED),
    # Attackers who know the prior.
    _edge("dp-to-noiseless", take("priors", "events"), "epsilon stays, for any priors and attribute",
        "randomised response between two secrets", "Desfontaines, 2.2.6", PROVED, *PURE_EVERYWHERE),
    _edge("noiseless-to-dp", keep, "epsilon stays", "every mechanism", "by the definitions", PROVED,
        "the attribute is the secret itself and a prior holds every secret possible", (beliefs.full_prior,)),
    _edge("noiseless-to-aposteriori", keep, "epsilon stays", "approached with values of small probability",
        "derived", PROVED),
    _edge("aposteriori-to-noiseless",
        number("epsilon", lambda claim: upper_end(lambda: 2 * exact(claim["epsilon"]))), "epsilon is doubled",
        "approached with two values of small probability, one more and one less likely than the rest", "derived",
        PROVED, "the priors are given, or all", (beliefs.stated_priors,)),
    _edge("aposteriori-to-membership", keep, "epsilon stays", "every mechanism", "derived", PROVED),
    _edge("membership-to-aposteriori", keep, "epsilon stays", "every mechanism", "derived", PROVED),
    _edge("noiseless-to-inferential", keep, "epsilon stays", "every mechanism", "Ghosh and Kleinberg 2017",
        DEFINITION),
    _edge("inferential-to-noiseless", keep, "epsilon stays", "every mechanism", "Ghosh and Kleinberg 2017",
        DEFINITION),
    _edge("noiseless-to-identity", keep, "epsilon stays", "every mechanism", "Desfontaines, 2.2.6", DEFINITION),
    _edge("identity-to-noiseless", keep, "epsilon stays", "every mechanism", "Desfontaines, 2.2.6", DEFINITION),
    _edge("dp-to-information", take("priors"), "epsilon stays, for any priors", "approached with a prior near a "
        "point mass", "du Pin Calmon and Fawaz 2012", PROVED, *PURE_EVERYWHERE),
    _edge("information-to-dp", beliefs.information_to_dp, "epsilon is doubled; it stays if the claim is against "
        "every prior", "approached with two secrets of small probability, one more and one less likely to report "
        "it than the rest", "du Pin Calmon and Fawaz 2012", PUBLISHED, "a prior holds every secret possible"),
    _edge("information-to-membership", take("events"), "epsilon stays, for any facts", "single secrets", "derived",
        PROVED, "the priors are given, or all", (beliefs.stated_priors,)),
    _edge("aposteriori-to-information", keep, "epsilon stays", "every mechanism", "by the definitions", DEFINITION,
        "the attribute is the secret itself", (beliefs.secret_itself,)),
    _edge("information-to-distortion", beliefs.information_to_distortion, "the error is e^-epsilon times the "
        "error of the best blind guess", "right for epsilon = 0", "derived", PROVED,
        "the prior is covered by the claim", tightness=OPEN),
    # What one record changes.
    _edge("noiseless-to-pufferfish", rename("events", "rivals"), "epsilon stays, with the values of the attribute "
        "as rivals", "every mechanism", "Desfontaines, 2.2.6", DEFINITION),
    _edge("pufferfish-to-noiseless", beliefs.pufferfish_to_noiseless, "epsilon stays", "every mechanism",
        "Desfontaines, 2.2.6", DEFINITION, "the rivals are the values of an attribute, or facts and their "
        "opposites"),
    _edge("distp-to-pufferfish", beliefs.distribution_to_pufferfish, "epsilon stays: conditioned beliefs are "
        "distributions of secrets", "point masses", "Desfontaines, 2.2.6; Kifer and Machanavajjhala 2014", PROVED,
        "delta = 0 and the claim is about all distributions", (pure,)),
    _edge("dp-to-semantic", beliefs.dp_to_semantic, "tanh(epsilon / 4) for defaults where any two secrets are "
        "related, else tanh(epsilon / 2); the published e^epsilon - 1 is larger",
        "randomised response, for a default and for a map that exchanges two secrets",
        "sharpens Kasiviswanathan and Smith 2014", PROVED,
        "delta = 0, and any two secrets, or every secret and its image, are related", (pure,)),
    _edge("semantic-to-dp", beliefs.semantic_to_dp, "4 artanh(epsilon), for any two secrets where every default "
        "is meant, else for every secret and its image (the published 2 artanh(2 epsilon) is larger)",
        "a map of two secrets to one of them", "derived; compare arXiv 1911.00761", PROVED,
        "every default is meant; or the maps take every secret that they reach, and its image may make all "
        "reports of a secret"),
    _edge("dp-to-causal", beliefs.dp_to_causal, "epsilon stays, for any priors", "point masses",
        "Tschantz, Sen and Datta 2020", PROVED,
        "delta = 0 and all secrets that one intervention makes of the same secret are related", (pure,)),
    _edge("causal-to-dp", beliefs.causal_to_dp, "epsilon stays, for the pairs that interventions make",
        "point masses", "Tschantz, Sen and Datta 2020", PROVED, "the claim is against every prior"),
    _edge("dp-to-inference-based-causal", beliefs.dp_to_inference, "epsilon is doubled, for any priors; it stays "
        "where each record has two values or is the secret itself", "approached with a record of three values, "
        "where another record decides which of them the report favours", "after Desfontaines, proposition 21",
        PROVED, "delta = 0 and every secret is related to all that one intervention makes of it, in both orders",
        (pure,)),
    _edge("inference-based-causal-to-dp", beliefs.inference_to_dp, "epsilon stays, for secrets and what "
        "interventions make of them", "records of two values", "sharpens Desfontaines, proposition 21", PROVED,
        "the claim is against every prior"),
    _edge("inference-based-causal-to-causal", beliefs.inference_to_causal, "epsilon is doubled; it stays if the "
        "claim is against every prior", "a report of probabilities 4/10 and 1/10, for the prior (1/3, 2/3)",
        "after Desfontaines, proposition 21", PROVED, "priors hold each value possible to which a record may be "
        "set"),
    # Distributions of secrets: couplings and point masses.
    _edge("dp-to-distp", pairs.to_lifting, "epsilon and delta stay, for all distributions that a coupling within "
        "the relation joins", "point masses (the published factor |Phi| on delta is unnecessary)",
        "sharpens Kawamoto and Murakami, section V", PROVED),
    _edge("distp-to-dp", keep, "epsilon and delta stay", "the point masses of two secrets are distributions, and "
        "one coupling joins them", "Kawamoto and Murakami, section V", PROVED, *LIFTING),
    _edge("metric-to-xdistp", number("order", lambda _claim: math.inf), "epsilon and delta stay, for the "
        "Wasserstein distance of order inf", "point masses", "sharpens Kawamoto and Murakami, section V, in delta",
        PROVED, "the claim is about all pairs", (everywhere,)),
    _edge("xdistp-to-metric", keep, "epsilon and delta stay, since point masses are as far apart as their secrets",
        "the point masses of two secrets are distributions, and one coupling joins them", "by the definitions",
        PROVED),
    _edge("xdistp-orders", pairs.larger_order, "epsilon stays for larger orders, whose distances are larger",
        "point masses", "by Jensen's inequality", PROVED),
    _edge("xdistp-to-distp", pairs.metric_to_pairs, "epsilon is multiplied by the largest distance of related "
        "secrets", "point masses", "by the definitions", PROVED, "the related secrets are at finite distances"),
    _edge("pdistp-to-distp", keep, "epsilon and delta stay", "point masses", "Kawamoto and Murakami, section III",
        PUBLISHED),
    _edge("distp-to-pdistp", pairs.family_to_probabilistic, "for any epsilon' > epsilon, delta' = delta (1 + "
        "e^-epsilon') / (1 - e^(epsilon - epsilon')); epsilon' is 2 epsilon unless given",
        "point masses, as for dp-to-pdp", "after Kasiviswanathan and Smith, Lemma 3.3", PROVED,
        "every pair counts in both orders"),
    _edge("divergence-to-divdistp", keep, "epsilon stays", "point masses", "Kawamoto and Murakami, section V",
        PUBLISHED, "the divergence is jointly quasi-convex: an f-divergence, one of Renyi or the largest loss",
        (pairs.quasi_convex_needed,)),
    _edge("divdistp-to-divergence", keep, "epsilon stays", "the point masses of two secrets are distributions, "
        "and one coupling joins them", "by the definitions", PROVED, *LIFTING),
    _edge("xdiv-to-xdivdistp", number("order", lambda _claim: 1.0), "epsilon stays, for the Wasserstein distance "
        "of order 1", "point masses", "Kawamoto and Murakami, section V", PUBLISHED,
        "the divergence is an f-divergence", (pairs.convex_needed,)),
    _edge("xdivdistp-to-xdiv", keep, "epsilon stays", "the point masses of two secrets are distributions, and one "
        "coupling joins them", "by the definitions", PROVED),
    _edge("xdivdistp-orders", pairs.larger_order, "epsilon stays for larger orders, whose distances are larger",
        "point masses", "by Jensen's inequality", PROVED),
)
# fmt: on
"""All implications that are known here, in the order of the documentation."""
