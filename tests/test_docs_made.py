"""Parts of pages that come from the code: commands, notions, the atlas, and the works that sources name."""

import importlib.util
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import typer
from docs._made import completed
from docs._made.atlas_drawing import atlas_drawing
from docs._made.command_pages import command_words
from docs._made.notion_entries import notion_words
from docs.check_built import LARGEST, described, too_large, wrongly_described

from sfumato.cli.app import app
from sfumato.privacy import ATLAS, VOCABULARY

ROOT = Path(__file__).parents[1]


def test_every_option_of_every_command_is_described():
    group: Any = typer.main.get_command(app)
    text = command_words()
    sections = dict(
        re.findall(r"^##+ sfumato ([\w -]+)\n(.*?)(?=^\([\w-]+\)=$|\Z)", text, re.DOTALL | re.MULTILINE)
    )
    seen = 0
    for name, command in group.commands.items():
        for path, each in {name: command, **_parts(name, command)}.items():
            for parameter in () if hasattr(each, "commands") else each.params:
                for option in (*parameter.opts, *parameter.secondary_opts):
                    if option.startswith("--"):
                        seen += 1
                        assert f"`{option}" in sections[path] or f" {option}" in sections[path], (path, option)
    assert seen > 100


def _parts(name, command):
    return {f"{name} {part}": each for part, each in getattr(command, "commands", {}).items()}


def test_signs_of_markdown_in_a_help_are_plain():
    text = command_words()
    assert "`--`" not in text
    titles = r"^\*\*(?:Arguments|Options)\*\*$"
    for line in re.sub(rf"`[^`]*`|{titles}", "", text, flags=re.MULTILINE).splitlines():
        assert not re.search(r"(?<!\\)[*<>|]", line), line
        assert " --" not in line, line


def test_every_notion_has_a_box_and_an_entry():
    drawing, entries = atlas_drawing(), notion_words()
    boxes = re.findall(r'id="box-([\w-]+)".*?<rect x="(\d+)" y="(\d+)"', drawing)
    assert {key for key, _, _ in boxes} == set(VOCABULARY)
    assert len({(x, y) for _, x, y in boxes}) == len(VOCABULARY)
    assert entries.count("\n### ") + entries.startswith("### ") == len(VOCABULARY)
    assert max(box.count("<tspan") for box in drawing.split("<a ")[1:]) <= 2


def test_every_implication_is_drawn_once():
    drawn = set()
    for start, end, tips in re.findall(r'class="from-([\w-]+) to-([\w-]+)" (.*?)/>', atlas_drawing()):
        drawn |= {(start, end)} | ({(end, start)} if "marker-start" in tips else set())
    assert drawn == {(edge.start, edge.end) for edge in ATLAS if edge.start != edge.end}


def test_a_part_that_is_unknown_is_an_error():
    with pytest.raises(KeyError):
        completed("<!-- weather: written here by conf.py -->\n")


def _plain(text):
    """Return a text without accents, braces and commands of TeX."""
    bare = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
    return re.sub(r"\\[^a-zA-Z]|[{}]", "", bare)


def test_works_that_notions_name_are_in_the_bibliography():
    works = (ROOT / "docs" / "references.bib").read_text(encoding="utf-8").split("\n@")[1:]
    listed = {(_plain(work), re.findall(r"year = \{(\d{4})\}", work)[0]) for work in works}
    sources = [word.source for word in VOCABULARY.values()] + [edge.source for edge in ATLAS]
    named = {
        (part.removeprefix("after ").removeprefix("sharpens ").removeprefix("du "), year)
        for source in sources
        for part, year in re.findall(r"([^;,()]*[A-Z][^;()]*?),? (?:[A-Z]\w+ )?((?:19|20)\d\d)\b", source)
        if "arXiv" not in part
    }
    assert len(named) > 15
    for names, year in named:
        first = _plain(re.split(r",| and | et al", names.strip())[0]).strip()
        assert any(first in work and year == when for work, when in listed), f"{names}, {year}"


def test_a_page_that_is_too_large_is_named(tmp_path):
    (tmp_path / "small.html").write_text("a" * LARGEST)
    (tmp_path / "large.html").write_text("a" * (LARGEST + 1))
    (wrong,) = too_large(tmp_path)
    assert wrong.startswith("large.html")


def test_names_that_are_described_twice_or_nowhere_are_named(tmp_path):
    (tmp_path / "reference").mkdir()
    page = tmp_path / "reference" / "files.html"
    described_here = '<span id="module-sfumato.transport"></span><dt class="sig sig-object py" id="sfumato.{}">'
    page.write_text(
        described_here.format("transport.Coupling") + described_here.format("transport.coupling.Coupling")
    )
    rooms, found = described(tmp_path)
    wrong = wrongly_described(rooms, found)
    assert "sfumato.transport.coupling.Coupling is described 2 times." in wrong
    assert "sfumato.transport.Lifting is described nowhere in docs/reference/." in wrong


def test_numbers_stay_with_their_units():
    spec = importlib.util.spec_from_file_location("conf", ROOT / "docs" / "conf.py")
    assert spec is not None
    assert spec.loader is not None
    conf = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conf)
    kept = conf.UNIT.sub("\\1_", "50 % of 3 km; 4 more, 12 m, 5 km x 5 km, 3 mice")
    assert kept == "50_% of 3_km; 4 more, 12_m, 5_km x 5_km, 3 mice"
