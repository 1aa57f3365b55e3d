"""Attackers of a file's mechanism: with no report, one or several, and with or without the prior."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Final, NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array

from ...attacks import PlaceAttack, chance_of_points, goals, true_place, unweighted_attack
from ...core import Bracket, Mechanism, Metric, Prior, Space, hamming
from ...core.arrays import Floats, distinct_points
from ...errors import InputError
from ...files import MechanismFile
from ...geo import DISTANCES, Lattice, Places, Projection, TruePoints, Visits, medians
from ...leakage import mutual_information_bits
from ...mechanisms.planar import CoordinateNoise, TableShares, table_shares
from ...mechanisms.tupling import quality_loss
from ...proofs import PlaceDistortion, distortion_below
from ...rounding import UNIT, up
from .mechanism import REPORTS, centres_m, kind_of, of_numbers
from .types import AttackFacts, Evidence, InformationFacts, Quantity, TupleFacts

_ROUNDING: Final = 1e-12  # relative, of sums in floats
_GOALS: Final = {"points": "vertex", "cells": "cell"}
CONFIDENCE: Final = 0.99  # probability that the two bounds of a simulated number hold together
_LOG_ZERO: Final = -1e6  # stands for the logarithm of 0: one impossible report outweighs a hundred possible ones
_DRAWS: Final = 1000  # simulated cases
_ENTRIES: Final = 2_400_000  # of beliefs held at once
_FEWEST: Final = 200  # cases that are worth stating
_TOLERANCE_M: Final = 0.01  # of the expected distance of a guess
SEED: Final = 20260  # seed of simulated cases, so that a report has the same numbers when it is written again
_TABLE_SIZE: Final = 1 << 24  # probabilities: some seconds
_PAIRS: Final = 1 << 22  # of points and reports at a time
_SQUARES: Final = 8_000  # of guesses
_TOLERANCE: Final = 0.01  # of the chance
_NOISE_DRAWS: Final = 5000  # simulated cases of noise


def silent(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism on the same secrets that always makes the same report."""
    return Mechanism(np.ones((len(mechanism.secrets), 1)), mechanism.secrets, Space(["nothing"]))


def always_found(mechanism: Mechanism, prior: Prior) -> bool:
    """Return whether every report comes from a single possible secret, by the integers that are sampled."""
    return bool(((mechanism.weights[prior.support] != 0).sum(axis=0) <= 1).all())


def information_of(mechanism: Mechanism, prior: Prior) -> InformationFacts:
    """Return an upper bound of the bits that a report reveals on average."""
    n, m = mechanism.shape
    rows = mechanism.weights[prior.support]
    if (rows == rows[0]).all():
        return InformationFacts(0.0, prior.entropy_bits)
    bits = mutual_information_bits(mechanism, prior) + (n + m + 16) * 8 * UNIT * (1 + math.log2(n * m))
    whole = min(len(rows), m)  # as many values, or reports, can be distinguished at most
    limit = math.log2(whole) if whole.bit_count() == 1 else up(math.log2(whole))
    return InformationFacts(min(bits, limit), prior.entropy_bits)


def attacks_of(file: MechanismFile, visits: Visits | None, known: Evidence) -> tuple[tuple[AttackFacts, ...], str]:
    """Return the success of attackers, and the key of the reason why several reports are not simulated."""
    if not file.has_matrix:
        noise = noise_on_points(file.noise, visits)
        if visits is None or noise == "unsaid":
            return (), "unsaid"
        attack = true_place(file.noise, visits, unit="m")
        if isinstance(noise, str):
            return point_attacks(attack), noise
        return (*point_attacks(attack, noise.misinformed_error()), *map(noise.combine_reports, REPORTS[1:])), ""
    mechanism, prior = file.report_channel, file.prior
    places = mechanism.secrets
    if visits is not None and isinstance(places, Places):
        return _of_points(mechanism, places, visits, known)
    if prior is None:
        return (), "prior"
    if isinstance(places, Lattice):  # distances of vertices are not those of the points that are rounded to them
        return _of_secrets(mechanism, prior, None), "visits"
    if isinstance(places, Places):
        metric: Metric | None = places.metric("euclidean", unit="km")
    else:
        metric = places.metric("absolute") if of_numbers(places) else None
    listed = _of_secrets(mechanism, prior, metric)
    distance, unit = (None, "") if metric is None else (metric.array, metric.unit)
    goal, shares = _goal(mechanism), prior.probabilities
    many = repeated_attacks(mechanism.matrix, shares, REPORTS[1:], goal, unit, distance=distance)
    return (*listed, *many), "" if many else "size"


