"""Claims of evidence, recomputed in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, ctx

from sfumato.core import Mechanism, Prior
from sfumato.core.arrays import Floats

BITS = 600


def weights(mechanism: Mechanism) -> list[list[int]]:
    """The integers as Python's own."""
    return [[int(w) for w in row] for row in mechanism.weights]


def probabilities(mechanism: Mechanism) -> list[list[Fraction]]:
    """The true probabilities."""
    return [[Fraction(w, 2**mechanism.bits) for w in row] for row in weights(mechanism)]


def epsilons(mechanism: Mechanism, distances: Floats) -> dict[tuple[int, int], arb]:
    """The least epsilon of each ordered pair that the metric protects, to 600 bits."""
    rows = weights(mechanism)
    found = {}
    with ctx.workprec(BITS):
        for s, t in ((s, t) for s in range(len(rows)) for t in range(len(rows)) if s != t):
            d = float(distances[s, t])
            if math.isinf(d):
                continue
            if d == 0:
                found[s, t] = arb(0) if rows[s] == rows[t] else arb("inf")
                continue
            pairs = [(a, b) for a, b in zip(rows[s], rows[t], strict=True) if a > 0]
            if any(b == 0 for _, b in pairs):
                found[s, t] = arb("inf")
            else:
                a, b = max(pairs, key=lambda pair: Fraction(*pair))
                found[s, t] = (arb(a) / arb(b)).log() / arb(d)
    return found


def epsilon(mechanism: Mechanism, distances: Floats) -> float:
    """The least epsilon, as the nearest float; 0 where no pair is protected."""
    return max((float(e.mid()) for e in epsilons(mechanism, distances).values()), default=0.0)


def private(mechanism: Mechanism, distances: Floats, claimed: float) -> bool:
    """Whether p(o|s) <= e^(claimed d) p(o|s') for all pairs, decided to 600 bits."""
    rows = weights(mechanism)
    with ctx.workprec(BITS):
        for s, a in enumerate(rows):
            for t, b in enumerate(rows):
                d = float(distances[s, t])
                if math.isinf(d):
                    continue
                limit = (arb(claimed) * arb(d)).exp()
                if any(not arb(x) <= limit * y for x, y in zip(a, b, strict=True)):
                    return False
    return True


def expected(mechanism: Mechanism, prior: Prior, loss: Floats) -> Fraction:
    """The expected loss as a fraction; the prior is the floats themselves."""
    return sum(
        (
            Fraction(float(pi)) * p * Fraction(float(x))
            for pi, row, losses in zip(prior.probabilities, probabilities(mechanism), loss, strict=True)
            for p, x in zip(row, losses, strict=True)
        ),
        Fraction(0),
    )


def worst(mechanism: Mechanism, loss: Floats) -> Fraction:
    """The worst-case loss as a fraction."""
    return max(
        sum((p * Fraction(float(x)) for p, x in zip(row, losses, strict=True)), Fraction(0))
        for row, losses in zip(probabilities(mechanism), loss, strict=True)
    )


def distortion(mechanism: Mechanism, prior: Prior, distance: Floats) -> Fraction:
    """The optimal attack's error as a fraction."""
    rows = probabilities(mechanism)
    pi = [Fraction(float(p)) for p in prior.probabilities]
    total = Fraction(0)
    for o in range(mechanism.shape[1]):
        total += min(
            sum((pi[s] * rows[s][o] * Fraction(float(d)) for s, d in enumerate(guess)), Fraction(0))
            for guess in distance
        )
    return total
