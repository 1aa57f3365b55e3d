"""The basemap in the map of the page."""

import io

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from ..conftest import soon
from ..pmtiles import PNG, VECTOR, raster_tile, vector_tile, write_pmtiles

pytestmark = pytest.mark.slow

CREDIT = '<a href="https://elsewhere.example">&copy; Surveyors</a> <img src="https://elsewhere.example/x.png">'
LAYERS = [("earth", "earth"), ("landuse", "park")]
NAMES = [{"id": name} for name, _ in LAYERS]


def share(picture, colour):
    """Return the share of the pixels of a picture that have a colour, to within 2 of 255."""
    pixels = np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"), dtype=int)
    return float((abs(pixels - np.array(colour)).max(axis=2) <= 2).mean())


@pytest.mark.parametrize(
    ("kind", "tile", "dark", "colour"),
    [
        (VECTOR, vector_tile(LAYERS), False, (0xD6, 0xE3, 0xC6)),
        (VECTOR, vector_tile(LAYERS), True, (0x24, 0x34, 0x2C)),
        (PNG, raster_tile((200, 220, 120)), False, (200, 220, 120)),
    ],
    ids=["vector", "vector, dark", "raster"],
)
def test_the_map_is_drawn_on_the_basemap(visit, start, tmp_path, kind, tile, dark, colour):
    named = {"vector_layers": NAMES} if kind == VECTOR else {}
    file = write_pmtiles(tmp_path / "city.pmtiles", tile, kind, attribution=CREDIT, **named)
    with start("--basemap", str(file)) as own:
        workspace = own.ask("POST", "/workspaces")["id"]
        own.ask("POST", f"/workspaces/{workspace}/example", {"example": "city"})
        own.ask("PUT", f"/workspaces/{workspace}/site", {"kind": "places", "detail": 30})
        visitor = visit(at=own, dark=dark, workspace=workspace, view="data")
        credit = visitor.page.locator(".credit")
        expect(credit).to_contain_text("Basemap: © Surveyors")
        assert credit.locator("*").count() == 0
        stage = visitor.page.locator(".maplibregl-canvas")
        soon(lambda: share(stage.screenshot(), colour) > 0.1)
        visitor.meets_no_barrier()
        visitor.page.goto("about:blank")