def single_attacks(
    mechanism: Mechanism, prior: Prior, metric: Metric | None, visits: Visits | None = None
) -> tuple[AttackFacts, ...]:
    """Return attacks with one report and with none: on secrets, and on the true points of visits if given."""
    if visits is None or not isinstance(mechanism.secrets, Places):
        return _of_secrets(mechanism, prior, metric)
    return (*point_attacks(true_place(mechanism, visits, unit="m")), *_of_secrets(mechanism, prior, None))


def tuples_of(file: MechanismFile) -> TupleFacts | None:
    """Return the proofs, loss and attackers of a file whose reports are sent among dummies, else None."""
    tupling, prior, loss = file.tupling, file.prior, file.loss
    if tupling is None:
        return None
    proofs = [promise.prove(tupling) for promise in file.tuple_guarantees]
    best = single = None
    if prior is not None and loss is not None:
        best = Quantity.at_most(quality_loss(tupling, prior, loss), loss.unit, Evidence.ESTIMATED)
        single = Quantity.at_most(tupling.inner.expected_loss(prior, loss), loss.unit, Evidence.ESTIMATED)
    attacks: tuple[AttackFacts, ...] = ()
    if prior is not None:
        with suppress(InputError):  # too many tuples to list
            attacks = _of_secrets(tupling.channel(), prior, None)
    sentences = tuple(proof.sentence for proof in proofs)
    return TupleFacts(tupling.queries, sentences, all(proof.holds for proof in proofs), best, single, attacks)


def visits_in(file: MechanismFile) -> Visits | None:
    """Return the visits that a file stores, if any."""
    if not file.has_matrix:
        return None
    return next(
        (guarantee.visits for guarantee in file.guarantees if isinstance(guarantee, PlaceDistortion)), None
    )


def point_attacks(
    attack: PlaceAttack, misinformed: float | None = None, known: Evidence = Evidence.PROVED
) -> tuple[AttackFacts, ...]:
    """Return attacks on true points, errors in metres; without the misinformed one if its error is None."""
    errors = (
        ("blind", 0, Quantity.of(attack.blind, "m", known)),
        ("informed", 1, Quantity.of(attack.error, "m", known)),
        *(() if misinformed is None else (("misinformed", 1, Quantity.about(misinformed, "m")),)),
        ("bare", 1, Quantity.exact(0.0, "m")),
    )
    return tuple(AttackFacts(kind, reports, "point", None, error) for kind, reports, error in errors)


def _of_secrets(mechanism: Mechanism, prior: Prior, metric: Metric | None) -> tuple[AttackFacts, ...]:
    """Return attacks on vertices, cells or values, with errors in a metric."""
    goal = _goal(mechanism)
    aim: Metric = hamming(prior.space) if metric is None else metric
    unit, success = aim.unit, goals(mechanism, prior, aim)
    most = min(1.0, -distortion_below(mechanism, prior, -np.eye(len(prior))))
    blind = Quantity.exact(float(prior.probabilities.max()))
    informed = (
        Quantity.exact(1.0)
        if always_found(mechanism, prior)
        else Quantity(min(most, success.hit_rate * (1 - _ROUNDING)), min(most, success.hit_rate), most)
    )
    plain = unweighted_attack(mechanism, prior, hamming(prior.space))
    errors: dict[str, Quantity | None] = dict.fromkeys(("blind", "informed", "bare", "misinformed"))
    if metric is not None:
        least, error = distortion_below(mechanism, prior, metric), success.near.error
        errors = {
            "blind": Quantity.about(success.near_blind.error, unit),
            "informed": Quantity(least, max(least, error), error * (1 + _ROUNDING), unit),
            "bare": Quantity.exact(0.0, unit),
            "misinformed": Quantity.about(unweighted_attack(mechanism, prior, metric).error, unit),
        }
    listed = (
        AttackFacts("blind", 0, goal, blind, errors["blind"]),
        AttackFacts("informed", 1, goal, informed, errors["informed"]),
        AttackFacts("misinformed", 1, goal, Quantity.about(plain.hit_rate or 0.0), errors["misinformed"]),
    )
    # The exact place is never a vertex, so without the mechanism there is nothing to say of vertices.
    bare = () if goal == "vertex" else (AttackFacts("bare", 1, goal, Quantity.exact(1.0), errors["bare"]),)
    return (*listed, *bare)


