"""``sfumato learn`` and ``sfumato attack --learned``."""

import html
import re
from hashlib import sha256

import numpy as np
import pytest

import sfumato as sf
from sfumato.rounding import percent

pytestmark = pytest.mark.usefixtures("torch")
FAST = ("--cells", "5x4", "--max-loss", "600 m", "--rounds", "8")


@pytest.fixture
def homes(run, tmp_path):
    """Visits of two groups that live at two ends of a town."""
    rng = np.random.default_rng(5)
    lines = ["user,lat,lon,home"]
    for k in range(600):
        home = k % 2
        lat, lon = 48.85 + 0.004 * rng.standard_normal(), 2.34 + 0.02 * home + 0.006 * rng.standard_normal()
        lines.append(f"u{k % 12},{lat:.6f},{lon:.6f},{'west' if home == 0 else 'east'}")
    (tmp_path / "v.csv").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("options", [(), ("--target", "information"), ("--epsilon", "2/km")])
def test_a_column_is_hidden(run, homes, options, tmp_path):
    done = run("learn", "v.csv", *FAST, "--sensitive", "home", "-o", "m.sfm", "--report", "m.html", *options)
    assert done.code == 0, done.err
    page, made = html.unescape((tmp_path / "m.html").read_text()).split('">How this was made</h2>')
    assert sha256((tmp_path / "m.sfm").read_bytes()).hexdigest() in made
    assert "sfumato learn v.csv" in made
    found = re.search(
        r"finds the value at most ([\d.]+ %) of the time after one report.*? are at most ([\d.]+ m) from", page
    )
    assert found is not None
    row = next(line for line in done.out.splitlines() if "learned, on held-out" in line)
    assert all(number in row for number in found.groups())
    title, *rows = re.findall(
        r"<caption><span>(Hiding.*?)</span></caption>|<tr><th scope=\"row\">(.*?)</tr>", page
    )
    assert title[0] in done.text
    assert len(rows) == 4
    for _, row in rows:  # every cell of the page is what the terminal says
        assert all(cell in done.text for cell in re.findall(r"<td[^>]*>(.*?)</td>", row))
    assert "480 visits to learn from" in page
    assert ("What was learned has no guarantee" in page) == ("--epsilon" not in options)
    assert ("Proved on the integers" in page) == ("--epsilon" in options)
    assert page.count("<svg") == 3
    assert "https:" not in page
    assert "480 visits to learn from, 120 to judge; hiding 2 values" in done.text
    assert "certified optimum" in done.text
    assert "Proved: on the training visits" in done.text
    assert "NOT within the limit" not in done.text
    assert "NOT FINISHED" not in done.text
    for offer in ("hides more than the learned mechanism", "Next: add --optimum"):
        assert (offer in done.text + done.err) == ("--epsilon" not in options)
    held = sf.read_mechanism_file("m.sfm")
    assert held.prior is not None
    assert held.loss is not None
    assert held.report_channel.expected_loss(held.prior, held.loss) <= 600 * (1 + 1e-9)
    grid, reports = held.report_channel.secrets, held.report_channel.observables.coordinates
    assert isinstance(grid, sf.geo.Grid)
    assert reports is not None
    learning, _ = sf.learning.Pairs.of_visits(sf.read_visits("v.csv"), grid, "home").split(0.8, seed=1)
    cells = grid.locate(*grid.projection.inverse(learning.points).T)
    away = np.hypot(*(learning.points[:, None] - reports[None]).transpose(2, 0, 1))
    matrix = held.report_channel.matrix
    assert (matrix[cells] * away).sum(axis=1).mean() <= 600 * (1 + 1e-9)  # from the true points
    assert len(held.guarantees) == ("--epsilon" in options)
    if held.guarantees:
        assert "Proved on the integers that are sampled" in done.text
        assert run("audit", "m.sfm", "--promises").code == 0


def test_a_bound_that_no_private_mechanism_meets_is_refused_before_training_with_the_least(run, homes):
    done = run("learn", "v.csv", *FAST, "--sensitive", "home", "--epsilon", "0.8/km")
    assert done.code == 1
    least = re.search(
        r"no mechanism that reports the centres of these cells loses less than ([\d.]+) m on average", done.err
    )
    enough = re.search(r"allow --max-loss '([\d.]+ m)'", done.err)
    assert least
    assert enough, done.err
    assert 600 < float(least[1]) <= float(enough[1].split()[0])
    followed = run(
        "learn",
        "v.csv",
        *FAST[:2],
        "--max-loss",
        enough[1],
        *FAST[4:],
        "--sensitive",
        "home",
        "--epsilon",
        "0.8/km",
    )
    assert followed.code == 0, followed.err
    assert "NOT within the limit" not in followed.text


