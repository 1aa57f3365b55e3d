"""The first sheet of a report and the answers to reviewers, by their facts, and entries of the registry."""

import json
from datetime import UTC, datetime

import numpy as np
import pytest
import yaml  # type: ignore[import-untyped]

import sfumato as sf
from sfumato.errors import InputError
from sfumato.ledgers import Ledger
from sfumato.reports import sentences as said
from sfumato.reports.document import Origin, OtherDesigns, report_file
from sfumato.reports.document.layout import report_page
from sfumato.reports.document.registry import registry_entry, registry_faults, registry_text
from sfumato.reports.facts import PromiseFacts, error_of

from .conftest import CITY, KINDS, held, report_of, report_without_drawings, slowly, without_drawings

PROVED = ("points", "cells", "noise", "numbers", "categories", "ranges", "near")
PURE = ("categories", "ranges")


@pytest.mark.parametrize("kind", slowly(KINDS))
def test_the_first_sheet_has_what_is_signed(kind):
    facts = report_of(kind, visits=kind in ("points", "cells", "noise")).facts
    cover = dict(report_page(facts, ()).cover)
    assert cover["Protected"] == said.protected_words(facts.subject)
    for risk in (each for each in facts.risks if each.text):
        assert " ".join(said.risk_words(risk, facts.subject)) in cover["Stated limits"]
    for promise in facts.promises:
        assert said.odds_words(promise, facts.subject) in cover["Guarantee"]
    assert set(said.cost_words(facts.cost, facts.subject)) <= set(cover["Cost"])
    assert {*said.likely_words(facts.report_error), *said.spread_words(facts.radius)} <= set(cover["Cost"])
    single = [each for each in facts.attacks if each.reports < 2]
    best = said.attack_words(single, facts.subject, even=facts.prior.even)
    assert cover["Best attacker"] == (best or (said.no_attack_words(facts.subject),))
    assert cover["Not protected"] == said.limit_words(facts)
    assert cover["Verified"] == (said.verified_words(facts),)


def test_the_first_sheet_names_the_file_by_its_hash(tmp_path):
    sf.files.save(held("numbers"), tmp_path / "mine.sfm")
    facts = report_without_drawings(
        held("numbers"), designs=OtherDesigns(0), origin=Origin(tmp_path / "mine.sfm")
    ).facts
    cover = dict(report_page(facts, ()).cover)
    assert any(facts.file.sha256 in each for each in cover["File"])
    assert cover["Stated limits"] == ("No limit was stated.",)


@pytest.mark.parametrize("kind", ["broken", "infinite", "bare"])
def test_nothing_is_called_verified_that_is_not_proved(kind):
    (words,) = dict(report_of(kind).page.cover)["Verified"]
    assert "Verified" not in words


def test_odds_are_those_of_one_report():
    promise: PromiseFacts = report_of("numbers").facts.promises[0]
    farthest = max(promise.beliefs, key=lambda each: (each.distance.value, -each.reports))
    assert farthest.factor.high >= np.exp(promise.proved.value * farthest.distance.value) * (1 - 1e-12)
    assert f"at most a factor of {sf.rounding.at_most(farthest.factor.high)}." in said.odds_words(
        promise, report_of("numbers").facts.subject
    )


@pytest.mark.parametrize("kind", ["numbers", "ranges", "near", "cells", "points", "categories"])
def test_errors_by_brute_force(kind):
    file, visits = held(kind), CITY if kind in ("cells", "points") else None
    facts = error_of(file, visits)
    assert facts is not None
    assert facts.worst is not None
    mechanism, prior, loss = file.mechanism, file.prior, file.loss
    if visits is not None:
        loss, prior = mechanism.secrets.loss(visits), sf.Prior.from_visits(mechanism.secrets, visits)
    means = [(row * costs).sum() for row, costs in zip(mechanism.matrix, loss.array, strict=True)]
    possible = [
        mean for mean, chance in zip(means, prior.probabilities, strict=True) if chance > 0 or visits is None
    ]
    assert facts.worst.high >= max(possible) - 1e-12
    assert facts.worst.high <= max(possible) + 1e-9
    assert (facts.likely is None) == (visits is not None or not loss.unit)  # places have a radius
    if facts.likely is not None:
        joint = mechanism.matrix * prior.probabilities[:, None]
        assert joint[loss.array <= facts.likely.high].sum() >= facts.share
        assert joint[loss.array < facts.likely.high].sum() < facts.share + 1e-6


