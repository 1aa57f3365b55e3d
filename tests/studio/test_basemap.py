"""The basemap: ranges of a PMTiles file behind the guard, and files that are refused at the start."""

import pytest

from sfumato.errors import InputError
from sfumato_studio import serving
from sfumato_studio.routes.maps import check_basemap

from .conftest import Running
from .pmtiles import VECTOR, vector_tile, write_pmtiles

PATH = "/api/basemap.pmtiles"


@pytest.fixture
def file(tmp_path):
    return write_pmtiles(tmp_path / "city.pmtiles", vector_tile([("earth", "earth")]), VECTOR)


@pytest.fixture
def served(tmp_path, file):
    running = Running(tmp_path / "studio", basemap=check_basemap(file))
    yield running
    running.close()


def test_ranges_of_the_file_are_served(served, file):
    content = file.read_bytes()
    whole = served.client.get(PATH)
    assert (whole.status_code, whole.content) == (200, content)
    assert whole.headers["accept-ranges"] == "bytes"
    part = served.client.get(PATH, headers={"Range": "bytes=7-126"})
    assert (part.status_code, part.content) == (206, content[7:127])
    assert part.headers["content-range"] == f"bytes 7-126/{len(content)}"
    assert part.headers["etag"] == whole.headers["etag"]
    first = served.client.get(PATH, headers={"Range": "bytes=0-16383"})  # what the page reads first
    assert (first.status_code, first.content) == (206, content)
    beyond = served.client.get(PATH, headers={"Range": f"bytes={len(content)}-"})
    assert beyond.status_code == 416
    assert served.client.get("/api/about").json()["basemap"] is True


def test_it_is_behind_the_guard(served):
    for headers in ({}, {"X-Sfumato-Token": "wrong"}):
        with served.bare(**headers) as stranger:
            assert stranger.get(PATH, headers={"Range": "bytes=0-126"}).status_code == 403
    assert served.client.get(PATH, headers={"Origin": "http://evil.example"}).status_code == 403
    assert served.client.get(PATH).headers["cross-origin-resource-policy"] == "same-origin"


def test_without_a_basemap_there_is_no_file(studio):
    answer = studio.client.get(PATH)
    assert answer.status_code == 404
    assert "--basemap" in answer.json()["error"]["hint"]
    assert studio.client.get("/api/about").json()["basemap"] is False


def test_a_file_that_goes_away_is_reported(served, file):
    file.unlink()
    answer = served.client.get(PATH)
    assert answer.status_code == 404
    assert str(file.parent) not in answer.text


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda content: b"", "not a PMTiles file"),
        (lambda content: b"SQLite format 3\x00" + content, "not a PMTiles file"),
        (lambda content: content[:7], "not PMTiles of version 3"),
        (lambda content: content[:7] + b"\x02" + content[8:], "not PMTiles of version 3"),
        (lambda content: content[:126], "incomplete"),
        (lambda content: content[:98] + b"\x03" + content[99:], "not compressed with gzip"),
        (lambda content: content[:99] + b"\x00" + content[100:], "unknown type"),
    ],
)
def test_what_cannot_be_drawn_is_refused_at_the_start(tmp_path, file, change, problem):
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(InputError, match=problem) as caught:
        serving.serve(tmp_path / "studio", show=False, basemap=file)
    assert "basemap" in caught.value.hint
    assert not (tmp_path / "studio").exists()


def test_a_file_that_is_missing_is_refused_at_the_start(tmp_path):
    for path in (tmp_path, tmp_path / "nothing.pmtiles"):
        with pytest.raises(InputError, match="missing or not a file"):
            check_basemap(path)
