"""Cuts of tracks: nothing near a zone is visible, and nothing that is visible depends on what is hidden."""

import math

import numpy as np
import pytest

from sfumato.errors import InputError
from sfumato.tracks import Track, Zone
from sfumato.tracks.track import cut

from .rides import HOME, LOLLIPOP, OUT, RING, M, moments, walk

ZONE = Zone.around(*HOME, (11, -20))


def no_length(zone: Zone, sector: int) -> float:
    return 0.0


def wander(seed: int, steps: int = 600, step: float = 60.0) -> np.ndarray:
    """Return a random walk around home."""
    rng = np.random.default_rng(seed)
    angles = np.cumsum(rng.normal(0, 0.5, steps))
    xy = np.cumsum(step * np.column_stack([np.cos(angles), np.sin(angles)]), axis=0) + rng.uniform(-900, 900, 2)
    xy = (xy + 2500) % 5000 - 2500  # with jumps, some across the zone
    return np.column_stack([HOME[0] + xy[:, 1] / M, HOME[1] + xy[:, 0] / M / math.cos(math.radians(HOME[0]))])


@pytest.mark.parametrize("seed", range(6))
def test_no_point_and_no_line_is_in_a_zone(seed):
    zones = [ZONE, Zone.around(HOME[0] + 0.01, HOME[1], (3, 3))]
    track = Track(wander(seed))
    visible = cut(track, zones, no_length).track
    rows = {tuple(row) for row in track.latlon.tolist()}
    assert 10 < len(visible) < len(track)
    assert all(tuple(row) in rows for row in visible.latlon.tolist())
    for part in visible.parts:
        assert len(part) > 1
        for first, last in zip(part.latlon[:-1], part.latlon[1:], strict=True):
            line = first + np.linspace(0, 1, 3000)[:, None] * (last - first)
            assert not any(zone.contains(*line.T).any() for zone in zones)


def test_nothing_visible_depends_on_the_hidden_part():
    track = walk(LOLLIPOP)
    hidden = ZONE.contains(*track.T)
    rng = np.random.default_rng(1)
    other = track.copy()
    other[hidden] = ZONE.centre + rng.uniform(-0.002, 0.002, (int(hidden.sum()), 2))
    fewer = np.delete(track, np.flatnonzero(hidden)[3:20], axis=0)
    first, *others = (
        cut(Track(each), [ZONE], lambda zone, sector: 2.0 * sector) for each in (track, other, fewer)
    )
    for each in others:
        assert each.track.latlon.tolist() == first.track.latlon.tolist()
        assert each.track.part.tolist() == first.track.part.tolist()
        assert (each.ways, each.ends) == (first.ways, first.ends)


def test_the_cut_goes_on_to_the_next_turn_and_by_the_length():
    """The first turn outside of this zone is at 400 m east and 300 m north; then the street is straight."""
    corner = walk(((400, 300),))[0]
    for length in (0.0, 100.0, 430.0):
        visible = cut(Track(walk(LOLLIPOP)), [ZONE], lambda *_, by=length: by)
        north, east = ((visible.track.latlon[[0, -1]] - corner) * M).T
        assert east == pytest.approx(0, abs=0.1)
        assert np.all((north >= length - 0.1) & (north <= length + 25))
        assert visible.ends == 2
        assert visible.ways[ZONE].bit_count() == 1


def test_a_straight_road_is_cut_for_two_radii():
    visible = cut(Track(walk(((0, 0), (0, 5000)))), [ZONE], no_length).track
    edge = np.flatnonzero(~ZONE.contains(*walk(((0, 0), (0, 5000))).T))[0] * 8
    assert (visible.latlon[0, 0] - HOME[0]) * M == pytest.approx(edge + 1000, abs=10)


def test_jitter_does_not_shorten_the_cut():
    """Steps of 1.4 m, each position off by 3 m: three times as long as the street."""
    street = walk(((0, 0), (0, 5000)), step=1.4)
    noisy = street + np.random.default_rng(2).normal(0, 3 / M, street.shape)
    edge = np.flatnonzero(ZONE.contains(*noisy.T))[-1] * 1.4
    assert Track(noisy).length_m > 2.5 * Track(street).length_m
    visible = cut(Track(noisy), [ZONE], lambda *_: 400.0).track
    assert 0.85 * 1400 < (visible.latlon[0, 0] - HOME[0]) * M - edge < 1420


def test_a_pass_in_the_middle_of_a_track_leaves_two_parts():
    street = walk(((-4000, 100), (-1500, 100), (-1500, 0), (1500, 0), (1500, 100), (4000, 100)))
    visible = cut(Track(street, time=moments(len(street))), [ZONE], no_length)
    assert [part.latlon[0, 1] < HOME[1] for part in visible.track.parts] == [True, False]
    assert visible.ends == 2
    shifted = visible.track.with_times("shift")
    gap = np.flatnonzero(np.diff(shifted.part))[0]
    assert np.diff(shifted.time)[gap] == np.timedelta64(1, "s")
    assert shifted.time[0] == np.datetime64("1970-01-01")
    assert shifted.duration_s == visible.track.duration_s
    assert not visible.track.with_times("drop").has_times


def test_a_line_across_a_zone_cuts_like_a_point_there():
    first, second = walk(((-3000, 0), (-1500, 0), (-1500, 900))), walk(((1500, 0), (1500, 900), (3000, 900)))
    zone = Zone.around(*HOME, (30, 0))
    for between in (np.empty((0, 2)), [zone.centre]):
        visible = cut(Track(np.concatenate([first, between, second])), [zone], no_length)
        assert [len(part) > 100 for part in visible.track.parts] == [True, True]
        assert visible.ends == 2


def test_a_recording_that_starts_next_to_a_zone_is_cut_as_well():
    whole = walk(LOLLIPOP)
    late = whole[np.flatnonzero(~ZONE.contains(*whole.T))[0] + 5 :]
    assert cut(Track(late), [ZONE], no_length).ends == 2
    far = walk(((0, 4000), (3000, 4000)))
    assert cut(Track(far), [ZONE], no_length).track.latlon.tolist() == far.tolist()


def test_the_loop_alone():
    """The ways part at 1,500 m east and 900 m north."""
    loop = Track(walk(LOLLIPOP)).loop()
    parting = walk(((1500, 900),))[0]
    for end in (loop.latlon[0], loop.latlon[-1]):
        assert np.hypot(*(end - parting) * M) < 60
    assert loop.length_m == pytest.approx(2100 + 1500 + 2100 + 1500, abs=120)
    there_and_back = Track(walk((*OUT, *OUT[-2::-1]))).loop()
    assert there_and_back.length_m == pytest.approx(Track(walk(OUT)).length_m, rel=0.05)
    with pytest.raises(InputError, match="has no loop"):
        cut(Track(walk(RING)), [ZONE], no_length).track.loop()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"latlon": [[91.0, 2.0]]}, "beyond 90 degrees"),
        ({"elevation": [1.0]}, "1 elevations for 3 points"),
        ({"time": np.array(["2026-05-01", "NaT", "2026-05-02"], "datetime64[us]")}, "1 of 3 points have no time"),
        ({"time": moments(3)[::-1]}, "time of point 2 is before"),
        ({"time": ["x", "y", "z"]}, "cannot be read"),
        ({"part": [0, 1]}, "2 parts for 3 points"),
    ],
)
def test_tracks_that_do_not_fit_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        Track(**({"latlon": walk(((0, 0), (0, 16)))} | change))
    assert len(Track(np.empty((0, 2)))) == 0
