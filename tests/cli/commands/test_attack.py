"""``sfumato attack`` on a file that ``sfumato design`` wrote."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf


def test_attack_prints_the_errors(run, designed):
    done = run("attack", "m.sfm")
    assert done.code == 0, done.err
    d = designed.mechanism.secrets.metric("euclidean", unit="km")
    found = sf.attacks.optimal(designed.mechanism, designed.prior, d)
    assert sf.rounding.amount_at_least(found.error, "km") in done.text
    bits = sf.leakage.mutual_information_bits(designed.mechanism, designed.prior)
    assert f"{sf.rounding.at_most(bits)} bits" in done.text


def test_of_points_it_says_that_errors_are_about_vertices(run, visits_file):
    visits = sf.read_visits(visits_file)
    lattice = sf.Lattice.covering(visits, "3 km")
    prior = sf.Prior.from_visits(lattice, visits)
    made = sf.design(prior, loss=lattice.loss(visits), guarantees=sf.CoordinatePrivacy("1/km"), method="table")
    sf.save(sf.MechanismFile(made.mechanism, prior=prior), "points.sfm")
    done = run("attack", "points.sfm")
    assert done.code == 0, done.err
    text = " ".join(done.text.split())
    assert "the tables are about these, not about the true point" in text
    assert "Add --visits for errors from the true point" in text


@pytest.mark.parametrize("make", [sf.Lattice.covering, sf.Grid.covering])
def test_with_visits_errors_are_from_the_true_point(run, visits_file, make):
    visits = sf.read_visits(visits_file)
    places = make(visits, "3 km")
    prior = sf.Prior.from_visits(places, visits)
    promise = sf.MetricPrivacy("1/km", places.metric(unit="km"))
    made = sf.design(prior, loss=places.loss(visits), guarantees=promise, tie_break=False)
    sf.save(sf.MechanismFile(made.mechanism, prior=prior), "places.sfm")
    done = run("attack", "places.sfm", "--visits", visits_file)
    assert done.code == 0, done.err
    found = sf.attacks.true_place(made.mechanism, visits)
    low = sf.rounding.amount_at_least(found.error.lower, "km")
    high = sf.rounding.amount_at_most(found.error.upper, "km")
    text = " ".join(done.text.split())
    assert f"average error between {low} and {high} from the true point" in text
    assert "Add --visits" not in text
    assert ("centres of cells" in text) == isinstance(places, sf.Grid)


def test_the_chance_to_be_near_is_proved_again_from_a_file(run, designed, visits_file):
    done = run("attack", "m.sfm", "--visits", visits_file, "--within", "800 m")
    assert done.code == 0, done.err
    found = sf.attacks.chance_within(designed.mechanism, sf.read_visits(visits_file), "800 m")
    most, least = sf.rounding.percent_at_most(found.upper), sf.rounding.percent_at_least(found.lower)
    text = " ".join(done.text.split())
    assert f"within 800 m of the true point at most {most} of the time" in text
    apart = found.upper - found.lower > 1e-9 * found.upper  # else one number states both bounds
    assert (f"; some guesses reach {least}" in text) == apart
    missing = run("attack", "m.sfm", "--within", "800 m")
    assert missing.code == 1
    assert "--within was given without --visits" in missing.err
    for radius in ("800", "-1 m", "nan m", "5000 km"):
        wrong = run("attack", "m.sfm", "--visits", visits_file, "--within", radius)
        assert wrong.code == 1, radius
        assert "--within:" in wrong.err, radius


@pytest.mark.slow
def test_the_chance_to_be_near_is_not_stated_of_noise(run, visits_file):
    done = run("design", visits_file, "--method", "noise", "-o", "n.sfm", "--no-picture")
    assert done.code == 0, done.err
    done = run("attack", "n.sfm", "--visits", visits_file, "--within", "1 km")
    assert done.code == 1
    assert "--within was given, but n.sfm holds noise" in done.err


def test_what_is_known_without_a_report_is_told_alike_everywhere(run, designed):
    attacked, audited = run("attack", "m.sfm").text, run("audit", "m.sfm", "--promises").text
    (row,) = re.findall(r"no report, most probable guess.*?km.*?km ([\d.]+ %)", attacked)
    (told,) = re.findall(r"without the report +([\d.]+ %)", attacked)
    assert row == told
    assert f"(about {told} without the report" in " ".join(audited.split())


def test_attack_under_another_prior(run, designed, visits_file):
    user = next(iter(sf.read_visits(visits_file).users()))
    done = run("attack", "m.sfm", "--visits", visits_file, "--user", user, "--distance", "hamming")
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("attack", "missing.sfm"), "No such file"),
        (("attack", "m.sfm", "--user", "x"), "--user was given without --visits"),
        (("attack", "m.sfm", "--sharper", "3"), "--sharper 3 is not between 0 and 1"),
        (("attack", "m.sfm", "--informed", "-1"), "--informed -1 is not between 0 and 1"),
        (("attack", "m.sfm", "--misinformed", "nan"), "--misinformed nan is not between 0 and 1"),
    ],
)
def test_refusals(run, designed, arguments, message):
    done = run(*arguments)
    assert done.code == 1
    assert message in done.err
    assert "Traceback" not in done.err


def test_attack_needs_a_prior(run, designed):
    sf.save(designed.mechanism, "bare.sfm")
    done = run("attack", "bare.sfm")
    assert done.code == 1
    assert "holds no prior" in done.err


def test_the_visits_of_the_built_in_city_have_a_name(run):
    assert run("design", "--cells", "3x2", "-o", "m.sfm", "--no-picture").code == 0
    done = run("attack", "m.sfm", "--visits", "city")
    assert done.code == 0
    assert "'city' names the built-in synthetic city" in done.err
    assert "there is no file 'town'" in run("attack", "m.sfm", "--visits", "town").err


def test_days_of_reports_are_attacked(run, tmp_path):
    rng = np.random.default_rng(4)
    time = np.datetime64("2026-05-01", "s") + rng.integers(0, 20 * 86_400, 2000).astype("timedelta64[s]")
    visits = sf.Visits(
        48.85 + rng.normal(0, 0.01, 2000),
        2.35 + rng.normal(0, 0.01, 2000),
        rng.integers(0, 20, 2000).tolist(),
        time,
    )
    columns = {
        "lat": visits.lat,
        "lon": visits.lon,
        "user": np.asarray(visits.user).astype(str),
        "time": visits.time,
    }
    pq.write_table(pa.table(columns), "fixes.parquet")
    lattice = sf.Lattice.covering(visits, "2 km")
    made = sf.design(
        sf.Prior.uniform(lattice),
        loss=lattice.metric("euclidean", "km"),
        guarantees=sf.CoordinatePrivacy("1/km"),
        method="table",
    )
    sf.save(made, "m.sfm")
    done = run(
        "attack", "m.sfm", "--visits", "fixes.parquet", "--schedule", "3/km every 8 h", "--zone", "Europe/Paris"
    )
    assert done.code == 0, done.err
    text = " ".join(done.text.split())
    assert "all 3 reports together are at most e^(3/km x (r + " in text
    assert "smoother: knows all reports of the day" in text
    assert "a failed attack proves nothing" in text
    assert "A named place repeats one report" in text
    for options, message in (
        (["--schedule", "3/km every 8 h"], "--schedule was given without --visits"),
        (["--visits", "fixes.parquet", "--schedule", "2/km every 8 h"], "more than the day's 2/km"),
    ):
        refused = run("attack", "m.sfm", *options)
        assert refused.code == 1
        assert message in " ".join(refused.err.split())
