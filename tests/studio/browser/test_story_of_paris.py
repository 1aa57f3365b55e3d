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
    visitor.read("Your places", timeout=LONGEST)
    visitor.page.locator(".maplibregl-canvas").wait_for()
    visitor.page.set_input_files("#outline", shared_data / "outlines" / "paris_quartiers.geojson")
    visitor.page.get_by_role("button", name="Remove the outline").wait_for()
    visitor.page.locator(".map .name").first.wait_for()
    visitor.page.get_by_label("South").fill("48.85")
    visitor.page.get_by_label("About how many places").fill("30")
    visitor.press("Use this region")
    visitor.read("The map has")
    visitor.meets_no_barrier()

    visitor.press("Next: how private?")
    visitor.read("What each level gives", timeout=LONGEST)
    visitor.read("On average you appear")
    expect(visitor.page.locator("progress")).to_have_count(0, timeout=LONGEST)
    visitor.meets_no_barrier()

    visitor.turn("Be there")
    visitor.page.get_by_label(re.compile("^You are at")).select_option(index=9)
    visitor.press("Share it a hundred times")
    visitor.read("What the first report tells an attacker")

    visitor.turn("Walk")
    visitor.page.get_by_label("Next stop").select_option(index=9)
    visitor.press("Add this stop")
    visitor.page.get_by_role("button", name="Walk", exact=True).click()
    visitor.read("After report 20 of 20")

    visitor.turn("Attack")
    visitor.press("Add")
    visitor.press("Attack")
    visitor.read("Three attackers")

    visitor.turn("Promises")
    visitor.page.locator(".notions li.lit").first.wait_for()

    visitor.turn("Compare")
    visitor.press("Compare at this loss")
    visitor.read("Comparing:")  # every mechanism is tuned on thousands of visits
    visitor.press("Stop")
    expect(visitor.page.get_by_role("button", name="Compare at this loss")).to_be_enabled()

    visitor.turn("Design")
    visitor.page.get_by_label("thorough").uncheck()
    visitor.press("Design it")
    link = visitor.page.locator("ul.own").get_by_role("link", name="Mechanism")
    link.wait_for(timeout=LONGEST)
    visitor.meets_no_barrier()
    with visitor.page.expect_download() as download:
        link.click()
    download.value.save_as(tmp_path / "paris.sfm")
    assert isinstance(sf.load(tmp_path / "paris.sfm"), sf.Mechanism)
