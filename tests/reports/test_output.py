"""Default output of commands: short, complete, and within eighty columns."""

import pytest

from sfumato_papers.invented_city import invented_city

from ..cli.conftest import runner


@pytest.fixture
def made(monkeypatch, tmp_path):
    """The run of a design on lattice points in a terminal of 80 columns, and the command line."""
    run = runner(monkeypatch, tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    options = ("--spacing", "1.5 km", "--method", "table", "--no-picture", "-o", "m.sfm")
    visits = invented_city(users=20, days=7)
    rows = (f"{lat:.6f},{lon:.6f}" for lat, lon in zip(visits.lat, visits.lon, strict=True))
    (tmp_path / "v.csv").write_text("\n".join(["lat,lon", *rows]) + "\n", encoding="utf-8")
    return run("design", "v.csv", *options), run


def test_a_design_prints_its_main_sentences(made):
    done, _ = made
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert len(lines) <= 12
    assert max(map(len, lines)) <= 80
    for part in (
        "A mechanism for",
        "Epsilon 1/km for any two points (proved).",
        "Average distance from true point to report: at most",
        "At least 95 % of reports from any point served are within",
        "Best attacker, knowing where the visits were: average error between",
        "with no report, 0 unprotected)",
        "of the best of them (proved by duality).",
        "Written: m.sfm, m.md",
        "Next: sfumato audit m.sfm.",
    ):
        assert part in done.text


@pytest.mark.slow
def test_the_report_in_words_keeps_everything(made, tmp_path):
    done, run = made
    text = (tmp_path / "m.md").read_text(encoding="utf-8")
    for title in ("Guarantee", "Cost", "Optimality", "Attack", "How it was made"):
        assert f"## {title}\n" in text
    assert "## Attack" not in done.out
    words = run("audit", "m.sfm", "--promises")
    assert "for all" in words.text
    assert "ordered pairs of lattice points" in words.text


@pytest.mark.slow
def test_the_table_of_an_audit_fits_eighty_columns(made):
    _, run = made
    done = run("audit", "m.sfm")
    assert done.code == 0, done.err
    table = done.out.partition("What was measured")[2].partition("In words")[0].splitlines()
    assert len(table) > 20
    assert max(map(len, table)) <= 80
    assert table[1].split() == ["notion", "or", "measure", "value", "side"]
