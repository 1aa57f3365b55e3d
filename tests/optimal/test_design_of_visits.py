"""Designs straight from visits are those of the lattice, prior and loss that a caller would make."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.reports.document import OtherDesigns
from sfumato_papers.invented_city import invented_city

EPSILON = "0.8/km"
PRIOR = sf.Prior.uniform(sf.Space(["a", "b"]))


@pytest.fixture(scope="module")
def visits():
    city = invented_city()
    return city.select(np.arange(len(city)) % 12 == 0)


def test_it_is_the_design_of_the_parts(visits, tmp_path):
    lattice = sf.Lattice.covering(visits, "2.5 km")
    by_hand = sf.design(
        sf.Prior.from_visits(lattice, visits),
        loss=lattice.loss(visits),
        guarantees=sf.CoordinatePrivacy(EPSILON),
        medians=visits,
        method="table",
        gap=1e-4,
    )
    made = sf.design(visits, epsilon=EPSILON, spacing="2.5 km", method="table")
    assert made.certificate.loss == by_hand.certificate.loss
    assert str(made.guarantees) == str(by_hand.guarantees)
    assert 0.79 < made.certificate.epsilon_upper <= 0.8
    path = tmp_path / "visits.csv"
    rows = zip(visits.lat.tolist(), visits.lon.tolist(), strict=True)
    path.write_text("lat,lon\n" + "".join(f"{lat!r},{lon!r}\n" for lat, lon in rows), encoding="utf-8")
    assert len(sf.design(path, epsilon=EPSILON, spacing="4 km", method="table").mechanism.secrets) > 4


def test_only_what_the_region_serves_counts(visits):
    region = visits.region(trim=0.2)
    made = sf.design(visits, epsilon=EPSILON, region=region, spacing="2 km", method="table")
    inside = visits.select(made.mechanism.secrets.inside(visits.lat, visits.lon))
    again = sf.design(inside, epsilon=EPSILON, region=region, spacing="2 km", method="table")
    assert made.certificate.loss == pytest.approx(again.certificate.loss, rel=1e-4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"loss": [[0, 1], [1, 0]]}, "loss= is for a prior, but visits were given"),
        ({"guarantees": sf.CoordinatePrivacy(1)}, "guarantees= is for a prior"),
    ],
)
def test_arguments_of_a_prior_are_refused_for_visits(visits, arguments, message):
    with pytest.raises(InputError, match=message):
        sf.design(visits, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": 1}, "epsilon=.* is for visits, but a prior was given"),
        ({"loss": [[0, 1], [1, 0]]}, "a prior was given without guarantees="),
        ({"guarantees": sf.MetricPrivacy(1, sf.hamming(PRIOR.space))}, "a prior was given without loss="),
    ],
)
def test_arguments_of_visits_are_refused_for_a_prior(arguments, message):
    with pytest.raises(InputError, match=message):
        sf.design(PRIOR, **arguments)


def test_what_is_neither_is_refused():
    with pytest.raises(DataError, match="there is no file"):
        sf.design("missing.csv")
    with pytest.raises(InputError, match="a Prior, Visits, text, path or table is needed"):
        sf.design([1, 2])  # type: ignore[arg-type]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("method", ["table", "noise"])
def test_methods_of_a_design_lead_to_file_sampler_sentences_and_report(visits, method, tmp_path):
    region = visits.region(trim=0.2)
    made = sf.design(visits, epsilon=EPSILON, region=region, spacing="3 km", method=method)
    made.save(tmp_path / "made.sfm")
    sf.save(made, tmp_path / "again.sfm")
    assert (tmp_path / "made.sfm").read_bytes() == (tmp_path / "again.sfm").read_bytes()
    assert isinstance(made.sampler(), sf.sampling.Sampler)
    assert any("at most" in sentence for sentence in made.sentences())
    quick = OtherDesigns(0)
    report = made.report(tmp_path / "made.json", designs=quick)
    assert report.outcome.value == "holds"
    assert (tmp_path / "made.json").read_text() == report.json()
    assert report.facts.promises == sf.report(made, designs=quick).facts.promises
