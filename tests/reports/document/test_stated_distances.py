"""Distances that a file states are never taken for true ones: in the report, its JSON, and the audit."""

import json
import sys

import numpy as np
import pytest

import sfumato as sf
from sfumato.audits import Outcome
from sfumato.cli.app import main
from sfumato.errors import InputError
from sfumato.files import MechanismFile, measured_by, save

from ...cli.conftest import COMMANDS
from .conftest import held, report_without_drawings


def cells():
    """An honest mechanism on cells, and its true distances."""
    mechanism = held("cells").mechanism
    return mechanism, mechanism.secrets.metric("euclidean", "km")


def stated(name, factor=1000.0):
    """A file whose distances are larger than the true ones, and its epsilon smaller."""
    mechanism, true = cells()
    metric = sf.Metric(true.array * factor, "km", name=name)
    return MechanismFile(mechanism, held("cells").prior, None, sf.MetricPrivacy(1 / factor, metric))


def truthful(promise):
    """A file that always tells the truth, and promises something all the same."""
    space = cells()[0].secrets
    return MechanismFile(sf.Mechanism(np.eye(len(space)), space, space), held("cells").prior, None, promise)


def far():
    space = cells()[0].secrets
    distance = sf.Loss(np.full((1, len(space)), 1e4), "km", name="Euclidean")
    return truthful(sf.DistortionPrivacy(5.0, distance))


def infinite(size):
    return sf.Metric(np.where(np.eye(size, dtype=bool), 0.0, np.inf), "km", name="street")


def words(found):
    """All that a page says of its promises."""
    parts = [*found.page.lead]
    for section in found.page.sections[1 : 1 + len(found.facts.promises)]:
        parts += [*section.sentences, *section.items, *section.formal]
    return " ".join(parts)


@pytest.fixture
def audited(monkeypatch, capsys, tmp_path):
    """The exit code of an audit of a file, and what it printed."""

    def run(made, *options):
        save(made, tmp_path / "made.sfm")
        monkeypatch.setenv("COLUMNS", "10000")
        monkeypatch.setattr("typer.main.get_command", COMMANDS)
        monkeypatch.setattr(sys, "argv", ["sfumato", "audit", str(tmp_path / "made.sfm"), *options])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        found = capsys.readouterr()
        return code, " ".join((found.out + found.err).split())

    return run


@pytest.mark.parametrize(
    "name", ["Euclidean", " euclidean ", "Manhattan", "city-block", "Great_Circle distance", "\uff25uclidean"]
)
def test_names_are_known_however_they_are_written(name):
    with pytest.raises(InputError, match="the distances are called"):
        stated(name)


def test_a_name_in_other_letters_is_still_confirmed():
    mechanism, true = cells()
    metric = sf.Metric(true.array, "km", name="Euclidean")
    made = MechanismFile(mechanism, None, None, sf.MetricPrivacy("1/km", metric))
    assert made.stated == ()
    assert report_without_drawings(made).facts.promises[0].distances == "confirmed"


@pytest.mark.slow
def test_an_error_in_stated_distances_is_no_error_on_the_map(audited):
    found = report_without_drawings(far())
    said = words(found)
    assert found.outcome is Outcome.UNDECIDED
    assert "verified when" not in found.page.lead[0]
    assert "between centres of cells" not in said
    assert "counted in distances that the file states and nothing confirms" in said
    promise = json.loads(found.json())["promises"][0]
    assert (promise["holds"], promise["for_stated"]) == (False, True)
    assert promise["proved"]["known"] == "stated by the file"
    code, printed = audited(far(), "--promises")
    assert code == 3
    assert "counted in distances that the file states and nothing confirms" in printed
    assert "between centres of cells" not in printed


def test_requirements_are_answered_with_the_distances_of_the_coordinates(audited):
    made = stated("straight-line")
    found = report_without_drawings(made, require=["epsilon <= 0.001/km", "epsilon <= 1.1/km"])
    assert [outcome for _, outcome in found.facts.outcomes] == [Outcome.FAILS, Outcome.HOLDS]
    assert found.facts.promises[0].distances == "stated and not confirmed"
    assert any("straight lines" in note for note in found.facts.notes)
    assert "Distances are between the centres" not in words(found)
    code, printed = audited(made, "--require", "epsilon <= 1.1/km")
    assert code == 3  # the promise itself stays undecided
    assert "The requirement 'epsilon <= 1.1/km' HOLDS" in printed
    code, printed = audited(made, "--require", "epsilon <= 0.001/km")
    assert code == 1
    assert "The requirement 'epsilon <= 0.001/km' FAILS" in printed


def test_requirements_on_labels_are_not_decided_by_stated_distances(audited):
    coin = held("categories").mechanism
    metric = sf.Metric(sf.hamming(coin.secrets).array * 1000, "m", name="mine")
    made = MechanismFile(coin, None, None, sf.MetricPrivacy(0.001, metric))
    found = report_without_drawings(made, require=["epsilon <= 0.001/m", "differential-privacy <= 1.01"])
    assert [outcome for _, outcome in found.facts.outcomes] == [Outcome.UNDECIDED, Outcome.HOLDS]
    assert found.facts.holds
    assert "for the distances that the file states" in found.page.lead[0]
    code, printed = audited(made, "--require", "epsilon <= 0.001/m")
    assert code == 3
    assert "counts in distances that the file states" in printed


@pytest.mark.parametrize("near", [False, True])
def test_a_promise_about_no_pair_is_none(near, audited):
    size = len(cells()[0].secrets)
    one = infinite(size)
    made = truthful(sf.MetricPrivacy("0.01/km", one))
    if near:
        space = sf.Space(["a", "b"])
        made = MechanismFile(sf.Mechanism(np.eye(2), space, space), None, None, sf.MetricPrivacy(0.1, infinite(2)))
    found = report_without_drawings(made)
    assert found.outcome is Outcome.FAILS
    assert not found.facts.holds
    assert "guarantees nothing about any two" in found.page.lead[0]
    said = words(found)
    assert said.count("No two") == 1
    assert "at most 1 times" not in said
    assert json.loads(found.json())["promises"][0]["holds"] is False
    code, printed = audited(made)
    assert code == 1
    assert "1 times as likely" not in printed


def test_distances_without_a_finite_pair_say_so_in_the_atlas():
    found = sf.audit(np.eye(2), metric=infinite(2))
    assert found.find("metric-privacy").sentence.startswith("No pair of secrets is at a finite distance")


def test_an_attacker_who_guesses_reports_alone_is_named():
    space = cells()[0].secrets
    points = [(9e6, 9e6), (9e6, 9.1e6)]
    away = sf.Space(points, points, unit=space.unit, crs=space.crs)
    mechanism = sf.Mechanism(np.full((len(space), 2), 0.5), space, away)
    made = MechanismFile(
        mechanism, held("cells").prior, None, sf.DistortionPrivacy("5 km", sf.loss(away, space, unit="km"))
    )
    said = words(report_without_drawings(made))
    assert "for guesses among the reports" in said
    assert "between centres" not in said


def test_the_yardstick_of_a_lattice_is_the_map():
    made = held("points")
    by = measured_by(made.mechanism, made.guarantees)
    assert by.metric is not None
    assert (by.metric.name, by.metric.unit, by.stated, by.note) == ("euclidean", "km", False, "")