def _of_points(
    mechanism: Mechanism, places: Places, visits: Visits, known: Evidence
) -> tuple[tuple[AttackFacts, ...], str]:
    points = places.true_points(visits)
    attack = true_place(mechanism, visits, unit="m")
    centres = centres_m(places)
    guesses = centres[(DISTANCES["euclidean"](centres, centres) @ mechanism.matrix).argmin(axis=0)]
    misinformed = float((points.distances(guesses) * mechanism.matrix).sum())  # takes secrets for equally likely
    listed = point_attacks(attack, misinformed, known)
    weights = np.asarray(points.masses.sum(axis=1)).ravel()
    channel = np.asarray(points.masses @ mechanism.matrix) / weights[:, None]
    many = repeated_attacks(channel, weights / weights.sum(), REPORTS[1:], "point", "m", points=points.xy)
    return (*listed, *many), "" if many else "size"


def _goal(mechanism: Mechanism) -> str:
    return _GOALS.get(kind_of(mechanism.secrets), "value")


def repeated_attacks(
    channel: Floats,
    prior: Floats,
    reports: tuple[int, ...],
    goal: str = "value",
    unit: str = "",
    *,
    distance: Floats | None = None,
    points: Floats | None = None,
) -> tuple[AttackFacts, ...]:
    """Return the success of an attacker who knows prior and mechanism, for each number of combined reports.

    Nothing is returned where there are too many secrets to simulate enough cases. Secrets are drawn from the
    prior, reports from the channel p(o|s), array (n, m). The belief is computed exactly in each case, and the
    success of its best guess is taken from that belief, which has less variance than counting hits. Errors are in
    a distance d(guess, s), array (guesses, n), or between points of secrets, array (n, 2). The bounds hold with
    probability 0.99.
    """
    possible = np.flatnonzero(prior > 0)
    channel, prior = channel[possible], prior[possible] / prior[possible].sum()
    draws = min(_DRAWS, _ENTRIES // len(prior))
    if draws < _FEWEST:
        return ()
    rows = channel / channel.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        logs = np.where(rows > 0, np.log(rows), _LOG_ZERO)
    randomness = np.random.default_rng(SEED)
    secrets = randomness.choice(len(prior), size=draws, p=prior)
    attacks = []
    for count in reports:
        counts = randomness.multinomial(count, rows[secrets])
        belief = _normalise(np.log(prior) + counts @ logs.T)
        hit = None if goal == "point" else bounded_mean(belief.max(axis=1), 1.0)
        error = None
        if distance is not None:
            d = distance[:, possible]
            error = bounded_mean((belief @ d.T).min(axis=1), float(d.max()), unit)
        elif points is not None:
            error = bounded_mean(near_best(belief, points[possible])[1], widest(points[possible]), unit)
        attacks.append(AttackFacts("repeated", count, goal, hit, error, draws))
    return tuple(attacks)


def _normalise(logs: Floats) -> Floats:
    """Return rows of beliefs from their logarithms up to a constant for each row."""
    belief: Floats = np.exp(logs - logs.max(axis=1, keepdims=True))
    belief /= belief.sum(axis=1, keepdims=True)
    return belief


def bounded_mean(values: Floats, most: float, unit: str = "") -> Quantity:
    """Return the mean of values in [0, most], with the bounds of Maurer and Pontil (2009, theorem 4)."""
    n, mean, off = len(values), float(values.mean()), 0.0
    if most > 0:
        log, spread = math.log(4 / (1 - CONFIDENCE)), float(values.std(ddof=1)) / most
        off = most * (math.sqrt(2 * spread**2 * log / n) + 7 * log / (3 * (n - 1)))
    return Quantity(max(0.0, mean - off), mean, min(most, mean + off), unit, Evidence.ESTIMATED, CONFIDENCE)


def near_best(belief: Floats, points: Floats) -> tuple[Floats, Floats]:
    """Return a point near the best guess for each belief (draws, n), array (draws, 2), and its expected error."""
    guesses = medians(points, belief, belief @ points, _TOLERANCE_M)
    errors = (belief * np.hypot(guesses[:, :1] - points[:, 0], guesses[:, 1:] - points[:, 1])).sum(axis=1)
    return guesses, errors


def widest(points: Floats) -> float:
    """Return an upper bound of the distance of two of these points, array (n, 2)."""
    return float(np.hypot(*np.ptp(points, axis=0)))


class NoiseOnPoints(NamedTuple):
    """Noise on the points where people were."""

    noise: CoordinateNoise
    plane: Projection
    points: Floats  # distinct, metres, array (n, 2)
    shares: Floats  # of the visits, array (n,)
    table: TableShares  # the probability of each report at each point

    def chance_within(self, radius_m: float) -> Bracket:
        """Return proved bounds of the probability that the best guess after one report is within a radius."""
        points = TruePoints(self.points, csr_array(diags_array(self.shares)))
        return chance_of_points(
            points,
            self.table.shares,
            radius_m,
            self.plane,
            off=self.table.off,
            tolerance=_TOLERANCE,
            squares=_SQUARES,
        )

    def misinformed_error(self) -> float:
        """Return the error, metres, of an attacker who takes all points for equally likely and guesses one."""
        apart = DISTANCES["euclidean"](self.points, self.points)
        guesses = self.points[(apart @ self.table.shares).argmin(axis=0)]
        off = DISTANCES["euclidean"](self.points, guesses)
        return float(self.shares @ (off * self.table.shares).sum(axis=1))

    def combine_reports(self, count: int) -> AttackFacts:
        """Return the simulated error, from the true point, of an attacker who combines several reports of it.

        Reports are drawn by the noise itself; the attacker's belief uses the probabilities of `table`.
        """
        randomness = np.random.default_rng(SEED)
        true = randomness.choice(len(self.points), size=_NOISE_DRAWS, p=self.shares)
        positions = self.noise.simulate(np.repeat(self.points[true], count, axis=0), seed=SEED + count)
        reports = self.table.reports(positions).reshape(_NOISE_DRAWS, count)
        with np.errstate(divide="ignore"):
            logs = np.maximum(np.log(self.table.shares), _LOG_ZERO)
        belief = np.empty((_NOISE_DRAWS, len(self.points)))
        tall = max(1, _PAIRS // (len(self.points) * count))
        for first in range(0, _NOISE_DRAWS, tall):
            rows = slice(first, first + tall)
            belief[rows] = logs[:, reports[rows]].sum(axis=2).T
        belief += np.log(self.shares)
        belief = _normalise(belief)
        guesses, _ = near_best(belief, self.points)
        most = widest(self.points)
        errors = np.minimum(np.hypot(*(guesses - self.points[true]).T), most)
        return AttackFacts("repeated", count, "point", None, bounded_mean(errors, most, "m"), _NOISE_DRAWS)


def noise_on_points(noise: CoordinateNoise, visits: Visits | None) -> NoiseOnPoints | str:
    """Return noise on the points of visits, or the key of the reason why it is not computed."""
    if visits is None or not (inside := noise.serves(visits.lat, visits.lon)).any():
        return "unsaid"
    plane = noise.projection
    if plane is None or noise.remap is None:
        return "table"
    xy = plane.forward(visits.lat[inside], visits.lon[inside])
    points, _, times = distinct_points(xy)
    table = table_shares(noise, points, _TABLE_SIZE)
    return "size" if table is None else NoiseOnPoints(noise, plane, points, times / times.sum(), table)
