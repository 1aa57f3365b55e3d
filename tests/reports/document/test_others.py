"""The design among designs with other epsilons, which a report makes in limited time."""

import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.files import MechanismFile
from sfumato.proofs import VertexPrivacy
from sfumato.reports.document import OtherDesigns

from .conftest import CITY, FEW, held, report_of, report_without_drawings


def beside(found):
    """The others, without the design of the report."""
    return [each for each in found.facts.frontier if not each.this]


def section(found):
    return next(each for each in found.page.sections if each.title.startswith("What more or less"))


@pytest.mark.thinned(3)
@pytest.mark.parametrize("kind", [pytest.param("points", marks=pytest.mark.slow), "cells", "numbers", "near"])
def test_the_least_loss_lies_between_the_two_numbers(kind):
    file, others = held(kind), beside(report_of(kind, visits=kind == "points"))
    assert len(others) == 4
    for each in others[2:3]:
        epsilon = each.epsilon.value
        (promise,) = file.guarantees
        asked: sf.MetricPrivacy | sf.CoordinatePrivacy
        if isinstance(promise, VertexPrivacy):
            asked = sf.CoordinatePrivacy(epsilon, promise.promise.unit)
        elif isinstance(promise, sf.ThresholdPrivacy):
            asked = sf.ThresholdPrivacy(epsilon, promise.distance, promise.within)
        else:
            asked = sf.MetricPrivacy(epsilon, promise.metric)
        exact = sf.design(file.prior, loss=file.loss, guarantees=asked, solver="highs", method="table").certificate
        assert exact.bound >= each.loss.lower * (1 - 3e-3)
        assert each.loss.lower <= exact.loss * (1 + 1e-6)
        assert exact.bound <= each.loss.upper * (1 + 1e-6)


def test_this_design_is_told_by_the_prior_and_loss_of_the_file_whatever_the_visits_are():
    plain, seen = (report_of("cells", visits=visits).facts for visits in (False, True))
    this = [next(each for each in facts.frontier if each.this) for facts in (plain, seen)]
    assert (this[0].loss.lower, this[0].loss.upper) == (this[1].loss.lower, this[1].loss.upper)
    assert this[0].loss.lower == plain.cost.best.lower


def test_other_promises_are_kept():
    space = sf.Space.numbers(range(4), unit="km")
    metric = space.metric("absolute")
    asked: list[sf.MetricPrivacy | sf.DistortionPrivacy]
    asked = [sf.MetricPrivacy("1/km", metric), sf.DistortionPrivacy("0.6 km", metric)]
    made = sf.design(sf.Prior.uniform(space), loss=metric, guarantees=asked)
    found = report_without_drawings(made)
    # The attacker may guess what is reported, so no design loses less than they err by.
    assert all(each.loss.lower >= 0.599 for each in beside(found))
    alone = report_without_drawings(sf.design(sf.Prior.uniform(space), loss=metric, guarantees=asked[0]))
    assert min(each.loss.upper for each in beside(alone)) < 0.5
    assert "satisfy the guarantee on the attacker's error" in section(found).sentences[0]


def test_the_worst_secret_counts_where_the_design_was_for_it():
    space = sf.Space.numbers(range(4), unit="km")
    metric = space.metric("absolute")
    promise = sf.MetricPrivacy("1/km", metric)
    made = sf.design(sf.Prior(space, [0.9, 0.1, 0, 0]), loss=metric, guarantees=promise, objective="worst-case")
    found = report_without_drawings(made)
    doubled = sf.MetricPrivacy("2/km", metric)
    other = sf.design(made.problem.prior, loss=metric, guarantees=doubled, objective="worst-case").certificate
    told = next(each for each in beside(found) if each.epsilon.value == 2)
    assert told.loss.lower <= other.value * (1 + 1e-9)
    assert other.bound <= told.loss.upper * (1 + 1e-9)
    assert section(found).tables[0].headings[1] == "loss for the worst value, at most"


def test_losses_that_nothing_confirms_are_stated():
    space = sf.Space.numbers(range(3), unit="km")
    metric = space.metric("absolute")
    made = sf.design(sf.Prior.uniform(space), loss=metric, guarantees=sf.MetricPrivacy("1/km", metric))
    forged = sf.core.Loss(made.problem.loss.array / 1000, "km", name="mine")
    file = MechanismFile(made.mechanism, made.problem.prior, forged, made.problem.guarantees)
    found = report_without_drawings(file)
    assert {each.loss.known.value for each in found.facts.frontier} == {"stated by the file"}
    assert section(found).sentences[-1] == "Losses are by the file's own table, which nothing confirms."


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("bare", "guarantees no epsilon"),
        ("error", "guarantees no epsilon"),
        ("broken", "is not proved"),
        ("unused", "is not known"),
        pytest.param("noise", "--frontier-time 60", marks=pytest.mark.slow),
    ],
)
def test_the_page_says_why_there_are_none(kind, why):
    found = report_of(kind)
    assert not found.facts.frontier
    assert found.facts.frontier_left_out
    (said,) = section(found).sentences
    assert why in said


def test_several_epsilons_and_no_time_are_told():
    space = sf.Space.numbers(range(3), unit="km")
    metric = space.metric("absolute")
    both = [sf.MetricPrivacy("1/km", metric), sf.MetricPrivacy(2, sf.hamming(space))]
    made = sf.design(sf.Prior.uniform(space), loss=metric, guarantees=both)
    assert "Several guarantees have an epsilon" in section(report_without_drawings(made)).sentences[0]
    late = report_without_drawings(held("numbers"), designs=OtherDesigns(stop=lambda: True))
    assert "--frontier-time" in section(late).sentences[0]


def test_a_stop_keeps_what_is_there():
    begun: list[tuple[int, int]] = []
    others = OtherDesigns(
        stop=lambda: len(begun) >= 2, progress=lambda number, total: begun.append((number, total))
    )
    found = report_without_drawings(held("numbers"), designs=others)
    assert begun == [(1, 4), (2, 4)]
    assert 1 <= len(beside(found)) <= 2
    assert f"compared with {len(beside(found))} other design" in section(found).sentences[0]


@pytest.mark.parametrize("seconds", [-1.0, float("inf"), float("nan")])
def test_times_that_are_none_are_refused(seconds):
    with pytest.raises(InputError, match="not a number of seconds"):
        OtherDesigns(seconds)


@pytest.mark.slow
def test_noise_is_shown_beside_noise_with_other_epsilons():
    found = report_without_drawings(held("noise"), visits=FEW)
    losses = [each.loss.value for each in found.facts.frontier]
    assert len(losses) == 5
    assert losses == sorted(losses, reverse=True)
    assert all(each.loss.lower is None for each in beside(found))
    assert section(found).tables[0].headings[1] == "average distance from the true point, at most"


@pytest.mark.slow
def test_losses_of_true_points_are_confirmed_by_the_visits(tmp_path):
    sf.save(held("cells"), tmp_path / "cells.sfm")
    read = sf.read_mechanism_file(tmp_path / "cells.sfm")
    known = [
        {each.loss.known.value for each in report_without_drawings(read, visits=visits).facts.frontier}
        for visits in (None, CITY)
    ]
    assert known == [{"stated by the file"}, {"proved"}]
    half = CITY.select(CITY.lat > CITY.region().centre[0])
    assert {each.loss.known.value for each in report_without_drawings(read, visits=half).facts.frontier} == {
        "stated by the file"
    }
