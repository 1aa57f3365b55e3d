"""Zones: Theorem E by enumeration with the real offsets, and their life in a ledger."""

import sqlite3

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.geo import Projection
from sfumato.tracks import Zone, Zones, offsets

PLACES = [(48.8601, 2.3502), (-33.9, 18.42), (0.0, -78.5), (69.65, 18.96), (52.2, 179.99999), (-79.5, -180.0)]


@pytest.fixture
def ledger(tmp_path):
    return sf.Ledger.create(tmp_path / "zones.db", 1)


@pytest.mark.parametrize(("lat", "lon"), PLACES)
def test_every_anchor_in_a_zone_draws_it_by_the_same_number_of_offsets(lat, lon):
    """By one, all offsets being different; and anchors outside draw it by none: the factor is exactly 1."""
    moves = offsets(50)
    assert len(set(moves)) == len(moves)
    zone = Zone.around(lat, lon, moves[17], 50)
    rng = np.random.default_rng(3)
    middle, east = zone.centre, 9.05e-5 / np.cos(np.radians(zone.centre[0]))
    anchors = np.array(middle) + rng.uniform(-8, 8, (150, 2)) * (9.05e-5, east)
    anchors[:, 1] = (anchors[:, 1] + 180) % 360 - 180
    counts = [sum(Zone.around(anchor[0], anchor[1], move, 50) == zone for move in moves) for anchor in anchors]
    inside = zone.contains(*anchors.T)
    assert counts == inside.astype(int).tolist()
    assert 40 < inside.sum() < 110
    assert zone.contains(lat, lon)


@pytest.mark.parametrize(("lat", "lon"), PLACES)
def test_a_zone_has_all_points_within_its_radius(lat, lon):
    zone = Zone.around(lat, lon, (0, 0))
    around = Projection(*zone.centre)
    angles = np.linspace(0, 2 * np.pi, 721)
    edge = np.column_stack([np.cos(angles), np.sin(angles)])
    points = [around.inverse(edge * radius) for radius in (100.0, 499.9, 500.0, 530.0)]
    assert [bool(zone.contains(*latlon.T).all()) for latlon in points] == [True, True, True, False]
    assert not zone.contains(*points[3].T).any()
    assert len(offsets(500)) == pytest.approx(np.pi * 51**2, rel=0.01)


def test_a_zone_is_drawn_once(ledger, monkeypatch):
    home = Zones(ledger).add("home", *PLACES[0])
    monkeypatch.setattr("secrets.choice", lambda _: pytest.fail("drawn again"))
    with sf.Ledger(ledger.address) as again:
        zones = Zones(again)
        inside = home.centre
        assert zones.add("home", *PLACES[0]) == zones.add("home", *inside) == home
        assert zones.add("work", inside[0] + 0.001, inside[1]) == home
        assert zones.zones == (home,)
        with pytest.raises(InputError, match="outside the zone of the place's first one"):
            zones.add("home", inside[0] + 0.01, inside[1])
    assert ledger.check().sound


def test_a_place_that_moved_has_another_zone_and_the_first_one_stays(ledger):
    zones = Zones(ledger, radius_m=600)
    first, second = zones.add("home", 48.86, 2.35), zones.add("home", 48.9, 2.35, move=True)
    assert zones.zones == (first, second)
    assert second.contains(48.9, 2.35)
    assert zones.add("home", 48.9, 2.35) == second
    assert zones.add("home", *first.centre, move=True) == first
    assert len({*zones.zones}) == 2
    assert Zones(ledger).radius_m == 600
    with pytest.raises(InputError, match="radius of 600 m, not 700 m"):
        Zones(ledger, radius_m=700)
    balance = ledger.balance("owner")
    assert (balance.spent, balance.left, balance.reports) == (0, 1, 0)
    assert ledger.check().sound


def test_offsets_are_drawn_evenly_from_one_list(ledger, monkeypatch):
    lists = []

    def choose(moves):
        lists.append(moves)
        return moves[0]

    monkeypatch.setattr("secrets.choice", choose)
    zones = Zones(ledger, radius_m=50, allow_small=True)
    for lat, lon in PLACES:
        zones.add(f"at {lat}", lat, lon)
    assert all(each is offsets(50) for each in lists)
    assert len(lists) == len(PLACES)


def test_small_radii_and_places_off_the_earth_are_refused(ledger):
    with pytest.raises(InputError, match="below 500 m") as small:
        Zones(ledger, radius_m=499)
    assert "allow_small=True" in small.value.hint
    with pytest.raises(InputError, match="cannot be made"):
        Zones(ledger, radius_m=10, allow_small=True)
    with pytest.raises(InputError, match="beyond 80 degrees"):
        Zones(ledger).add("home", 2.35, 248.86)
    assert Zones(ledger).zones == ()


def test_an_error_while_drawing_stores_nothing(ledger):
    def fail(before, others):
        raise InputError("no zone.", "none.")

    with pytest.raises(InputError, match="no zone"):
        ledger.remember("ada", "home", fail, b"m")
    assert ledger.remembered("ada", b"m") == []
    assert ledger.head.startswith("0:")
    assert ledger.remember("ada", "home", lambda before, others: 7, b"m") == 7
    assert ledger.remember("ada", "home", lambda before, others: before + len(others), b"m") == 8
    assert ledger.remembered("ada", b"m") == [7, 8]
    assert ledger.check().sound


def test_a_zone_that_was_changed_is_noticed(ledger):
    Zones(ledger).add("home", *PLACES[0])
    ledger.close()
    with sqlite3.connect(ledger.address) as connection:
        connection.execute("UPDATE sfumato_places SET report = '[1.0, 2.0]' WHERE report LIKE '[%'")
    assert not sf.Ledger(ledger.address).check().sound
