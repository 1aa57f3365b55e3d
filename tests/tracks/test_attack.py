"""The attack on zones: the law of what a way shows against simulated routes, and the table against the attack."""

from collections import Counter

import numpy as np
import pytest

from sfumato.errors import InputError
from sfumato.tracks import attack, simulate_zone_attack
from sfumato.tracks.zones import SECTORS


@pytest.mark.parametrize(
    ("centre", "far_end", "cut"),
    [((1.3, -2.1), (-31, 26), True), ((-3.2, 1.9), (40, 1), True), ((0.4, 4.1), (12, -38), False)],
)
def test_the_probability_of_a_way_is_that_of_simulated_routes(centre, far_end, cut):
    rng = np.random.default_rng(7)
    middle, end = np.array(centre), np.array(far_end)
    corner = np.rint(middle).astype(int) - attack._SIDE // 2
    grid = corner + np.stack(np.meshgrid(*[np.arange(attack._SIDE)] * 2, indexing="ij"), axis=-1)
    inside = np.hypot(*np.moveaxis(grid - middle, -1, 0)) <= attack._BLOCKS
    counts: Counter[tuple[tuple[int, int], int]] = Counter()
    trials = 2_000
    for _ in range(trials):
        lengths = attack._BLOCKS * rng.random(SECTORS) if cut else None
        way = attack._leave(rng, middle, end, lengths)
        counts[way.crossing, way.direction] += 1
    total = 0.0
    for (crossing, direction), count in counts.most_common(40):
        way = attack._Way(crossing, direction, 0.5, far_end, 0)
        chances = attack._one_way(way, corner, inside, np.sign(end), cut=cut)[tuple(-corner)]
        chance = float(chances.sum()) / (attack._BLOCKS if cut else 1)
        assert abs(count - trials * chance) < 5 * np.sqrt(trials * chance) + 3
        total += chance
    assert (0.3 if cut else 0.97) < total < 1 + 1e-9


def test_cuts_help_and_tracks_give_away_more():
    raw = [simulate_zone_attack(tracks, 2 * tracks, cut=False, homes=8) for tracks in (1, 10)]
    cut = [simulate_zone_attack(tracks, 2 * tracks, homes=8) for tracks in (1, 10)]
    assert raw[1] < 0.08
    assert raw[1] < cut[1] < cut[0]
    assert raw[0] < cut[0]
    with pytest.raises(InputError, match="no tracks"):
        simulate_zone_attack(0, 1)


def test_without_tracks_the_guess_is_the_middle():
    points = np.sqrt(np.random.default_rng(1).random(200_000))
    assert attack.known_attack_m(0, 0, 500) == pytest.approx(500 * points.mean(), rel=0.01)


@pytest.mark.slow
def test_the_table_is_what_the_simulation_gives():
    for row, tracks in enumerate(attack._TRACKS):
        for column in (1, 4):
            error = simulate_zone_attack(tracks, attack._DIRECTIONS[column], homes=120)
            assert attack._ERRORS[row, column] == pytest.approx(error, rel=0.03)
