"""Privacy by the secret's own randomness: in likelihoods, in posteriors, in odds, and of the secret itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from ..notion import Description, Finding
from ..rows import AnyMechanism, channel
from .attackers import AgainstPriors, Events, Priors, events_on
from .posterior import OfFacts, both, compare_rivals, worst


@dataclass(frozen=True, slots=True)
class NoiselessPrivacy(AgainstPriors):
    """Noiseless privacy: p(o | a) <= e**epsilon p(o | a') for any two values of an attribute.

    p(o | a) = sum over s with value a of prior(s) p(o | s) / prior(a)

    The randomness of the secret counts like noise, so even a deterministic mechanism
    may satisfy it against attackers who know little. It is Pufferfish privacy with the
    values of the attribute as rivals.

    Attributes:
        priors: The beliefs; how probable the values are does not matter.
        events: The attribute; the secret itself if None. Facts that are not an attribute
            are each compared with their opposite.

    Source:
        Bhaskar, Bhowmick, Goyal, Laxman and Thakurta, ASIACRYPT 2011; Desfontaines, definition 33.
    """

    description = Description(
        "noiseless",
        "noiseless privacy",
        question=(
            "By which factor can a report favour one value of an attribute over another, for someone who knows "
            "the prior?"
        ),
        promise="no report is more than e^{epsilon} times as likely for one value of the attribute as for another",
        source="Bhaskar et al., ASIACRYPT 2011; Desfontaines, definition 33",
        context=("priors", "events"),
    )
    certainty = "some report rules out a value of the secret"
    limit = "every report is at most {factor} times as likely with one value of what is hidden as with another"

    priors: Priors
    events: Events | None = None

    @final
    def _measured(self, mechanism: AnyMechanism) -> Finding:
        """Return the least epsilon, with the values, the prior and the report that attain it."""
        events = events_on(self.events, len(channel(mechanism).matrix))
        return compare_rivals(self, mechanism, *events.rivals)


@final
@dataclass(frozen=True, slots=True)
class AposterioriNoiselessPrivacy(OfFacts):
    """A-posteriori noiseless privacy: e**-epsilon <= P[a | o in S] / P[a] <= e**epsilon.

    For a fixed prior it asks of the values of an attribute what membership privacy asks
    of them as facts, and is the same number: the probabilities of the other values sum
    to that of the opposite fact. Noiseless privacy implies it with the same epsilon;
    it implies noiseless privacy with twice its epsilon.

    Attributes:
        priors: The beliefs against which it must hold.
        events: The attribute, or facts that are each looked at with their opposite;
            the secret itself if None.

    Source:
        Bhaskar et al., ASIACRYPT 2011; Desfontaines, definition 39.
    """

    description = Description(
        "aposteriori-noiseless",
        "a posteriori noiseless privacy",
        question="By which factor does a report change the probability of a value?",
        promise="no report changes the probability of a value of the attribute by more than a factor e^{epsilon}",
        source="Bhaskar et al., ASIACRYPT 2011; Desfontaines, definition 39",
        context=("priors", "events"),
    )
    certainty = "some report decides a fact"
    limit = "a report multiplies or divides the probability of a value of what is hidden by at most {factor}"

    _rate = staticmethod(both)


@final
@dataclass(frozen=True, slots=True)
class InferentialPrivacy(NoiselessPrivacy):
    """Inferential privacy: a report changes the odds of any two values by at most e**epsilon.

    P[a | o] / P[a' | o] <= e**epsilon P[a] / P[a']

    By Bayes' rule the quotient of the odds is p(o | a) / p(o | a'), so this is noiseless
    privacy in other words and the same number.

    Source:
        Ghosh and Kleinberg, ITCS 2017; Desfontaines, 2.2.6.
    """

    description = Description(
        "inferential",
        "inferential privacy",
        question=(
            "By which factor does a report change the odds of two values? (The epsilon of noiseless privacy.)"
        ),
        promise="no report changes the odds between two values of the attribute by more than a factor e^{epsilon}",
        source="Ghosh and Kleinberg, ITCS 2017",
        context=("priors", "events"),
    )
    on_request = True
    limit = "no report multiplies the odds between two values of what is hidden by more than {factor}"


@final
@dataclass(frozen=True, slots=True)
class IdentityPrivacy(NoiselessPrivacy):
    """Identity privacy: no one learns much about which of two values is the true one.

    It is known as a Bayesian form of noiseless privacy, and is measured as such: the
    quotient of posterior and prior odds of two values is at most e**epsilon.

    Source:
        Desfontaines, 2.2.6 (identity DP).
    """

    description = Description(
        "identity",
        "identity privacy",
        question="By which factor does a report change the odds of two people it may be about? (As for "
        "noiseless privacy.)",
        promise="no report changes the odds of two people it may be about by more than a factor e^{epsilon}",
        source="Desfontaines, 2.2.6",
        context=("priors", "events"),
    )
    on_request = True
    certainty = "some report identifies a value against another"
    limit = (
        "someone unsure between two values of what is hidden has odds, after any report, of at most {factor} "
        "times what they were"
    )


@final
@dataclass(frozen=True, slots=True)
class InformationPrivacy(AgainstPriors):
    """Information privacy: e**-epsilon <= P[s | o] / P[s] <= e**epsilon for all secrets s.

    epsilon = max over s and o of |ln(p(o|s) / p(o))|

    It is a-posteriori noiseless privacy of the secret itself, and so bounds every fact
    about it, not only single values. With a prior that holds every secret possible it
    implies differential privacy of all pairs with twice its epsilon.

    Attributes:
        priors: The beliefs against which it must hold.

    Example:
        >>> import sfumato as sf
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> InformationPrivacy(Priors.of(sf.Prior.uniform(coin.secrets))).measure(coin)
        Information privacy: epsilon 0.693147

    Source:
        du Pin Calmon and Fawaz, Allerton 2012; Desfontaines, definition 41.
    """

    description = Description(
        "information",
        "information privacy",
        question="By which factor does a report change the probability of any secret?",
        promise="no report changes the probability of any secret by more than a factor e^{epsilon}",
        source="du Pin Calmon and Fawaz, Allerton 2012; Desfontaines, definition 41",
        context=("priors",),
    )
    certainty = "some report decides if a secret is the true one"
    limit = "a report multiplies or divides the probability of any fact about the secret by at most {factor}"

    priors: Priors

    def _measured(self, mechanism: AnyMechanism) -> Finding:
        """Return the least epsilon, with the secret, the prior and the report that attain it."""
        return worst(self, mechanism, None, both)
