"""Whereabouts in words: boxes, towns and exchanged columns."""

import pytest

import sfumato as sf
from sfumato.geo.world import nearest_town, whereabouts


@pytest.mark.parametrize(
    ("name", "lat", "lon"),
    [
        ("Paris", 48.8584, 2.2945),
        ("New York City", 40.7484, -73.9857),
        ("Tokyo", 35.6586, 139.7454),
        ("Sydney", -33.8568, 151.2153),
        ("San Francisco", 37.8199, -122.4783),
        ("Rio de Janeiro", -22.9519, -43.2105),
        ("Beijing", 39.9163, 116.3972),
        ("Cape Town", -33.9628, 18.4098),
        ("Lausanne", 46.5191, 6.5668),
        ("Austin", 30.2849, -97.7341),
        ("Nasinu", -18.14, -179.9),
    ],
)
def test_sights_are_in_their_towns(name, lat, lon):
    """The positions are those of sights, not of the list."""
    found = nearest_town(lat, lon)
    assert found is not None
    town, away = found
    assert town.name == name
    assert away < 180_000


def test_a_town_a_village_and_the_sea():
    assert whereabouts([48.85, 48.87], [2.29, 2.36]).endswith("2.29 E to 2.36 E, in or near Paris")
    assert "from Orléans" in whereabouts([48.0], [1.5])
    assert "no large town" in whereabouts([40.0], [-30.0])
    assert "swapped" not in whereabouts([40.0], [-30.0])
    assert whereabouts([-33.9], [-58.4]).startswith("33.90 S to 33.90 S, 58.40 W to 58.40 W, ")


def test_swapped_columns_show():
    paris = sf.Visits([2.34, 2.35], [48.86, 48.85])
    assert "swapped" in whereabouts(paris.lat, paris.lon)
    assert "Paris" in whereabouts(paris.lat, paris.lon)