@without_drawings()
def test_reasons_and_budgets_are_stated(tmp_path):
    sf.files.save(held("numbers"), tmp_path / "mine.sfm")
    books = Ledger.create(tmp_path / "ledger.db", "5/year", unit="year")
    for report in range(3):
        books.charge("ada" if report else "bob", "0.7/year")
    why = "the board asked for odds below 2"
    found = report_file(
        tmp_path / "mine.sfm", why=why, ledger=str(tmp_path / "ledger.db"), frontier_time=0, source="a survey"
    )
    assert found.facts.budget is not None
    assert found.facts.budget[:4] == (books.limits, 2, 3, "1.4/year")
    review = said.review_words(found.facts)
    assert why in review["Why this epsilon"]
    assert all(each in review["Budget"] for each in (*books.limits, "1.4/year"))
    assert "a survey" in review["Prior"]
    assert "--why" in found.facts.file.command
    assert json.loads(found.json())["budget"]["users"] == 2
    assert "budget" not in json.loads(report_of("numbers").json())


@pytest.mark.parametrize("kind", slowly(PROVED))
def test_an_entry_of_the_registry_fits_its_schema(kind, tmp_path):
    found = report_of(kind, visits=kind in ("points", "cells", "noise"))
    found.save(tmp_path / "entry.yaml")
    text = (tmp_path / "entry.yaml").read_text(encoding="utf-8")
    entry = yaml.safe_load(text)
    assert entry == registry_entry(found.facts)
    assert list(registry_faults(entry)) == []
    loss = entry["deployment"]["privacy_loss"]
    assert loss["privacy_parameters"] == {"epsilon": found.facts.promises[0].claimed.value}
    assert found.facts.promises[0].proved.upper <= found.facts.promises[0].claimed.value
    assert entry["deployment"]["dp_variant"]["variant_name"] == ("Pure DP" if kind in PURE else "Custom")
    assert entry["deployment"]["administrative"]["status"] == "Draft"


@pytest.mark.parametrize("kind", ["broken", "infinite", "bare", "truth", "error"])
def test_no_entry_without_a_proved_epsilon(kind, tmp_path):
    with pytest.raises(InputError, match="no entry for the registry"):
        report_of(kind).save(tmp_path / "entry.yaml")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("epsilon", "farthest", "variant"), [(1.0, 1.4, "Custom"), (1e-5, 1.0, "Pure DP")])
def test_odds_of_any_two_values_are_those_of_the_farthest(epsilon, farthest, variant):
    """Values 1 and 1.4 apart have other odds than any two; a small epsilon is a number in YAML 1.1."""
    distances = np.array([[0, 1, farthest], [1, 0, 1], [farthest, 1, 0]])
    weights = np.exp(-epsilon / 2 * distances)
    space = sf.Space("abc")
    coin = sf.Mechanism(weights / weights.sum(axis=1, keepdims=True), space)
    file = sf.files.MechanismFile(coin, guarantees=sf.MetricPrivacy(epsilon, sf.Metric(distances)))
    facts = report_without_drawings(file, designs=OtherDesigns(0)).facts
    ratio = max(row.max() / row.min() for row in coin.matrix.T)
    assert max(each.factor.high for each in facts.promises[0].beliefs if each.reports == 1) >= ratio
    entry = yaml.safe_load(registry_text(facts))
    assert entry == registry_entry(facts)
    assert entry["deployment"]["dp_variant"]["variant_name"] == variant


def test_a_report_writes_the_entry_that_is_asked_for(tmp_path):
    when = datetime(2026, 5, 4, tzinfo=UTC)
    target = tmp_path / "entry.yaml"
    report_without_drawings(held("ranges"), designs=OtherDesigns(0), registry=target, when=when)
    assert yaml.safe_load(target.read_text())["deployment"]["basic"]["publication_date"] == "2026-05-04"


@pytest.mark.parametrize(
    ("part", "name", "value", "fault"),
    [
        ("basic", "publication_date", "4 May 2026", "no date"),
        ("basic", "data_product_type", "Places", "none of"),
        ("basic", "data_curators", [], "too few items"),
        ("basic", "colour", "blue", "no field colour"),
        ("administrative", "tier", True, "no integer"),
        ("administrative", "status", None, "no string"),
        ("privacy_loss", "privacy_parameters", {"epsilon": "1"}, "no number"),
    ],
)
def test_faults_of_an_entry_are_found(part, name, value, fault):
    entry = registry_entry(report_of("ranges").facts)
    entry["deployment"][part][name] = value
    (found,) = registry_faults(entry)
    assert fault in found
    del entry["deployment"][part]
    assert any("lacks" in each for each in registry_faults(entry)) == (part != "privacy_loss")
