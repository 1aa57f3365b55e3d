"""Every paper, in its quick size: it runs, its page tells what its files hold, and its table of calls is true."""

import html
import json
import re
import shutil
from importlib import import_module

import pytest

from sfumato_papers.reproduction import NAMES, SECONDS, paper_of, run
from sfumato_papers.reproduction.run import file_name

from ..conftest import quick_setting

NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=NAMES)
def paper(request):
    found = paper_of(request.param)
    for extra in found.extras:
        request.getfixturevalue({"learn": "torch"}[extra])
    return found


@pytest.fixture
def reproduced(paper, quick_run):
    return quick_run(paper.name)


def test_claims_are_judged_with_evidence(reproduced):
    assert reproduced.claims
    for claim in reproduced.claims:
        assert claim.where
        assert claim.says.endswith(".")
        assert claim.found.endswith("."), claim.found


def test_every_figure_has_a_caption_and_is_in_the_page(paper, reproduced):
    drawn = {path.stem for path in reproduced.folder.glob("*.svg")}
    assert drawn <= set(paper.captions)
    page = (reproduced.folder / "index.html").read_text(encoding="utf-8")
    assert page.count("<svg") == len([name for name in drawn if not name.endswith(SECONDS)])


def test_numbers_of_the_page_are_in_the_files(paper, reproduced):
    folder = reproduced.folder
    page = (folder / "index.html").read_text(encoding="utf-8")
    text = html.unescape(re.sub(r"<(svg|style|script)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL))
    files = " ".join(
        path.read_text(encoding="utf-8") for path in folder.iterdir() if path.suffix in (".csv", ".json")
    )
    fixed = " ".join(
        [paper.title, paper.source, paper.version, *paper.about, *paper.captions.values()]
        + [f"{each.number} {each.topic} {each.call} {each.file}" for each in paper.equations]
    )
    known = set(NUMBER.findall(files)) | set(NUMBER.findall(fixed)) | {"256"}  # SHA-256
    verdicts = [(claim.ours, claim.verdict) for claim in reproduced.claims]
    known |= {str(verdicts.count(each)) for each in set(verdicts)} | {"0"}
    names = {name for path in folder.glob("*.*") for name in NUMBER.findall(path.name)}
    assert set(NUMBER.findall(text)) <= known | names


def test_the_table_of_calls_is_true(paper, reproduced):
    for each in paper.equations:
        room, _, name = each.call.rpartition(".")
        assert room.partition(".")[0] in ("sf", "sfumato", "sfumato_papers"), (
            each.call
        )  # long names are to be imported
        module = import_module(re.sub(r"^sf\b", "sfumato", room))
        assert name in module.__all__, each.call
        if each.file:
            assert (reproduced.folder / each.file).is_file(), each.file


def test_broken_off_it_goes_on_to_the_same_bytes(paper, reproduced, tmp_path):
    """The last part of every kind is made again beside the others."""
    setting = quick_setting(paper.name)
    shutil.copytree(reproduced.folder, tmp_path, dirs_exist_ok=True)
    parts = paper.parts(setting)
    lost = {part.make: tmp_path / "parts" / f"{file_name(part)}.json" for part in parts}.values()
    for path in [*lost, *(path for path in tmp_path.glob("*.*") if path.name != "run.json")]:
        path.unlink()
    again = run(paper, setting, tmp_path, command="sfumato reproduce")
    assert again.parts_before == len(parts) - len(lost)
    for path in reproduced.folder.glob("*.*"):
        if not path.stem.endswith(SECONDS):
            assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))["size"] == "quick"
