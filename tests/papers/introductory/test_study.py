"""The introduction's numbers by other routes: sums, closed forms and brute force."""

import dataclasses
import itertools
import math
from fractions import Fraction

import pytest

from sfumato_papers.introductory.claims import _floats
from sfumato_papers.introductory.experiments import (
    QUERIES,
    choice_rows,
    draw_rows,
    float_rows,
    joint_rows,
    noise_rows,
    odds_rows,
    report_rows,
    sensitivity_rows,
    steep_rows,
)
from sfumato_papers.reproduction import Judgement


def test_noise_is_as_wide_as_its_formulas_and_keeps_its_epsilon():
    for row in noise_rows():
        rate = row.epsilon / row.sensitivity
        assert row.scale == pytest.approx(1 / rate)
        assert row.deviation == pytest.approx(math.sqrt(2) / rate, rel=1e-8)
        assert row.deviation_of_integers == pytest.approx(1 / (math.sqrt(2) * math.sinh(rate / 2)), rel=1e-8)
        assert row.kept == pytest.approx(row.epsilon, rel=1e-9)
        assert row.kept <= row.epsilon


def test_draws_have_their_law():
    for row in draw_rows(5, 40_000):
        q = math.exp(-row.epsilon)
        assert row.absolute_closed == pytest.approx(2 * q / (1 - q**2))
        assert row.absolute == pytest.approx(row.absolute_closed, rel=0.05)


def test_floats_tell_one_answer_only():
    """About the mass of (-1/2, 1/2), less the floats there that happen to be multiples of 2**-53."""
    for row in float_rows(2, 20_000):
        inside = -math.expm1(-row.epsilon / 2)
        assert 0.3 * inside < row.told_0 < inside + 0.02
        assert row.told_1 == 0


def test_no_epsilon_covers_floats_where_the_other_answer_never_makes_a_report():
    rows = float_rows(1, 2_000)
    claim = _floats(rows)
    assert claim.verdict is Judgement.CONFIRMED
    assert claim.found.endswith("Of the reports of the answer 1 none are. No epsilon covers that.")
    some = _floats([dataclasses.replace(row, told_1=0.01) for row in rows])
    assert some.verdict is not Judgement.CONFIRMED
    assert some.found.endswith("Of the reports of the answer 1 about 1 % are.")


def test_reports_of_neighbours_differ_by_the_factor():
    rows = report_rows()
    for row in rows:
        assert abs(math.log(row.from_10 / row.from_11)) == pytest.approx(0.5)
    assert sum(row.from_10 for row in rows) == pytest.approx(1, abs=0.01)


def test_odds_are_multiplied():
    for row in odds_rows():
        odds = row.prior / (1 - row.prior) * math.exp(row.epsilon * row.reports)
        assert row.posterior == pytest.approx(odds / (1 + odds), rel=1e-9)


def test_sensitivities_by_brute_force():
    found = {row.query: row.sensitivity for row in sensitivity_rows()}
    for name, query in QUERIES.items():
        slow = max(
            abs(query((*data, more)) - query(data))
            for size in range(3)
            for data in itertools.product((0, 1, 2), repeat=size)
            for more in (0, 1, 2)
        )
        assert found[name] == slow


def test_joint_queries_cost_the_sum_where_a_record_moves_all():
    rows = {(row.queries, row.epsilons): row for row in joint_rows()}
    largest = {row.query: row.sensitivity for row in sensitivity_rows()}
    among = [data for size in range(3) for data in itertools.product((0, 1, 2), repeat=size)]
    for row in rows.values():
        assert row.kept <= row.allowed * (1 + 1e-9)
        names, shares = row.queries.split(" and "), map(Fraction, row.epsilons.split())
        rates = {name: float(share) / largest[name] for name, share in zip(names, shares, strict=True)}
        steps = [
            sum(rate * abs(QUERIES[name]((*data, more)) - QUERIES[name](data)) for name, rate in rates.items())
            for data in among
            for more in (0, 1, 2)
        ]
        assert row.kept == pytest.approx(max(steps), rel=1e-9)
    assert rows["records and sum, from 0 to 2 each", "1/3 2/3"].kept == pytest.approx(1)
    assert rows["records above 0 and records of 0", "1/2 1/2"].kept == pytest.approx(0.5)
    assert rows["records and sum, from 0 to 2 each", "1/4 1"].kept == pytest.approx(1.25)


def test_steep_tables_by_their_closed_form():
    """The first answer has probability e^c / (e^c + m - 1), and 1 / (1 + (m - 1) e^c) in the other data set."""
    for row in steep_rows():
        c, m = row.promised / 2, row.answers
        first = math.exp(c) / (math.exp(c) + m - 1)
        other = 1 / (1 + (m - 1) * math.exp(c))
        assert row.kept == pytest.approx(math.log(first / other))
        assert row.measured == pytest.approx(row.kept, rel=1e-9)
        assert row.measured <= row.promised
        assert row.range == pytest.approx(2 * c)


def test_random_tables_keep_what_their_kind_promises():
    rows = choice_rows(4, 24)
    assert {row.kind for row in rows} == {"any", "monotone", "symmetric"}
    for row in rows:
        half = 1 if row.kind == "any" else 2
        assert row.measured <= row.promised / half * (1 + 1e-9)
        assert row.measured == pytest.approx(row.kept, abs=1e-6)
        assert row.measured_range == pytest.approx(row.range, abs=1e-6)
        assert row.range <= row.promised * (1 + 1e-9)
        assert row.below_best <= row.below_best_bound
