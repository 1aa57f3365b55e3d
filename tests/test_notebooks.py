"""Notebooks: designs, mechanisms, audits and priors are sound HTML with the same numbers, and only text."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import sfumato as sf
from sfumato.reports.document import report

HOSTILE = ("<script>alert(1)</script>", '" onload="x', "\u202eabc", "a" * 500)


class Tags(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.words = [], [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        if (self.get_starttag_text() or "  ")[-2] != "/":
            self.open.append(tag)
        assert not [name for name, _ in attributes if name.startswith("on") or name in ("src", "href")]

    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def read(shown):
    found = Tags()
    found.feed(shown)
    found.close()
    assert found.open == []
    assert "script" not in found.seen
    assert len(shown) < 250_000
    return " ".join(found.words)


@pytest.fixture(scope="module")
def design():
    space = sf.Space.numbers(range(5), unit="year")
    metric = space.metric("absolute")
    prior = sf.Prior(space, [0.4, 0.3, 0.2, 0.1, 0.0])
    return sf.design(prior, loss=metric, guarantees=sf.MetricPrivacy("0.7/year", metric))


@pytest.mark.slow
def test_a_design(design):
    text = read(design._repr_html_())
    epsilon = float(re.findall(r"epsilon is at most ([\d.]+)/year", text)[0])
    assert epsilon >= design.certificate.epsilon_upper * (1 - 1e-15)
    assert epsilon < 0.7 * 1.001
    loss = float(re.findall(r"true number: at most ([\d.]+) year", text)[0])
    assert design.certificate.loss <= loss <= design.certificate.loss * 1.02
    assert design.status.value in text
    private = sf.maximise_distortion(
        design.problem.prior, distance=design.problem.loss, loss=design.problem.loss, max_loss="0.5 year"
    )
    assert "No mechanism with this loss and these reports gives" in read(private._repr_html_())


def test_a_mechanism_and_its_prior(design):
    text = read(design.mechanism._repr_html_())
    assert "5: 0 to 4" in text
    text = read(design.problem.prior._repr_html_())
    assert "Possible 4" in text
    assert "Most probable: 0 40 %" in text
    assert design.problem.prior._repr_html_().count("<svg") == 1
    many = sf.Prior.uniform(sf.Space(range(1000)))
    assert many._repr_html_().count("<rect") == 60
    read(sf.Prior.uniform(sf.Space(["only"]))._repr_html_())


def test_an_audit(design):
    audit = sf.audit(design.mechanism, prior=design.problem.prior)
    text = read(audit._repr_html_())
    for entry in audit:
        assert entry.amount() in text
        assert entry.standing in text


@pytest.mark.slow
def test_figures_are_those_of_a_report(design):
    for shown, count in (
        (design, 3),
        (design.mechanism, 3),
        (design.problem.prior, 1),
        (sf.audit(design.mechanism), 1),
    ):
        text = shown._repr_html_()
        assert text.count("<svg") == count
        ids = re.findall(r'\bid="([^"]+)"', text)
        assert len(ids) == len(set(ids))
    held = sf.files.MechanismFile(design.mechanism, design.problem.prior)
    (figure,) = report(held).maps
    assert figure.svg in design._repr_html_()
    assert "equally likely" in design.mechanism._repr_html_()
    assert "equally likely" not in design._repr_html_()


@pytest.mark.slow
def test_places_are_maps():
    grid = sf.Grid.covering("4 km x 3 km around 48.85,2.35", "1 km")
    prior = sf.Prior.uniform(grid)
    mechanism = sf.Mechanism(np.full((len(grid), len(grid)), 1 / len(grid)), grid, grid)
    assert "All places are alike" in read(prior._repr_html_())
    visited = sf.Prior(grid, np.arange(1, len(grid) + 1) / sum(range(1, len(grid) + 1)))
    assert "Where people are" in read(visited._repr_html_())
    assert "What the attacker believes" in read(mechanism._repr_html_())
    many = sf.Grid.covering("30 km x 30 km around 48.85,2.35", "1 km")
    assert "All places are alike" not in read(sf.Prior.uniform(many)._repr_html_())


@pytest.mark.parametrize(
    "name", [*HOSTILE[:1], *(pytest.param(name, marks=pytest.mark.slow) for name in HOSTILE[1:])]
)
def test_labels_are_only_text(name):
    space = sf.Space([name, "b"])
    metric = sf.Metric(1.0 - np.eye(2), name=name)
    mechanism = sf.Mechanism([[0.6, 0.4], [0.4, 0.6]], space, space).promising(sf.MetricPrivacy(1.0, metric))
    made = sf.design(sf.Prior.uniform(space), loss=metric, guarantees=sf.MetricPrivacy(1.0, metric))
    even = sf.Prior.uniform(space)
    shares = sf.estimate(mechanism, [name] * 60 + ["b"] * 40)
    attacked, held = sf.attack(mechanism, even), sf.MechanismFile(mechanism, even)
    for shown in (mechanism, even, made, sf.audit(mechanism), space, metric, shares, attacked, held):
        text = shown._repr_html_()
        read(text)
        assert "\u202e" not in text
        assert "a" * 100 not in text


@pytest.mark.slow
def test_spaces_metrics_attacks_estimates_and_comparisons_are_tables():
    visits = sf.synthetic_city(users=5, days=2)
    grid, lattice = sf.Grid.covering(visits, shape=(3, 2)), sf.Lattice.covering(visits, "3 km")
    metric, prior = grid.metric(unit="km"), sf.Prior.from_visits(grid, visits)
    mechanism = sf.mechanisms.exponential(grid, metric, "1/km")
    assert f"Values {len(lattice)}" in read(lattice._repr_html_())
    assert "Latitude and longitude" in read(grid._repr_html_())
    assert "12 year" in read(sf.Space.numbers(range(13), unit="year")._repr_html_())
    assert "Distance euclidean" in read(metric._repr_html_())
    result = sf.attack(mechanism, prior)
    for table in result.tables():
        for row in table.rows:
            assert all(cell in read(result._repr_html_()) for cell in row)
    comparison = sf.compare(prior, metric, epsilon="1/km", families=[], remap=False)
    assert all(row.name in read(comparison._repr_html_()) for row in comparison.rows)


def test_everything_public_has_html(tmp_path):
    for name in dir(sf):
        kind = getattr(sf, name)
        if isinstance(kind, type) and not issubclass(kind, Warning | Exception):
            assert hasattr(kind, "_repr_html_"), name
    visits = sf.Visits([48.85, 48.86], [2.35, 2.36], user=["a", "b"])
    space = sf.Space.numbers(range(3), unit="km")
    ledger = sf.Ledger.create(tmp_path / "l.db", "3/km")
    for shown, words in (
        (visits, "2 visits of 2 users"),
        (sf.Region(48.8, 2.3, 48.9, 2.4), "South"),
        (sf.CoordinatePrivacy("1/km"), "1/km"),
        (sf.MetricPrivacy(1.0, space.metric()), "Epsilon 1"),
        (space.metric(), "Between two values 1 km to 2 km"),
        (sf.Loss(np.eye(3), "km", name="cost"), "cost"),
        (sf.Sample([[3, 1], [1, 3]]), "Counts"),
        (ledger, "3/km"),
    ):
        assert words in read(shown._repr_html_())
