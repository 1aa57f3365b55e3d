"""The slow, exact ways to what the accountant computes."""

import math
from itertools import combinations_with_replacement, product

import numpy as np
from hypothesis import strategies as st
from scipy.special import gammaln


def laws_of_multisets(p, q, nu, dummies):
    """Both laws of the multiset of reports, by listing all of them: two arrays."""
    m, n = len(nu), dummies + 1
    first, second = [], []
    for members in combinations_with_replacement(range(m), n):
        counts = np.bincount(members, minlength=m)
        orders = math.factorial(n) / math.prod(math.factorial(int(c)) for c in counts)
        laws = []
        for law in (p, q):
            # The true report stands at one of n places; the others are dummies.
            total = 0.0
            for y in np.flatnonzero(counts):
                rest = counts.copy()
                rest[y] -= 1
                total += (
                    counts[y] / n * law[y] * math.prod(float(v) ** int(c) for v, c in zip(nu, rest, strict=True))
                )
            laws.append(orders * total)
        first.append(laws[0])
        second.append(laws[1])
    return np.array(first), np.array(second)


def delta(p, q, nu, dummies, epsilon):
    """The hockey-stick divergence of the two laws of multisets."""
    first, second = laws_of_multisets(p, q, nu, dummies)
    return math.fsum(np.maximum(first - math.exp(epsilon) * second, 0.0).tolist())


def delta_of_three_kinds(p, q, nu, dummies, epsilon):
    """The same for three observables, or fewer, by the multinomial law of their counts."""
    n = dummies + 1
    a, b = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    c = n - a - b
    fits = c >= 0
    a, b, c = a[fits], b[fits], c[fits]
    logs = gammaln(n + 1) - gammaln(a + 1) - gammaln(b + 1) - gammaln(c + 1)
    weight = np.zeros(len(a))
    for count, p_, q_, v in zip((a, b, c), p, q, nu, strict=True):
        logs = logs + count * math.log(v)
        weight = weight + count * (p_ - math.exp(epsilon) * q_) / v
    return float((np.exp(logs) * np.maximum(weight, 0.0)).sum()) / n


def least_losses(own, nu, losses, dummies):
    """E[min of the losses of one report and k dummies], by listing all tuples."""
    m = len(nu)
    total = 0.0
    for members in product(range(m), repeat=dummies + 1):
        total += own[members[0]] * math.prod(nu[y] for y in members[1:]) * min(losses[y] for y in members)
    return total


@st.composite
def settings(draw, observables=4):
    """p, q and nu with zeros: an observable that nobody reports and one that is never drawn as a dummy."""
    weights = st.lists(st.integers(0, 6), min_size=observables, max_size=observables).filter(any)
    p, q = (np.array(draw(weights), dtype=float) for _ in range(2))
    nu = np.array(draw(st.lists(st.integers(1, 6), min_size=observables, max_size=observables)), dtype=float)
    if draw(st.booleans()):
        p[0] = q[0] = 0.0
        p[-1] += 1
        q[1] += 1
        nu[0] = draw(st.integers(0, 1))
    return p / p.sum(), q / q.sum(), nu / nu.sum()
