"""The first page: examples, a file of one's own, the tour."""

import gzip
import urllib.request

import pytest
from playwright.sync_api import Response

from ..conftest import PATIENCE_S

pytestmark = pytest.mark.slow


def test_a_first_visit_begins_with_a_tour_that_can_be_left(visit, start):
    with start() as own:
        visitor = visit(at=own)
        visitor.page.get_by_role("dialog", name="Tour").wait_for()
        visitor.meets_no_barrier()
        visitor.press("Leave the tour")
        visitor.meets_no_barrier()
        visitor.press("Tour")
        visitor.read("Five minutes")
        visitor.page.keyboard.press("Escape")
        assert visitor.page.get_by_role("dialog").count() == 0


def test_the_first_load_is_under_a_megabyte_compressed(visit, studio):
    """Everything that the map's view loads, as the server sends it to a browser."""
    visitor = visit()
    sizes: dict[str, Response] = {}
    visitor.page.on("response", lambda answer: sizes.setdefault(answer.url, answer))
    visitor.page.reload()
    visitor.page.get_by_role("heading", level=2).first.wait_for()
    assets = [url for url in sizes if "/assets/" in url]
    assert assets
    total = 0
    for url in assets:
        request = urllib.request.Request(url, headers={"Accept-Encoding": "gzip", "X-Sfumato-Token": studio.token})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            body = answer.read()
            assert answer.headers["Content-Encoding"] == "gzip" or len(body) < 2000, url
            assert gzip.decompress(body) if answer.headers["Content-Encoding"] else body
            total += len(body)
    assert 10_000 < total < 1_000_000
