"""The study of days: its errors against a plain computation, its tables, and the pages that quote them."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.sequences import Follower, MovementModel, day_positions
from sfumato_papers.reproduction import RunTables, Setting
from sfumato_papers.results import rows_of, where
from sfumato_papers.sequences import (
    PERMANENT,
    POPULATION,
    PRIVATE,
    RAW,
    REMAP,
    HomeRow,
    PolicyRow,
    learning_policy,
    loss_figure,
    mean_loss,
    person_errors,
)
from sfumato_papers.sequences.paper import PAPER

ROOT = Path(__file__).resolve().parents[2]
SLOTS, ZONE = (540, 900, 1260), "Etc/GMT+5"
NOISE = CoordinateNoise("2/km", projection=sf.geo.Projection(40.75, -73.98))
PLACES = np.array([[40.75 + 0.01 * row, -73.98 + 0.013 * column] for row in range(3) for column in range(3)])


@pytest.fixture(scope="module")
def walks():
    """Twelve people at two places each, 20 days, four visits a day."""
    generator = np.random.default_rng(4)
    user = np.repeat(np.arange(12), 80)
    two = generator.integers(0, 9, (12, 2))
    hours = np.tile([13, 15, 19, 23], 240)  # UTC
    time = np.datetime64("2026-06-01T00", "h") + 24 * np.tile(np.repeat(np.arange(20), 4), 12) + hours
    second = (hours > 16) ^ (generator.random(len(user)) < 0.1)
    place = PLACES[two[user, second.astype(int)]]
    lat, lon = (place + generator.normal(0, 1e-4, place.shape)).T
    return sf.Visits(lat, lon, user, time)


def test_errors_are_those_of_a_follower_on_the_last_days(walks):
    population = MovementModel.of_visits(walks.select(walks.user != 3), PLACES, SLOTS, ZONE)
    rows = person_errors("walks", 2, walks.of_user(3), population, NOISE, (4, 8))
    assert [row.policy for row in rows] == [
        RAW,
        REMAP,
        POPULATION,
        learning_policy(4),
        learning_policy(8),
        PRIVATE,
    ]
    truth = day_positions(walks.of_user(3), SLOTS, ZONE)[1:]
    reports = sf.simulator(NOISE, 2).blur(truth[..., 0], truth[..., 1])
    follower = Follower(population, NOISE)
    plane: Any = NOISE.projection
    raw, losses = [], []
    for day, points in zip(truth[-6:], reports[-6:], strict=True):  # 30 % of 19 days, rounded up
        follower.restart()
        for slot, position, report in zip(SLOTS, day, points, strict=True):
            follower.update(slot, *report)
            shown = follower.estimate(slot)
            here = plane.forward(*position[:, None])
            raw.append(np.hypot(*(plane.forward(*report[:, None]) - here).T).item())
            losses.append(np.hypot(*(plane.forward([shown.lat], [shown.lon]) - here).T).item())
    assert (rows[0].days, rows[0].epsilon_per_km) == (6, 6)
    assert rows[0].loss_m == pytest.approx(np.mean(raw), abs=0.06)
    assert rows[2].loss_m == pytest.approx(np.mean(losses), abs=0.2)


def test_the_private_model_has_no_held_out_day(walks):
    """Other positions on the last days change their errors, but no model and no estimate."""
    person = walks.of_user(3)
    late = person.time >= np.datetime64("2026-06-15T05:00")
    moved = sf.Visits(
        np.where(late, 40.76, person.lat), np.where(late, -73.97, person.lon), person.user, person.time
    )
    seen = []

    def model_of(visits, *arguments):
        model = sf.sequences.PrivateMovementModel.of_days(visits, *arguments)
        seen.append(model.kernels)
        return model

    population = MovementModel.of_visits(walks.select(walks.user != 3), PLACES, SLOTS, ZONE)
    for visits in (person, moved):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sfumato_papers.sequences.paper.PrivateMovementModel", SimpleNamespace(of_days=model_of))
            person_errors("walks", 2, visits, population, NOISE, (4,))
    np.testing.assert_array_equal(seen[0], seen[1])
    assert len(seen) == 2


def test_a_file_without_enough_days_is_refused_before_the_work(walks):
    few = walks.select(walks.time < np.datetime64("2026-06-05"))
    with pytest.raises(DataError, match="fewer than two people of 'walks' have 10 days"):
        PAPER.parts(Setting(True, {"walks": few}, has_files=True))
    with pytest.raises(DataError, match="no users or no times"):
        PAPER.parts(Setting(True, {"walks": sf.Visits([40.75], [-73.98])}, has_files=True))


def test_the_quick_run_agrees_with_itself(quick_run):
    """Differences in claims are those of paired losses, and the figure draws their means."""
    reproduced = quick_run("sequences")
    rows = rows_of(reproduced.folder / "sequences-errors.csv", PolicyRow)
    first, second = (
        np.array([row.loss_m for row in where(rows, epsilon_per_km=6.0, policy=policy)])
        for policy in (POPULATION, REMAP)
    )
    assert f"6/km: {np.mean(first - second):+.0f} m (" in reproduced.claims[0].found
    (panel,) = loss_figure(rows).axes
    drawn = np.asarray(panel.lines[0].get_ydata(), dtype=float)
    assert drawn[1] * 1000 == pytest.approx(mean_loss(rows, 6.0, RAW).value)
    strongest = np.asarray(panel.lines[-1].get_ydata(), dtype=float)
    assert all((strongest <= line.get_ydata()).all() for line in panel.lines[2:-1])


def test_the_page_quotes_its_tables():
    words = (ROOT / "docs" / "explanation" / "days.md").read_text(encoding="utf-8")
    tables = RunTables(ROOT / "docs" / "data")
    rows = tables.rows("sequences-errors", PolicyRow)
    for source in ("Gowalla", "Foursquare"):
        people = where(rows, source=source)
        for policy in (RAW, REMAP, POPULATION, learning_policy(10), learning_policy(30), PRIVATE):
            cells = [mean_loss(people, epsilon, policy) for epsilon in (3.0, 6.0, 12.0)]
            half = [f"{each.value / 1000:.2f} ± {(each.upper - each.value) / 1000:.2f}" for each in cells]
            assert re.search(rf"^\| {source} \| {policy}[^|]*\| {' [|] '.join(half)} \|$", words, re.MULTILINE), (
                half
            )
    homes = where(tables.rows("sequences-homes", HomeRow), policy=PERMANENT)
    assert len({row.error_m for row in homes}) == 1


def test_a_person_of_the_docs_has_the_same_errors_again(shared_data):
    """The least busy of the 40 people of Foursquare, from the file."""
    visits = sf.read_visits(shared_data / "foursquare_nyc.parquet", user="user", time="time")
    *_, part = PAPER.parts(Setting(False, {"Foursquare": visits}, has_files=True))
    source, epsilon, city, region, zone, people, learning = part.arguments
    grid = sf.Grid.covering(region, shape=(11, 12))
    noise = CoordinateNoise("2/km", projection=grid.projection)
    slots = (540, 720, 900, 1080, 1260, 1440)
    strangers = city.select(~np.isin(city.user, people))
    population = MovementModel.of_visits(strangers, grid.latlon, slots, zone)
    rows = person_errors(source, 40, city.of_user(people[39]), population, noise, learning)
    table = rows_of(ROOT / "docs" / "data" / "sequences-errors.csv", PolicyRow)
    documented = where(table, source=source, epsilon_per_km=epsilon, person=40)
    assert [row.policy for row in rows] == [row.policy for row in documented]
    for field in ("loss_m", "smoother_m", "viterbi_m"):
        again, before = ([getattr(row, field) for row in group] for group in (rows, documented))
        np.testing.assert_allclose(again, before, atol=0.3)
