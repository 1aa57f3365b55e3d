"""Tables in the terminal: whole at every width, and the same numbers as the sentences beside them."""

import csv
import re
import shutil
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.cli.screen import Screen, column_widths, print_table
from sfumato.leakage import bayes_vulnerability, prior_vulnerability
from sfumato.rounding import amount, amount_at_least, amount_at_most, percent, percent_at_most

WIDTHS = (60, 80, 120)
HEADINGS = {
    "attack": ("attacker", "expected error", "error at the worst secret", "finds the secret"),
    "audit": ("notion or measure", "value", "side"),
    "compare": ("mechanism", "epsilon/km (proved)", "attacker's error", "finds the secret", "remaining entropy"),
    "sweep": ("prior", "epsilon/km", "distortion asked", "attacker's error", "finds the secret", "seconds"),
    "estimate": ("value", "share"),
}


@pytest.fixture
def released(run, city_folder):
    """A design and a release by it, in the folder of the test."""
    for path in city_folder.iterdir():
        shutil.copy(path, path.name)


def arguments(command, visits_file):
    small = (visits_file, "--cells", "4x3")
    return {
        "attack": ("attack", "m.sfm", "--sharper", "0.5"),
        "audit": ("audit", "m.sfm"),
        "compare": ("compare", *small),
        "sweep": (
            "sweep",
            *small,
            "--epsilons",
            "0.5/km, 1/km",
            "--distortions",
            "900 m",
            "--loss",
            "hamming",
        ),
        "estimate": ("estimate", "m.sfm", "out.csv", "--column", "label"),
    }[command]


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("command", ["attack", "audit", "compare", "estimate", "sweep"])
def test_no_heading_is_cut(run, released, visits_file, monkeypatch, command, width):
    monkeypatch.setenv("COLUMNS", str(width))
    done = run(*arguments(command, visits_file))
    assert done.code in (0, 3), done.err
    assert "…" not in done.out
    assert max(map(len, done.out.splitlines())) <= width
    for heading in HEADINGS[command]:
        for word in heading.split():
            assert re.search(rf"(?<!\w){re.escape(word)}", done.out), (heading, width)


