"""Leakage of a label: exactly, from examples by a learned rule, and from counts on a grid."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log, log2, sqrt
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..attacks.classifiers import Classifier, Examples, FittedRule, NearestNeighbours, learn_attack
from ..core import AnyLoss, Bracket, Mechanism, Prior
from ..core.arrays import Floats, floats
from ..core.immutable import CompactRepr
from ..errors import InputError
from ..leakage import joint_information_bits
from ..rounding import at_least
from ..statistics import Sample, binomial, estimate_guessing
from .training import device_for

if TYPE_CHECKING:
    import torch

_SUM_TOLERANCE = 1e-9
_ONE_NEIGHBOUR: Final = NearestNeighbours(1)


@dataclass(frozen=True, slots=True)
class Hiding:
    """Measures of how well a mechanism hides a label, for one joint distribution of labels and useful values.

    ``hit_rate`` is the Bayes vulnerability of the label given a report, and ``loss`` the expected loss of a
    report, in the unit of the loss.
    """

    hit_rate: float
    information_bits: float
    loss: float

    @property
    def error(self) -> float:
        """The Bayes error: the probability that the best guess of the label is wrong."""
        return 1.0 - self.hit_rate


def checked_joint(joint: ArrayLike, values: int, labels: int = 1) -> Floats:
    """Return a joint distribution, array (labels, values), of at least so many labels."""
    p = floats(joint, "the joint distribution", shape=(None, values))
    if len(p) < labels or (p < 0).any() or abs(float(p.sum()) - 1) > _SUM_TOLERANCE:
        raise InputError(
            f"the joint distribution has {len(p)} labels, least value {p.min():g} and sum {p.sum():.12g}.",
            "pass P(x, w): at least two labels, no negative entry, sum 1; Pairs.joint makes one.",
        )
    return p


def hiding(mechanism: Mechanism, joint: ArrayLike, loss: AnyLoss) -> Hiding:
    """Return how well a mechanism hides a label that it does not see.

    The attacker knows the mechanism and the joint distribution. With P(x, z) = sum over w of P(x, w) p(z|w), the
    best guess is right with probability sum over z of max over x of P(x, z). The joint distribution P(x, w), array
    (labels, useful values), sums to one (`Pairs.joint` makes one), and ``loss`` is l(w, z), array (useful values,
    reports), a `Loss` or a `Metric`. Raises `InputError` if sizes do not fit, or the joint distribution does not
    sum to one.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, section II.
    """
    p = checked_joint(joint, mechanism.shape[0])
    shares = p @ mechanism.matrix
    prior = Prior(mechanism.secrets, p.sum(axis=0))
    hit_rate = float(shares.max(axis=0).sum())
    return Hiding(hit_rate, joint_information_bits(shares), mechanism.expected_loss(prior, loss))


@dataclass(frozen=True, slots=True)
class InformationBound:
    """A lower bound of the mutual information of secret and output, in bits.

    Attributes:
        bits: The value is the gain of the attacker's beliefs over the prior on examples that were not learned
            from; on average never above the mutual information, and negative where the beliefs are wrong. The
            lower bound, at least 0, holds except with probability ``failure``; no upper one is known.
    """

    bits: Bracket
    failure: float
    rule: str
    judged_on: int

    def __str__(self) -> str:
        return (
            f"At least {at_least(self.bits.lower)} bits leak (confidence {1 - self.failure:.6g}); "
            f"the beliefs of {self.rule} gain {self.bits.value:.4g} bits."
        )


def information_lower(
    examples: Examples,
    rule: Classifier,
    prior: Prior | None = None,
    *,
    failure: float = 0.05,
    share: float = 0.5,
    caution: float = 0.01,
    seed: int | None = None,
) -> InformationBound:
    """Bound the mutual information from below, for outputs of any kind.

    For any beliefs q(x|z), I(X; Z) >= H(X) - E[-log2 q(x|z)]. The mean is bounded by the empirical Bernstein
    inequality, on examples that the beliefs were not learned from. Raises `InputError` if an argument does not
    fit. Raises `MissingExtraError` if the library of the rule is not installed.

    Args:
        examples: Independent draws of secrets and outputs.
        rule: The classifier that learns beliefs, such as `NeuralClassifier`.
        prior: The distribution that the secrets were drawn from, if it is known; without it the entropy itself is
            bounded from the examples, which costs a lot.
        failure: The probability with which the bound may be wrong.
        share: The part of the examples that learns.
        caution: The part of each belief that is spread evenly, so that every surprise is finite.
        seed: For studies: makes the split and the rule the same each time.

    Source:
        Barber and Agakov, "The IM algorithm", 2003; Maurer and Pontil, "Empirical Bernstein bounds and
        sample-variance penalization", COLT 2009, theorem 4; McDiarmid, 1989, for the entropy.
    """
    binomial.check_failure(failure)
    n = len(examples.space)
    if not 0 < caution < 1:
        raise InputError(f"a caution of {caution} is not between 0 and 1.", "use 0.01.")
    if prior is not None:
        if len(prior) != n:
            raise InputError(
                f"the prior has {len(prior)} values, but there are {n} secrets.", "pass one on these."
            )
        examples.space.check_order(prior.space, "the prior")
    learning, judging = examples.split(share, seed=seed)
    beliefs = rule.fit(learning, seed=seed).probabilities(judging.points)
    likelihoods = (1 - caution) * beliefs[np.arange(len(judging)), judging.secrets] + caution / n
    surprises = -np.log2(likelihoods)
    k = len(judging)
    if prior is not None:
        entropy, entropy_low, level = prior.entropy_bits, prior.entropy_bits, failure
    else:
        level = failure / 2
        shares = judging.shares[judging.shares > 0]
        entropy = float(-(shares * np.log2(shares)).sum())
        # One example moves the plug-in, which is too low on average, by at most 2 log2(k) / k.
        entropy_low = entropy - 2 * log2(k) * sqrt(log(1 / level) / (2 * k))
    mean = float(surprises.mean())
    most = log2(n / caution)
    reach = sqrt(2 * float(surprises.var(ddof=1)) * log(2 / level) / k) + 7 * most * log(2 / level) / (3 * (k - 1))
    lower = max(0.0, (entropy_low - mean - reach) * (1 - 1e-12))
    return InformationBound(Bracket(lower, entropy - mean, inf), failure, rule.name, k)


@dataclass(frozen=True, slots=True, repr=False)
class RiskEstimate(CompactRepr):
    """Bayes error, from a rule that learned from examples.

    Attributes:
        error: The value is the rule's error on held-out examples: on average never below the Bayes error, and
            tending to it as examples grow if the rule is consistent (nearest neighbours with k growing; at no rate
            that holds for every channel). Each bound is wrong with probability ``failure / 2`` at most; the lower
            one is from the frequencies of equal outputs, so 0 where outputs rarely repeat.
        corrected: The error less the gain from the second half of the examples: an estimate with less bias, which
            is no bound; no more than the value of ``error``, or ``blind``.
        limit_lower: A lower bound of the Bayes error with infinitely many examples, by the error of one nearest
            neighbour (Cover and Hart). It is not a bound for these examples.
        blind: The error of the most frequent secret without an output.
        failure: The probability that one of the bounds is wrong.
    """

    rule: str
    error: Bracket
    corrected: float
    limit_lower: float
    blind: float
    failure: float
    learned_from: int
    judged_on: int

    def __str__(self) -> str:
        return (
            f"The Bayes error is {self.error.lower:.4f} to {self.error.upper:.4f} "
            f"(confidence {1 - self.failure:.6g}); {self.rule} err in {self.error.value:.4f} of the cases, "
            f"a guess without the output in {self.blind:.4f}."
        )


def estimate_risk(
    examples: Examples,
    rule: Classifier | None = None,
    *,
    failure: float = 0.05,
    share: float = 0.5,
    seed: int | None = None,
) -> RiskEstimate:
    """Estimate the Bayes error of secret given output, for the distribution of the examples.

    No rule has a smaller error than the Bayes error, so the Clopper-Pearson bound of the held-out error is one of
    the Bayes error; it needs no convergence of the rule. From below, the plug-in of equal outputs never exceeds
    the truth on average (McDiarmid). Raises `InputError` if there are too few examples. Raises `MissingExtraError`
    if the library of the rule is not installed.

    Args:
        examples: Independent draws of secrets and outputs.
        rule: The classifier, such as `NeuralClassifier`; by default nearest neighbours, as many as the logarithm
            of the number of examples.
        failure: The probability with which a bound may be wrong.
        share: The part of the examples that learns.
        seed: For studies: makes the splits and the rule the same each time.

    Source:
        Cherubin, Chatzikokolakis and Palamidessi, "F-BLEAU", S&P 2019; Cover and Hart,
        "Nearest neighbor pattern classification", 1967; Stone, 1977.
    """
    binomial.check_failure(failure)
    classifier = NearestNeighbours() if rule is None else rule
    learning, judging = examples.split(share, seed=seed)
    attack = learn_attack(learning, classifier, judging, seed=seed)
    early = learn_attack(learning.split(0.5, seed=seed)[0], classifier, judging, seed=seed)
    single = attack if classifier == _ONE_NEIGHBOUR else learn_attack(learning, _ONE_NEIGHBOUR, judging, seed=seed)
    wrong, trials = len(judging) - attack.confusion.hits, len(judging)
    blind = 1 - attack.blind_hits / trials
    upper = float(binomial.upper(np.array([wrong]), np.array([trials]), failure / 2)[0])
    error = Bracket(_lower_bound(examples, failure, seed), attack.error, upper)
    corrected = max(0.0, min(2 * attack.error - early.error, attack.error, blind))
    limit = min(cover_hart(single.error, len(examples.space)), blind)
    return RiskEstimate(classifier.name, error, corrected, limit, blind, failure, len(learning), trials)


def cover_hart(error: float, secrets: int) -> float:
    """Return the least Bayes error R whose nearest-neighbour rule can have an error R_nn in the limit.

    R_nn <= R (2 - R n / (n - 1)) for n secrets (Cover and Hart, IEEE Trans. Information Theory 13(1), 1967).
    """
    most = (secrets - 1) / secrets
    return most * (1 - sqrt(max(0.0, 1 - error / most))) if most > 0 else 0.0


def _lower_bound(examples: Examples, failure: float, seed: int | None) -> float:
    if len(np.unique(examples.secrets)) < 2:
        return 0.0
    counts = _label_counts(examples, examples.points)
    # A quarter of the failure that is shared there among four bounds falls on this one.
    return max(0.0, estimate_guessing(Sample(counts), failure=min(2 * failure, 0.999), seed=seed).error.lower)


def _label_counts(examples: Examples, keys: Floats) -> NDArray[np.int64]:
    """Return the counts of labels for each distinct row of keys, array (labels, distinct)."""
    distinct, where = np.unique(keys, axis=0, return_inverse=True)
    counts = np.zeros((len(examples.space), len(distinct)), dtype=np.int64)
    np.add.at(counts, (examples.secrets, where.ravel()), 1)
    return counts


@dataclass(frozen=True, slots=True, repr=False)
class GridError(CompactRepr):
    """The error of the best guess of a label from the cell of a report.

    Attributes:
        cell: The side of a cell, in the unit of the reports.
        plug_in: The error of the best guess on the very hits that it was read from: on average too low, far so
            where cells were hit once or twice (H11); with one hit per cell it is 0 for every mechanism.
        error: The true error. The value is the plug-in less an estimate of its bias, from halves of the hits; no
            more than the error of the most frequent label. Each bound is wrong with probability ``failure / 2``.
        holdout: The error, on one half, of the guess learned on the other: on average too high.
        failure: The probability that one of the two bounds is wrong. It holds for independent hits: one report of
            each of many records. Many reports of each record describe these records only.
    """

    cell: float
    cells: int
    hits: int
    plug_in: float
    error: Bracket
    holdout: float
    failure: float

    def __str__(self) -> str:
        return (
            f"On cells of {self.cell:g} the Bayes error is about {self.error.value:.3f} "
            f"(plug-in {self.plug_in:.3f}, too low; held out {self.holdout:.3f}, too high) "
            f"from {self.hits:,} hits of {self.cells:,} cells."
        )


def grid_error(
    reports: Examples,
    cell: float,
    *,
    even: bool = False,
    failure: float = 0.05,
    halvings: int = 8,
    seed: int | None = None,
) -> GridError:
    """Estimate the Bayes error of the label given the grid cell of the report.

        P(cell i) = hits in i / hits;  P(label j | i) = hits of j in i / hits in i;
        error = sum over i of (1 - max over j of P(j|i)) P(i)

    The plug-in is biased low, as the maximum of noisy shares is too large. Where labels nearly tie, which is where
    the bias is largest, it falls like 1 / sqrt(hits): so the plug-in of a random half of the hits is lower still,
    and corrected = plug_in(all) + (plug_in(all) - mean plug_in(half)) / (sqrt(2) - 1), never beyond the held-out
    error, which is too high, nor beyond the error of the most frequent label, which needs no report. Raises
    `InputError` if the cell is not positive, or fewer than two labels were seen.

    Args:
        reports: The labels and their reports, numbers of any dimension.
        cell: The side of a cell. The cells cover all of the plane.
        even: Whether the origin is a corner of cells, as in a square grid around it with an even number of cells
            along its side, instead of the centre of one.
        failure: The probability with which one of the bounds may be wrong.
        halvings: The number of random halves that the correction averages over.
        seed: For studies: makes the halves the same each time.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, equations 25 to 27. The
        correction follows Quenouille's idea, with halves and this rate; it is not a bound.
    """
    if halvings < 1:
        raise InputError(f"{halvings} halves are too few.", "use at least one.")
    counts = cell_counts(reports, cell, even=even)
    rng = np.random.default_rng(seed)
    whole = plug_in_error(counts)
    n = int(counts.sum())
    flat, size = counts.ravel(), max(1, n // 2)
    subsets = (rng.multivariate_hypergeometric(flat, size, method="marginals") for _ in range(halvings))
    halves: Floats = np.array([plug_in_error(half.reshape(counts.shape)) for half in subsets])
    guessing = estimate_guessing(Sample(counts), failure=failure, seed=seed)
    holdout = guessing.error.value
    blind = 1.0 - float(counts.sum(axis=1).max()) / n  # at least the plug-in
    correction = (whole - float(halves.mean())) / (2**0.5 - 1)
    corrected = max(whole, min(whole + correction, holdout, blind))
    error = Bracket(guessing.error.lower, corrected, guessing.error.upper)
    return GridError(float(cell), counts.shape[1], n, whole, error, holdout, failure)


def cell_counts(reports: Examples, cell: float, *, even: bool = False) -> NDArray[np.int64]:
    """Return the counts of labels in each cell that was hit, array (labels, cells).

    The origin is the centre of a cell, or with ``even`` a corner of cells.
    """
    if not (np.isfinite(cell) and cell > 0):
        raise InputError(f"a cell of side {cell} is not possible.", "use a positive length.")
    return _label_counts(reports, np.floor(reports.points / cell + (0.0 if even else 0.5)))


def plug_in_error(counts: NDArray[np.int64]) -> float:
    """Return the plug-in Bayes error of counted hits, array (labels, cells), equation 27.

    Example:
        >>> import numpy as np
        >>> plug_in_error(np.array([[6, 1], [2, 1]]))
        0.3
    """
    return float((counts.sum() - counts.max(axis=0).sum()) / counts.sum())


@dataclass(frozen=True, slots=True)
class NeuralClassifier(Classifier):
    """A network of two hidden layers that learns the posterior by its cross entropy.

    Attributes:
        rate: The largest learning rate.
        device: Such as ``"cpu"``; by default a GPU where there is one.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, section IV (dense layers and
        softmax; sizes are our choice).
    """

    name: ClassVar[str] = "neural network"
    width: int = 64
    steps: int = 400
    batch: int = 512
    rate: float = 0.01
    device: str | None = None

    def fit(self, examples: Examples, *, seed: int | None = None) -> FittedRule:
        """Learn from examples; without torch it raises a `MissingExtraError`."""
        device = device_for("The neural attack", self.device)
        import torch

        from .neural_game import dense, seed_module, train_classifier

        centre, scale = examples.points.mean(axis=0), examples.points.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        torch_seed = int(np.random.SeedSequence(seed).generate_state(1)[0])
        points = torch.as_tensor((examples.points - centre) / scale, dtype=torch.float32, device=device)
        labels = torch.as_tensor(np.array(examples.secrets), device=device)
        source = torch.Generator(device).manual_seed(torch_seed)

        def batches() -> tuple[torch.Tensor, torch.Tensor]:
            rows = torch.randint(len(labels), (self.batch,), generator=source, device=device)
            return points[rows], labels[rows]

        size = len(examples.space)
        network = seed_module(lambda: dense(points.shape[1], self.width, size), torch_seed, device)
        train_classifier(network, batches, self.steps, self.rate)
        return _Network(network, centre, scale, device)


@dataclass(frozen=True, slots=True)
class _Network(FittedRule):
    network: Any
    centre: Floats
    scale: Floats
    device: Any

    def probabilities(self, points: Floats) -> Floats:
        import torch

        scaled = torch.as_tensor((points - self.centre) / self.scale, dtype=torch.float32, device=self.device)
        with torch.no_grad():
            beliefs: Floats = torch.softmax(self.network(scaled).double(), dim=1).cpu().numpy()
        return beliefs
