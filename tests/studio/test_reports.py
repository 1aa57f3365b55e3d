"""Reports of designs, to download: the facts of the file that is downloaded with them."""

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest

import sfumato_studio.routes.designs
from sfumato_studio.errors import RefusedError
from sfumato_studio.examples import example_data
from sfumato_studio.work import Work
from sfumato_studio.work.report_job import make_report

LINE = {"type": "LineString", "coordinates": [[0, 0], [1, 1]]}


@pytest.fixture
def here(monkeypatch):
    """Make reports in this process, which has imported all that it takes."""
    made = []

    def done_here(orders, *_):
        made.append(orders["request"]["design"])
        return make_report(Work(orders, made.append, lambda: False))

    monkeypatch.setattr(sfumato_studio.routes.designs, "run_worker", done_here)
    return made


def test_a_report_is_about_the_file_and_made_once(ages, here):
    point = ages.levels()["levels"][2]
    facts = ages.get("/report.json", design=point["design"])
    page = ages.download("report.html", level=2)
    assert here == [point["design"]]
    assert page.headers["content-disposition"] == 'attachment; filename="report.html"'
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", page.text)
    assert str(ages.studio.folder) not in page.text
    held = ages.download("mechanism.sfm", level=2).content
    assert facts["file"]["sha256"] == hashlib.sha256(held).hexdigest()
    assert facts["file"]["sha256"] in page.text
    assert facts["cost"]["expected"]["upper"] == pytest.approx(point["loss"]["upper"])
    assert facts["promises"][0]["proved"]["upper"] <= point["epsilon"] * (1 + 1e-6)
    shown = {each["epsilon"]["value"] for each in facts["frontier"]}
    assert {each["epsilon"] for each in ages.levels()["levels"] if each["level"] is not None} - {
        point["epsilon"]
    } <= shown


class Written(list[dict[str, Any]]):
    """Writes empty reports in no time, and keeps the requests for them."""

    def __call__(self, orders, *_):
        self.append(orders["request"])
        for ending in (".html", ".json"):
            (Path(orders["folder"]) / "designs" / f"{self[-1]['file']}{ending}").write_text("{}")


@pytest.fixture
def written(monkeypatch):
    """Let empty reports be written, and return the requests for them."""
    made = Written()
    monkeypatch.setattr(sfumato_studio.routes.designs, "run_worker", made)
    return made


def kept(visitor, design):
    """Return the names of a design's files, and of those that are being written."""
    return [path.name for path in (visitor.studio.folder / "workspaces" / visitor.id).rglob(f"*{design}*")]


def test_an_outline_makes_a_new_report_and_a_deleted_design_has_none(ages, written):
    first, *_, last = ages.levels()["levels"]
    ages.studio.client.put(f"{ages.base}/outline", json=LINE)
    ages.get("/report.json", design=last["design"])
    written.clear()
    for _ in range(2):
        ages.get("/report.json", design=first["design"])
    ages.put("/outline", {**LINE, "coordinates": [[0, 0], [1, 2]]})
    assert ages.get()["outline"]
    ages.get("/report.json", design=first["design"])
    assert [each["design"] for each in written] == [first["design"]] * 2
    ages.studio.client.delete(f"{ages.base}/outline")
    assert not ages.get()["outline"]
    assert ages.get("/report.html", 404, design="0" * 16)["field"] == "design"
    ages.studio.client.delete(f"{ages.base}/designs/{last['design']}")
    ages.get("/report.html", 404, design=last["design"])
    assert not kept(ages, last["design"])


@pytest.mark.parametrize("change", ["outline", "levels"])
def test_a_report_is_made_anew_for_what_changed_while_it_was_made(ages, written, monkeypatch, change):
    first, second, *_ = (level["design"] for level in ages.levels()["levels"])
    ages.studio.client.delete(f"{ages.base}/outline")
    store = ages.studio.app.state.studio.store
    other = "f" * 16

    def changes(orders, *others):
        if change == "outline":
            ages.put("/outline", LINE)
        else:
            facts = {**store.design(ages.id, second)["facts"], "loss": [0.0, 0.0, 0.0]}
            store.add_design(ages.id, "0" * 16, other, frontier=True, facts=facts)
        written(orders, *others)

    monkeypatch.setattr(sfumato_studio.routes.designs, "run_worker", changes)
    ages.get("/report.json", design=first)
    monkeypatch.setattr(sfumato_studio.routes.designs, "run_worker", written)
    for _ in range(2):
        ages.get("/report.json", design=first)
    store.delete_design(ages.id, other)
    before, after = written
    assert before["outline"] is None
    assert (after["outline"] is None) == (change == "levels")
    assert (after["levels"] != before["levels"]) == (change == "levels")
    files = (f"{first}.sfm", f"{after['file']}.html", f"{after['file']}.json")
    assert sorted(kept(ages, first)) == sorted(files)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("written_before", [False, True])
@pytest.mark.parametrize("gone", ["design", "site", "workspace"])
def test_nothing_is_left_of_a_design_that_is_deleted_while_its_report_is_made(
    ages, cities, written, monkeypatch, gone, written_before
):
    first, mine = ages.levels()["levels"][0]["design"], cities()
    mine.post("/example", {"example": "ages"})
    site = {"kind": "values", "first": 18, "last": 29}
    mine.put("/site", site)
    store = ages.studio.app.state.studio.store
    design = "e" * 16
    store.add_design(mine.id, "0" * 16, design, frontier=True, facts=store.design(ages.id, first)["facts"])
    (store.files(mine.id) / "designs" / f"{design}.sfm").write_bytes(b"")

    def deleted(orders, *others):
        if written_before:
            written(orders, *others)
        if gone == "site":
            mine.put("/site", site)
        else:
            mine.studio.client.delete(f"{mine.base}/designs/{design}" if gone == "design" else mine.base)
        if gone != "workspace":
            written(orders, *others)
        raise RefusedError(422, "Something went wrong that was not foreseen.", "")

    monkeypatch.setattr(sfumato_studio.routes.designs, "run_worker", deleted)
    error = mine.get("/report.html", 404, design=design)
    assert error["message"] == "The design was deleted."
    assert not kept(mine, design)


def test_a_process_that_comes_too_late_says_that_the_design_was_deleted(tmp_path):
    orders = {"folder": str(tmp_path), "data": example_data("ages"), "site": {"kind": "values"}}
    request = {"design": "a", "file": "a.b", "levels": [], "remarks": []}
    with pytest.raises(RefusedError, match="The design was deleted"):
        make_report(Work(orders | {"request": request}, lambda _: None, lambda: False))
