"""The built page, as it lies in the package: whole, small, its own, and in the theme's colours."""

import gzip
import re
from pathlib import Path

import sfumato_studio
from sfumato.reports.theme import style_sheet

PAGE = Path(sfumato_studio.__file__).parent / "page"
SOURCE = Path(__file__).parents[2] / "studio" / "web" / "src"


def tokens(sheet: str, *, dark: bool) -> dict[str, str]:
    """Return the custom properties of a sheet for one light."""
    light, _, rest = sheet.partition("@media (prefers-color-scheme: dark)")
    block = re.search(r"\{[^{}]*\}", rest)
    assert block is not None
    return dict(re.findall(r"--([\w-]+): (#\w+)", block[0] if dark else light))


def test_the_index_names_only_files_that_are_there():
    index = (PAGE / "index.html").read_text(encoding="utf-8")
    named = re.findall(r'(?:src|href)="([^"]+)"', index)
    assert any(name.endswith(".js") for name in named)
    for name in named:
        assert name.startswith("data:") or (PAGE / name).is_file(), name
    assert "<style" not in index
    assert not re.search(r"<script(?![^>]* src=)", index)


def test_all_of_it_is_less_than_a_megabyte_compressed():
    files = [path for path in (PAGE / "assets").iterdir() if path.suffix in (".js", ".mjs", ".css")]
    assert 100_000 < sum(len(gzip.compress(path.read_bytes())) for path in files) < 1_000_000


def test_the_licences_of_what_is_in_it_are_beside_it():
    text = (PAGE / "licences.txt").read_text(encoding="utf-8")
    for name in ("maplibre-gl", "svelte", "@observablehq/plot", "openapi-fetch", "d3-scale", "pmtiles"):
        assert re.search(rf"^{name} \d", text, flags=re.MULTILINE), name
    assert "Permission" in text


def test_its_colours_are_those_of_the_figures():
    sheet, mine = style_sheet(), (SOURCE / "page.css").read_text(encoding="utf-8")
    for dark in (False, True):
        theirs = tokens(sheet, dark=dark)
        own = tokens(mine, dark=dark)
        shared = own.keys() & theirs.keys()
        assert {"ink", "paper", "muted", "grid", "land", "water", "series-1", "series-2", "series-3"} <= shared
        assert {name: own[name] for name in shared} == {name: theirs[name] for name in shared}


def test_the_picture_to_take_away_has_the_light_colours_of_the_page():
    own = tokens((SOURCE / "page.css").read_text(encoding="utf-8"), dark=False)
    picture = (SOURCE / "lib" / "pictures.ts").read_text(encoding="utf-8")
    for name in ("ink", "paper", "muted", "land", "water", "shore"):
        assert re.search(rf'\[.*{name.upper()}.*\] = \[.*"{own[name]}".*\];', picture), name