def test_tables_are_whole_and_say_what_the_sentences_say(run, homes, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    done = run("learn", "v.csv", *FAST, "--sensitive", "home", "-o", "m.sfm")
    assert "…" not in done.out
    assert all(word in done.text for word in ("finds", "information", "(bits)", "point"))
    assert max(map(len, done.out.splitlines())) <= 60


@pytest.mark.slow
@pytest.mark.parametrize("promise", [(), ("--epsilon", "2/km")])
def test_a_network_is_counted_on_the_cells(run, homes, promise):
    done = run(
        "learn", "v.csv", *FAST[:4], "--rounds", "2", "--sensitive", "home", "--neural", "-o", "m.sfm", *promise
    )
    assert done.code == 0, done.err
    assert "learned, on held-out visits" in done.text
    held = sf.read_mechanism_file("m.sfm")
    assert held.prior is not None
    assert held.loss is not None
    assert ("Proved on the integers that are sampled" in done.text) == bool(promise)
    assert len(held.guarantees) == bool(promise)
    if promise:
        assert held.report_channel.expected_loss(held.prior, held.loss) <= 600 * (1 + 1e-9)
        assert run("audit", "m.sfm", "--promises").code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--sensitive", "age"), "there is no column 'age'"),
        (("--max-loss", "-1 m"), "Hint:"),
        (("--max-loss", "50 m"), "even the nearest centres of these cells are"),
        (("--gap", "0"), "--gap 0 is not between 0 and 1"),
        (("--gap", "nan"), "--gap nan is not between 0 and 1"),
        (("--time-limit", "-1"), "--time-limit -1 is not positive"),
        (("-o", "m.csv"), "does not end in .sfm"),
        (("--checkpoints", "nowhere/at/all.pt"), "there is no folder"),
    ],
)
def test_refusals(run, homes, options, message):
    done = run("learn", "v.csv", *FAST, *options)
    assert done.code == 1
    assert message in done.err


def test_an_optimum_not_within_its_gap_ends_with_code_3_and_says_what_is_reached(run, homes, tmp_path):
    options = ("--sensitive", "home", "--optimum", "best.sfm", "--report", "m.html")
    done = run("learn", "v.csv", *FAST[:4], "--rounds", "1", *options, "--time-limit", "1e-6")
    assert done.code == 3
    warning = "The certified optimum is NOT FINISHED: stopped at the time limit"
    assert warning in done.text
    assert warning in html.unescape((tmp_path / "m.html").read_text())
    assert "hides more than the optimum by" in done.text  # the gap that is proved
    assert (tmp_path / "best.sfm").exists()


def test_learned_attackers_do_no_better_than_the_one_who_knows(run):
    space = sf.Space.numbers(range(4))
    mechanism = sf.mechanisms.geometric(space, 1.0)
    sf.save(sf.MechanismFile(mechanism, sf.Prior.uniform(space)), "g.sfm")
    done = run("attack", "g.sfm", "--distance", "absolute", "--learned")
    assert done.code == 0, done.err
    assert "random forest" in done.text
    assert percent(sf.leakage.bayes_vulnerability(mechanism, sf.Prior.uniform(space))) in done.text


def test_the_certified_optimum_is_written_with_its_reports(run, homes):
    done = run("learn", "v.csv", *FAST, "--sensitive", "home", "--optimum", "best.sfm")
    assert done.code == 0, done.err
    assert "with reports anywhere on the plane" in done.text
    content = sf.read_mechanism_file("best.sfm")
    channel = content.report_channel
    assert content.prior is not None
    assert content.loss is not None
    assert channel.observables.crs == sf.core.WGS84
    assert channel.expected_loss(content.prior, content.loss) <= 600
    refused = run("learn", "v.csv", *FAST, "--epsilon", "2/km", "--optimum", "best.sfm")
    assert refused.code == 1
    assert "does not guarantee" in refused.err
