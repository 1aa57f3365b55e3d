"""Laplace noise: epsilon and width, in real numbers, integers and floats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.integrate import quad

from sfumato.core.immutable import CompactRepr
from sfumato.mechanisms import DiscreteLaplace, Laplace
from sfumato.privacy import DifferentialPrivacy, Relation
from sfumato.sampling import simulator

EPSILONS: Final = ("1/10", "1/2", "1", "2")
SENSITIVITIES: Final = (1, 3)
_UNIT: Final = 2.0**-53
_STEPS: Final = 6  # answers of a range, in units of the sensitivity


@dataclass(frozen=True, slots=True, repr=False)
class NoiseRow(CompactRepr):
    """Laplace noise of a sensitivity and an epsilon.

    Attributes:
        epsilon: The epsilon that was asked for.
        sensitivity: The largest change of the answer by one record.
        scale: The scale of the noise, sensitivity / epsilon.
        deviation: The standard deviation of noise in real numbers, from its density by quadrature.
        deviation_formula: The same by the formula sqrt(2) sensitivity / epsilon.
        deviation_of_integers: The standard deviation of integer noise, from its probabilities.
        kept: The epsilon of integer noise on a range between neighbours, from its integers, rounded up.
    """

    epsilon: float
    sensitivity: int
    scale: float
    deviation: float
    deviation_formula: float
    deviation_of_integers: float
    kept: float


@dataclass(frozen=True, slots=True, repr=False)
class DrawRow(CompactRepr):
    """Drawn integer noise.

    Attributes:
        epsilon: The epsilon, at sensitivity 1.
        seed: The seed.
        draws: How many.
        absolute: The mean absolute noise of the draws.
        absolute_closed: The same by the closed form.
        near: The share of draws within one scale.
        near_closed: The same by the closed form.
    """

    epsilon: float
    seed: int
    draws: int
    absolute: float
    absolute_closed: float
    near: float
    near_closed: float


@dataclass(frozen=True, slots=True, repr=False)
class FloatRow(CompactRepr):
    """Textbook noise in floats for the answers 0 and 1, and the reports that distinguish them.

    Attributes:
        epsilon: The epsilon of the mathematics, at sensitivity 1.
        seed: The seed.
        draws: How many reports for each answer.
        told_0: The share of reports of the answer 0 that the answer 1 can never make.
        told_1: The same share for the answer 1; it must be 0.
    """

    epsilon: float
    seed: int
    draws: int
    told_0: float
    told_1: float


@dataclass(frozen=True, slots=True, repr=False)
class ReportRow(CompactRepr):
    """A report and its probabilities for two neighbouring answers.

    Attributes:
        report: The report.
        from_10: Its probability where the true answer is 10.
        from_11: Where it is 11.
    """

    report: int
    from_10: float
    from_11: float


def noise_rows() -> list[NoiseRow]:
    """Return Laplace noise at several epsilons and sensitivities."""
    return [_noise(epsilon, sensitivity) for epsilon in EPSILONS for sensitivity in SENSITIVITIES]


def _noise(epsilon: str, sensitivity: int) -> NoiseRow:
    whole = DiscreteLaplace(epsilon, sensitivity)
    real = Laplace(whole.epsilon, float(sensitivity))
    half, _ = quad(lambda x: x**2 * float(real.density(x)), 0.0, 60 * real.scale, epsabs=0.0, epsrel=1e-10)
    far = math.ceil(60 * real.scale)
    k = np.arange(-far, far + 1)
    family = whole.clamped(0, _STEPS * sensitivity)
    near = Relation.within(family.metric, 1)
    return NoiseRow(
        whole.epsilon,
        sensitivity,
        real.scale,
        math.sqrt(2 * half),
        math.sqrt(2) * sensitivity / whole.epsilon,
        math.sqrt(float((k**2 * whole.pmf(k)).sum())),
        DifferentialPrivacy(near).measure(family.mechanism()).upper,
    )


def draw_rows(seed: int, draws: int) -> list[DrawRow]:
    """Return statistics of integer noise, drawn as for releases but with a seed."""
    found = []
    for epsilon in EPSILONS:
        noise = DiscreteLaplace(epsilon)
        drawn = simulator(noise, seed=seed).draw(np.zeros(draws, dtype=np.int64))
        within = math.floor(1 / noise.epsilon)
        found.append(
            DrawRow(
                noise.epsilon,
                seed,
                draws,
                float(np.abs(drawn).mean()),
                noise.absolute,
                float((np.abs(drawn) <= within).mean()),
                1 - 2 * noise.tail(within + 1),
            )
        )
    return found


def float_rows(seed: int, draws: int) -> list[FloatRow]:
    """Return how often textbook noise in floats reveals the answer.

    A float x between -1/2 and 1/2 that is not a multiple of 2**-53 cannot be 1 + n for any float n: then n lies
    between -3/2 and -1/2, is a multiple of 2**-53, and the sum is exact (Sterbenz). It can be 0 + n.

    Source:
        Mironov, "On significance of the least significant bits for differential privacy", CCS 2012.
    """
    found = []
    for epsilon in EPSILONS:
        noise = Laplace(float(DiscreteLaplace(epsilon).epsilon))
        shares = []
        for answer in (0.0, 1.0):
            rng = np.random.default_rng([seed, int(answer)])
            report = noise.simulate(np.full(draws, answer), rng)
            inside = np.abs(report) < 0.5  # half the way to the other answer
            shares.append(float((inside & (np.fmod(report, _UNIT) != 0)).mean()))
        found.append(FloatRow(noise.epsilon, seed, draws, shares[0], shares[1]))
    return found


def report_rows() -> list[ReportRow]:
    """Return the probabilities of reports of two neighbouring counts, 10 and 11, at epsilon 1/2."""
    noise = DiscreteLaplace("1/2")
    reports = np.arange(22)
    return [
        ReportRow(int(o), float(p), float(q))
        for o, p, q in zip(reports, noise.pmf(reports - 10), noise.pmf(reports - 11), strict=True)
    ]
