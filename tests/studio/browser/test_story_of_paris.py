"""The whole story on real check-ins: from a file, through every step, to what is taken along."""

import re

import pytest
from playwright.sync_api import expect

import sfumato as sf

from .visitor import LONGEST

pytestmark = pytest.mark.slow


def test_check_ins_of_paris_through_every_step(visit, shared_data, tmp_path):
    visitor = visit()
    visitor.page.set_input_files("#file", shared_data / "gowalla_paris.parquet")
    visitor.read("The map has", timeout=LONGEST)
    visitor.page.locator(".maplibregl-canvas").wait_for()
    visitor.page.get_by_text("Outline below the map").click()
    visitor.page.set_input_files("#outline", shared_data / "outlines" / "paris_quartiers.geojson")
    visitor.page.get_by_role("button", name="Remove the outline").wait_for()
    visitor.page.locator(".map .name").first.wait_for()
    visitor.page.get_by_text("Region and number of places").click()
    visitor.page.get_by_label("South").fill("48.85")
    visitor.page.get_by_label("About how many places").fill("30")
    with visitor.expect_answer("PUT", "/site"):
        visitor.press("Use this region")
    visitor.meets_no_barrier()

    visitor.press("Next: choose how private")
    visitor.read("Proved", timeout=LONGEST)
    visitor.page.locator("progress").first.wait_for(timeout=LONGEST)
    visitor.page.locator("progress").first.wait_for(state="detached", timeout=LONGEST)
    visitor.meets_no_barrier()
    visitor.page.get_by_label(re.compile("^You are at")).select_option(index=9)
    visitor.act("Report 100 times")
    visitor.read("What the first report reveals")
    visitor.act("Walk")
    visitor.press("Add this stop")
    visitor.press("Start the walk")
    visitor.read("After report 20 of 20")
    visitor.act("Attack")
    visitor.press("Add")
    visitor.press("Attack with this")
    visitor.read("Three attackers")
    visitor.act("Compare")
    action = visitor.page.locator(".action")
    action.get_by_role("button", name="Compare", exact=True).click()
    action.get_by_role("button", name="Stop").click()  # every mechanism is tuned on thousands of visits
    expect(action.get_by_role("button", name="Compare", exact=True)).to_be_enabled()

    visitor.turn("Take away")
    visitor.meets_no_barrier()
    with visitor.page.expect_download() as download:
        visitor.page.get_by_role("link", name="Mechanism file").click()
    download.value.save_as(tmp_path / "paris.sfm")
    assert isinstance(sf.load(tmp_path / "paris.sfm"), sf.Mechanism)
