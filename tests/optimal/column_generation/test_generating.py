"""The solver that generates observables, through the public design."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.optimal import Generating, Status, baseline, structured
from sfumato.optimal.column_generation import rounds
from sfumato.proofs.optimality import prove_optimality
from sfumato.reports import summarise

from .towns import check_agreement

LATTICE = sf.geo.Lattice.covering("2.5 km x 2 km around 48.85,2.35", "500 m", kind="triangular")
PROMISE = sf.CoordinatePrivacy("1/km")


def town(seed):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(len(LATTICE), 0.4))
    shares[rng.random(len(LATTICE)) < 0.3] = 0.0
    return sf.Prior(LATTICE, shares / shares.sum())


def design(prior, **options):
    loss = LATTICE.metric().to("km")
    options = {"guarantees": PROMISE, "method": "table", "tie_break": False, **options}
    return sf.design(prior, loss=loss, **options)


def test_it_finds_and_proves_what_the_structured_method_does():
    prior = town(0)
    one, other = (design(prior, solver=name, gap=1e-5) for name in ("generating", "structured"))
    assert one.solver == "generated observables"
    check_agreement(one, other)


def test_its_prices_prove_the_bound_again():
    found = design(town(5), solver="generating", gap=1e-4)
    problem = found.problem
    again = prove_optimality(problem.prior, problem.loss, problem.guarantees, found.optimality)
    assert again == pytest.approx(found.certificate.bound, rel=1e-9)


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "options",
    [
        {"objective": "worst-case"},
        {"guarantees": [PROMISE, sf.DistortionPrivacy("0.05 km", LATTICE.metric().to("km"))]},
        {"pairs": "spanner"},
    ],
    ids=["worst case", "distortion", "spanner"],
)
def test_other_problems_go_to_the_structured_method(options):
    assert design(town(1), solver="generating", gap=1e-2, **options).solver == "structured interior point"


def test_secrets_that_all_are_neighbours_go_to_the_structured_method():
    space = sf.Space([f"p{k}" for k in range(40)])
    shares = np.arange(1, 41) / 820
    found = sf.design(
        sf.Prior(space, shares),
        loss=1.0 - np.eye(40),
        guarantees=sf.MetricPrivacy(2.0, sf.Metric(1.0 - np.eye(40))),
        solver=Generating(threads=1),
        gap=1e-3,
        tie_break=False,
    )
    assert found.solver == "structured interior point"


def test_a_time_limit_leaves_a_proved_mechanism():
    found = design(town(2), solver="generating", gap=1e-9, stop=lambda: True)
    assert found.certificate.holds
    assert found.status is Status.INTERRUPTED
    assert found.certificate.bound <= found.certificate.value


@pytest.mark.slow
def test_the_bound_is_the_same_where_prices_are_not_kept(monkeypatch):
    one = design(town(3), solver="generating", gap=1e-2)
    monkeypatch.setattr(structured, "MOST_PRICES", 0)
    other = design(town(3), solver="generating", gap=1e-2)
    assert one.optimality is not None
    assert other.optimality is None
    assert other.status is Status.OPTIMAL
    assert other.certificate.bound == pytest.approx(one.certificate.bound, rel=1e-12)
    assert other.certificate.value == one.certificate.value


@pytest.mark.slow
def test_merged_observables_count_where_prices_are_not_kept(monkeypatch):
    """Observables that cost no less than others are no part of the program, but of the problem."""
    prior = town(4)
    loss = np.hstack([LATTICE.metric().to("km").array, LATTICE.metric().to("km").array + 0.1])
    reports = sf.Space([f"r{k}" for k in range(loss.shape[1])])

    def made():
        return sf.design(
            prior,
            loss=loss,
            guarantees=PROMISE,
            observables=reports,
            solver="generating",
            gap=1e-2,
            method="table",
        )

    one = made()
    monkeypatch.setattr(structured, "MOST_PRICES", 0)
    other = made()
    assert other.optimality is None
    assert other.certificate.bound == pytest.approx(one.certificate.bound, rel=1e-12)


def test_a_report_says_that_the_file_will_not_prove_the_bound(monkeypatch):
    monkeypatch.setattr(structured, "MOST_PRICES", 0)
    found = design(town(3), solver="generating", gap=1e-2)
    assert "The file cannot prove it again" in " ".join(summarise(found, LATTICE.metric()).markdown().split())


def lines_of(prior, **options):
    """The lines of progress of a design, and the design."""
    lines: list[sf.optimal.Progress] = []
    return lines, design(prior, progress=lines.append, **options)


@pytest.mark.slow
def test_a_design_starts_from_the_reports_of_the_last_one(monkeypatch):
    monkeypatch.setattr(rounds, "_ENOUGH_SECRETS", 20)
    prior = town(2)
    first = design(prior, guarantees=sf.CoordinatePrivacy("0.9/km"), solver="generating", gap=1e-4)
    lines, warm = lines_of(prior, solver="generating", gap=1e-4, start=first)
    others, cold = lines_of(prior, solver="generating", gap=1e-4)
    assert any(line.coarse for line in others)
    assert not any(line.coarse for line in lines)
    assert warm.status is Status.OPTIMAL
    assert warm.certificate.value == pytest.approx(cold.certificate.value, rel=1e-4)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("gap", [1e-2, 1e-4])
def test_a_design_that_was_stopped_goes_on_from_its_folder(tmp_path, monkeypatch, gap):
    monkeypatch.setattr(rounds, "_ENOUGH_SECRETS", 20)
    monkeypatch.setattr(baseline, "_CLOSED_S", np.inf)  # lines must not depend on the speed of the machine
    prior, kept = town(2), Generating(threads=1, folder=tmp_path / "kept")
    whole, unbroken = lines_of(prior, solver=Generating(threads=1), gap=gap)
    seen: list[sf.optimal.Progress] = []
    stopped = design(prior, solver=kept, gap=gap, stop=lambda: len(seen) > len(whole) // 2, progress=seen.append)
    assert stopped.status is Status.INTERRUPTED
    lines, again = lines_of(prior, solver=kept, gap=gap)
    assert len(lines) < len(whole)
    assert again.status is Status.OPTIMAL
    assert np.array_equal(again.mechanism.weights, unbroken.mechanism.weights)
    assert again.certificate.bound == unbroken.certificate.bound

    def said(lines):
        return [(line.coarse, line.step, line.rows, line.value, line.bound, line.gap) for line in lines]

    # Steps are counted on: all is told as without a stop, and nothing is left out.
    everything = said(whole)
    assert set(said(lines)) <= set(everything)
    assert {*said(seen), *said(lines)} >= set(everything)


def test_a_forged_state_is_not_gone_on_from(tmp_path):
    prior, kept = town(2), Generating(threads=1, folder=tmp_path)
    honest = design(prior, solver=kept, gap=1e-2)
    for path in tmp_path.glob("*.npz"):
        held = dict(np.load(path))
        held["u"] = held["u"][:, ::-1].copy()
        np.savez(path, **held)
    again = design(prior, solver=kept, gap=1e-2)
    assert np.array_equal(again.mechanism.weights, honest.mechanism.weights)


@pytest.mark.parametrize("gap", [1e-2, 1e-4])
def test_coarser_reports_have_an_optimum_of_their_own(monkeypatch, gap):
    monkeypatch.setattr(rounds, "_ENOUGH_SECRETS", 20)
    reports = LATTICE.sublattice(2)
    loss = LATTICE.metric().to("km").array[:, reports.indices]
    prior = town(1)

    def made(solver):
        return sf.design(
            prior,
            loss=loss,
            guarantees=PROMISE,
            observables=reports,
            solver=solver,
            gap=gap,
            method="table",
            tie_break=False,
        )

    one, other = made("generating"), made("structured")
    assert one.status is Status.OPTIMAL
    assert one.certificate.bound <= other.certificate.value
    assert other.certificate.bound <= one.certificate.value
    assert set(one.mechanism.observables.labels) <= set(reports.labels)
    assert one.mechanism.matrix.shape[1] <= len(reports)