@pytest.mark.parametrize("width", [24, 40, 60, 80, 120, 300])
def test_every_cell_is_whole_at_any_width(width, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    headings = ("prior", "epsilon/km", "distortion asked", "attacker's error")
    rows = [("everyone", "0.5", "1.2 km", "1,234.5 km"), ("a user of a very long name indeed", "12", "", "7 m")]
    print_table(Screen(), "A title of the table", headings, rows)
    out = capsys.readouterr().out
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= width
    for cell in (cell for row in rows for cell in row[1:]):
        assert cell in " ".join(out.split())
    for heading in headings:
        assert all(word in out for word in heading.split())


def test_numbers_and_headings_give_way_before_they_are_cut():
    headings, rows = ("mechanism", "loss of the report"), [("planar geometric", "123.45 km")]
    widths = column_widths(headings, rows, (0,), 27)
    assert widths is not None
    assert sum(widths) + 2 <= 27
    assert widths[1] >= len("123.45 km")
    assert column_widths(headings, rows, (0,), 12) is None


def test_there_is_no_table_that_could_cut_its_cells():
    folder = Path(sf.__file__).parent
    makers = [path.name for path in folder.rglob("*.py") if "rich.table" in path.read_text(encoding="utf-8")]
    assert makers == ["screen.py"]


def test_cells_are_text_and_nothing_else(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    print_table(Screen(), "[bold]", ("[red]", "x"), [("[/bold]", "\x1b[31m"), ("日本", "1")])
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert all(shown in out for shown in ("[bold]", "[red]", "[/bold]", r"\x1b[31m"))


def test_attack_says_the_same_as_the_report(run, designed, visits_file, tmp_path):
    """Without a report, with it: the table, the leakage and the report's sentences give the same numbers."""
    table = run("attack", "m.sfm").text
    report = (tmp_path / "m.md").read_text(encoding="utf-8")
    mechanism, prior = designed.mechanism, designed.prior
    km = mechanism.secrets.metric("euclidean", unit="km")
    goals = sf.attacks.goals(mechanism, prior, km)
    assert goals.blind_hit_rate == pytest.approx(prior_vulnerability(prior))
    assert goals.hit_rate == pytest.approx(bayes_vulnerability(mechanism, prior))
    for row, shown in (
        ("no report, guess of least error", goals.near_blind),
        ("no report, most probable guess", goals.hit_blind),
        ("optimal: least average error", goals.near),
        ("most probable: finds the secret most often", goals.hit),
    ):
        hits = shown.hit_rate
        assert hits is not None
        # What is known without a report is a fact of the prior; what a report gives away is a bound.
        told, share = (amount, percent) if row.startswith("no report") else (amount_at_least, percent_at_most)
        numbers = f"{told(shown.error, 'km')} {told(shown.worst_case_error, 'km')} {share(hits)}"
        assert f"{row} {numbers}" in table
    for words in (percent_at_most(goals.hit_rate), percent(goals.blind_hit_rate)):
        assert words in report
        assert f"the report {words}" in table or f"with it {words}" in table
    true = sf.attacks.true_place(mechanism, sf.read_visits(visits_file))
    for error in (amount_at_least(true.error.lower, "km"), amount(true.blind.value, "km")):
        assert f"{error} " in report


@pytest.mark.slow
def test_compare_and_sweep_and_attack_give_one_mechanism_the_same_numbers(run, visits_file):
    small = (visits_file, "--cells", "4x3")
    compared = run("compare", *small).text
    swept = run("sweep", *small, "--epsilons", "1/km", "-o", "s.csv", "--no-picture").text
    visits = sf.read_visits(visits_file)
    grid = sf.Grid.covering(visits, shape=(4, 3))
    prior, km = sf.Prior.from_visits(grid, visits), grid.metric("euclidean", unit="km")
    made = sf.design(prior, loss=km, guarantees=sf.MetricPrivacy("1/km", km))
    true = sf.design(prior, loss=grid.loss(visits), guarantees=sf.MetricPrivacy("1/km", km))
    nearest = sf.attacks.true_place(true.mechanism, visits).error.lower
    caught = percent_at_most(sf.leakage.bayes_vulnerability(true.mechanism, prior))
    sf.save(sf.MechanismFile(made.mechanism, prior), "d.sfm")
    attacked = run("attack", "d.sfm").text
    held = sf.read_mechanism_file("d.sfm")
    assert held.prior is not None
    goals = sf.attacks.goals(held.mechanism, held.prior, km)
    hits, error = percent_at_most(goals.hit_rate), amount_at_least(goals.near.error, "km")
    loss = amount_at_most(held.report_channel.expected_loss(held.prior, km), "km")
    assert re.search(rf"optimum \S+ {loss} {error} {hits}", compared)
    away, least = amount_at_most(true.certificate.loss, "km"), amount_at_least(nearest, "km")
    assert re.search(rf"{away} \S+ % {least} {caught}", swept)
    assert re.search(rf"finds the secret most often \S+ k?m \S+ k?m {hits}", attacked)
    blind = f"error is about {amount(goals.near_blind.error, 'km')}, and they find the secret about "
    assert f"{blind}{percent(goals.blind_hit_rate)}" in compared


@pytest.mark.slow
def test_a_sweep_says_which_of_several_mechanisms_of_equal_loss_it_took(run, visits_file, tmp_path):
    small = (visits_file, "--cells", "4x3", "--epsilons", "0.5/km, 1/km", "--no-picture")
    tied = run("sweep", *small, "--loss", "hamming").text
    assert "among mechanisms of equal loss, one with the most distortion privacy was chosen" in tied
    assert "hit_rate,tie_gap" in (tmp_path / "visits-sweep.csv").read_text()
    same = ("--metric", "great-circle", "--loss", "great-circle")
    assert "equal loss" not in run("sweep", *small, *same).text  # loss is the attacker's error: no tie is left


def test_the_informed_never_errs_more_and_the_misinformed_never_less(run, designed):
    def error(row, text):
        found = re.search(rf"{row} ([\d.]+) (k?m)", text)
        assert found, row
        return float(found[1]) * (1000 if found[2] == "km" else 1)

    text = run("attack", "m.sfm", "--informed", "0.7", "--misinformed", "0.7", "--sharper", "0.6").text
    best = error("optimal: least average error", text)
    assert error("informed: learns in 70 % of cases whether it is one of the two most probable", text) <= best
    assert error("misinformed: overconfident by 70 % of the two most probable", text) >= best
    knows = error("informed: knows this, smallest error", text)
    assert knows <= error("as the design expects: believes the prior", text)
    assert knows <= error("no report, knows this", text)


def test_estimates_are_read_from_one_computation(run, released):
    smooth = ("--method", "early-stopped")  # the likeliest shares of so few reports are withheld
    text = run("estimate", "m.sfm", "out.csv", "--column", "label", "-o", "e.csv", *smooth).text
    with open("e.csv", newline="", encoding="utf-8") as file:
        largest = max(float(row["probability"]) for row in csv.DictReader(file))
    assert percent(largest) in text


def test_the_audit_measures_the_same_attacks(designed):
    mechanism, prior = designed.mechanism, designed.prior
    km = mechanism.secrets.metric("euclidean", unit="km")
    goals = sf.attacks.goals(mechanism, prior, km)
    found = sf.audit(mechanism, prior=prior, metric=km)
    assert found.find("bayes-vulnerability").value == pytest.approx(goals.hit_rate, rel=1e-12)
    assert found.find("distortion").value == pytest.approx(goals.near.error, rel=1e-12)
