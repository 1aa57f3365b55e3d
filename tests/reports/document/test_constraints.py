"""Reports of files with linear constraints: proved anew, and named in what is said of the best."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.audits import Outcome
from sfumato.errors import InputError
from sfumato.optimal import LinearConstraint
from sfumato.proofs import Multipliers, Optimality
from sfumato.reports import summarise
from sfumato.reports.document import OtherDesigns
from sfumato.reports.facts.types import as_json
from tests.files.honest import honest

from .conftest import report_without_drawings

PEOPLE = sf.NumberBins(0, 1, 3, "year")
AGE = PEOPLE.metric("absolute")
PRIOR = sf.Prior(PEOPLE, [0.5, 0.3, 0.2])
RARELY = LinearConstraint([[0, 0, 1], [0, 0, 0], [0, 0, 0]], 0.02, name="0 as 2")


def told(found):
    lines = (line for each in found.page.sections for line in (*each.sentences, *each.items, *each.formal))
    cover = (line for _, sentences in found.page.cover for line in sentences)
    return " ".join((*found.page.lead, *cover, *lines))


def without_others(held):
    return report_without_drawings(held, designs=OtherDesigns(0))


@pytest.fixture(scope="module")
def design():
    return sf.design(PRIOR, loss=AGE, guarantees=sf.MetricPrivacy("1/year", AGE), constraints=RARELY)


def test_a_constraint_is_proved_anew(design):
    found = without_others(design)
    said = told(found)
    (facts,) = found.facts.constraints
    assert found.outcome is Outcome.HOLDS
    assert facts.holds
    assert facts.proved.value <= 0.02
    assert "The file states a linear constraint." in said
    assert "It was verified when this report was written. Only the writer of a table" in said
    assert "The linear constraint called '0 as 2' holds: its sum is at most 0.02 (proved: at most 0.0" in said
    assert "No mechanism with this guarantee, this linear constraint and these reports has" in said
    assert as_json(found.facts)["constraints"][0]["name"] == "0 as 2"


def test_a_constraint_that_is_broken_fails(design):
    tight = LinearConstraint(RARELY.coefficients, 0.001, name="0 as 2")
    held = sf.MechanismFile(
        design.mechanism, PRIOR, design.loss, design.problem.guarantees, constraints=[tight, RARELY]
    )
    found = without_others(held)
    said = told(found)
    assert found.outcome is Outcome.FAILS
    assert "NOT PROVED: 1 of 2 linear constraints of this file. Do not rely on what is not proved." in said
    assert "NOT PROVED: the linear constraint called '0 as 2' asks for a sum of at most 0.001. At most 0.0" in said
    assert "The file states 2 linear constraints." in said
    assert "It was verified when" not in said
    assert "What was NOT PROVED above: do not rely on it." in said


def test_a_file_with_constraints_alone_says_what_its_bound_is_about():
    found = without_others(sf.design(PRIOR, loss=AGE, guarantees=(), constraints=kept_back()))
    said = told(found)
    assert "No mechanism with this linear constraint and these reports has" in said
    assert "This file guarantees no privacy." in said
    assert found.outcome is Outcome.HOLDS


def kept_back():
    return LinearConstraint(np.eye(3) * [[0, 0, 1]], 0.5, name="2 as 2")


def test_a_mechanism_that_breaks_its_constraint_has_no_place_among_designs_that_keep_it(design):
    free = sf.design(PRIOR, loss=AGE, guarantees=sf.MetricPrivacy("1/year", AGE), method="table")
    held = sf.MechanismFile(
        free.mechanism, PRIOR, free.loss, free.problem.guarantees, {}, design.optimality, constraints=RARELY
    )
    found = report_without_drawings(held, designs=OtherDesigns(4))
    assert found.facts.frontier == ()
    assert "What the file claims of this mechanism is not proved, or not all of it" in told(found)
    assert found.facts.cost.best is None


def test_a_bound_without_promises_and_constraints_is_about_all_mechanisms():
    none = np.empty(0, dtype=np.intp)
    prices = Optimality("expected", Multipliers(none, none, none, np.empty(0), np.empty(0)))
    coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]], sf.Space("ab"))
    held = sf.MechanismFile(coin, sf.Prior.uniform(coin.secrets), sf.hamming(coin.secrets), (), {}, prices)
    assert "No mechanism with these reports names another value" in told(without_others(held))
    text = " ".join(sf.reports.summarise_file(held).markdown().split())
    assert "No mechanism with these reports names another value in less than 0 % of" in text


def test_several_promises_are_not_one():
    errors = [sf.DistortionPrivacy(0.5, AGE), sf.DistortionPrivacy(0.3, sf.hamming(PEOPLE))]
    found = sf.design(PRIOR, loss=AGE, guarantees=[sf.MetricPrivacy("20/year", AGE), *errors])
    assert "No mechanism with these guarantees and these reports has" in " ".join(
        sf.reports.summarise(found).markdown().split()
    )
    assert "No mechanism with these guarantees and these reports has" in told(without_others(found))


def test_a_design_shows_its_constraints(design):
    assert "epsilon 1/year, absolute, 0 as 2 at most 0.02; expected loss" in repr(design)
    assert "The linear constraint called &#x27;0 as 2&#x27; holds" in design._repr_html_()


def test_a_design_for_several_attackers_has_a_bound_too():
    found = without_others(honest("limited"))
    assert found.outcome is Outcome.HOLDS
    assert found.facts.cost.best is not None
    assert len(found.facts.constraints) == 2


@pytest.mark.slow
def test_other_designs_keep_the_constraints(design):
    found = report_without_drawings(design, designs=OtherDesigns(4))
    said = told(found)
    assert len(found.facts.frontier) > 1
    assert "and all of them satisfy the linear constraint." in said
    free = sf.design(PRIOR, loss=AGE, guarantees=sf.MetricPrivacy("2/year", AGE))
    doubled = [each for each in found.facts.frontier if each.epsilon.value == 2.0]
    assert all(each.loss.value >= free.certificate.bound for each in doubled)


def test_a_design_with_more_constraints_than_a_file_holds_is_summarised(design, monkeypatch):
    whole = summarise(design).markdown()
    monkeypatch.setattr("sfumato.files.mechanism_file.MOST_CONSTRAINTS", 0)
    with pytest.raises(InputError, match="linear constraints were given"):
        sf.MechanismFile.of_design(design)
    assert summarise(design).markdown() == whole
    assert "The linear constraint called '0 as 2' holds" in whole
