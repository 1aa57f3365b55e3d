"""The check of releases: what it finds wrong, what it tries again, and that versions and licences agree."""

import json
import re
import sys
import tomllib
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from release import bom, trying
from release.building import compared, sha256, write_sums
from release.contents import NEEDED, of_metadata, of_page, of_wheel
from release.index_page import LINK, IndexPage, for_index
from release.interpreters import Interpreter, found, torch_wheel
from release.running import ReleaseError, environment, run
from release.trials import BARE, COMPANIONS, PARTS, Trial, trials

import sfumato as sf

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
STUDIES, STUDIO = (
    tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for folder in ("papers", "studio")
)
PYTHON = Interpreter(Path(sys.executable), 12, "3.12.1")


def reached() -> dict[str, set[str]]:
    """Return which packages the lock file has for each extra, the studio, and none, by following its edges."""
    packages: dict[str, list[dict[str, Any]]] = {}
    for each in tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))["package"]:
        packages.setdefault(each["name"], []).append(each)

    def follow(edges, seen):
        for edge in edges:
            extras = edge.get("extra", [])
            if (edge["name"], *extras) in seen:
                continue
            seen.add((edge["name"], *extras))
            for package in packages[edge["name"]]:
                follow(package.get("dependencies", []), seen)
                for extra in extras:
                    follow(package.get("optional-dependencies", {}).get(extra, []), seen)
        return seen

    (ours,), (studio,) = packages["sfumato"], packages["sfumato-studio"]
    parts = {BARE: ours["dependencies"], "studio": studio["dependencies"], **ours["optional-dependencies"]}
    return {part: {name for name, *_ in follow(edges, set())} - {"sfumato"} for part, edges in parts.items()}


def test_all_places_state_one_version():
    plain = re.sub(r"\.dev\d+$", "", sf.__version__)
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, flags=re.MULTILINE) == [plain]
    interface = json.loads((ROOT / "studio" / "web" / "openapi.json").read_text(encoding="utf-8"))
    assert interface["info"]["version"] == sf.__version__
    for companion, extras in ((STUDIES, "report,solvers"), (STUDIO, "geo,report")):
        assert companion["version"] == sf.__version__
        assert f"sfumato[{extras}]=={sf.__version__}" in companion["dependencies"]
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert headings[1].startswith(f"{plain} - ")
    dated = re.search(r"\d{4}-\d{2}-\d{2}$", headings[1])
    released = re.findall(r"^date-released: (.+)$", citation, flags=re.MULTILINE)
    assert released == ([dated[0]] if dated else [])
    assert (dated is None) or plain == sf.__version__


def test_the_papers_have_the_licence_of_the_library_and_need_nothing_else():
    """So the bill of materials of the library is theirs, too: it has all that its extras bring."""
    assert (ROOT / "papers" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert STUDIES["license"] == PROJECT["license"].split(" AND ")[0]
    assert STUDIES["requires-python"] == PROJECT["requires-python"]
    wanted = {*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["report"]}
    assert set(STUDIES["dependencies"]) <= {f"sfumato[report,solvers]=={sf.__version__}", *wanted}
    learn = PROJECT["optional-dependencies"]["learn"]
    assert set(STUDIES["optional-dependencies"]["learn"]) <= {"sfumato[learn]", *learn}


def test_the_studio_shares_what_the_library_needs():
    assert (ROOT / "studio" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert STUDIO["requires-python"] == PROJECT["requires-python"]
    ours = {re.split(r"[<>=!]", each)[0]: each for each in PROJECT["dependencies"]}
    ours |= {"sqlalchemy": PROJECT["optional-dependencies"]["ledger"][0]}
    assert all(each == ours.get(re.split(r"[<>=!]", each)[0], each) for each in STUDIO["dependencies"])


def test_every_extra_is_tried():
    extras = PROJECT["optional-dependencies"]
    assert set(extras) - {"all"} == set(PARTS) - {BARE, *COMPANIONS} == set(bom.EXTRAS)
    assert extras["all"] == [f"sfumato[{','.join(sorted(bom.EXTRAS))}]"]
    for extra, part in PARTS.items():
        assert (ROOT / "release" / "smoke" / f"{'bare' if extra == BARE else extra}.py").exists()
        assert all((ROOT / path).exists() for path in part.tests)


def test_licences_are_known_of_all_that_may_be_installed():
    known = bom.known_licences()
    assert set().union(*reached().values()) == set(known)
    assert all(known[name] for name in reached()[BARE])


def test_the_licence_of_the_studio_names_those_in_the_page():
    inside = bom.libraries(bom.PAGE_LICENCES.read_text(encoding="utf-8"))
    assert len(inside) > 50
    lock = json.loads((ROOT / "studio" / "web" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    for name, version, licence in inside:
        locked = lock[f"node_modules/{name}"]
        assert (version, licence) == (locked["version"], locked["license"].strip("()"))
    first, *others = STUDIO["license"].split(" AND ")
    assert first == PROJECT["license"].split(" AND ")[0] == "Apache-2.0"
    assert STUDIO["license-files"] == ["LICENSE", bom.PAGE_LICENCES.relative_to(ROOT / "studio").as_posix()]
    needed = {licence for *_, licence in inside if " OR " not in licence} | {"MIT"}
    assert set(others) == needed - {"Apache-2.0"}
    assert others == sorted(others)


def test_the_bill_of_materials_says_what_needs_what():
    purls = ["pkg:pypi/always@1", "pkg:pypi/both@2", "pkg:pypi/some@3"]
    exported = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "serialNumber": "another each time",
        "metadata": {"timestamp": "now", "tools": [], "component": {"bom-ref": "sfumato-1", "name": "sfumato"}},
        "components": [{"name": purl[9:-2], "purl": purl, "bom-ref": purl} for purl in purls],
        "dependencies": [{"ref": "sfumato-1", "dependsOn": purls}, *({"ref": purl} for purl in purls)],
    }
    needed = {"hex": {*purls[:2]}, "report": set(purls)}
    licences = {"always": "MIT", "both": "MIT AND ISC", "some": ""}
    made = bom.completed(exported, needed, {purls[0]}, licences, [("@a/b", "4.5.6", "ISC")])
    assert "serialNumber" not in made
    assert "timestamp" not in made["metadata"]
    always, both, some, inside = made["components"]
    assert (always["scope"], always.get("properties")) == ("required", None)
    assert always["licenses"] == [{"license": {"id": "MIT"}}]
    assert both["licenses"] == [{"expression": "MIT AND ISC"}]
    assert [each["value"] for each in both["properties"]] == ["hex", "report"]
    assert [each["value"] for each in some["properties"]] == ["report"]
    assert "licenses" not in some
    assert inside["purl"] == "pkg:npm/%40a/b@4.5.6"
    assert made["dependencies"][0]["dependsOn"] == [*purls, inside["purl"]]
    with pytest.raises(ReleaseError, match=r"no licence of some"):
        bom.completed(exported, needed, set(), {"always": "MIT", "both": "MIT"}, [])


PAGE = '<script src="./assets/x.js"></script><link rel="icon" href="data:," />'


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (lambda names: names, []),
        (lambda names: names - {"sfumato/py.typed"}, ["has no sfumato/py.typed"]),
        (lambda names: names | {"sfumato_studio/app.py"}, ["holds sfumato_studio/app.py"]),
        (lambda names: names | {"sfumato/page.js"}, ["holds sfumato/page.js"]),
        (lambda names: names | {"sfumato/tests/a.py"}, ["holds sfumato/tests/a.py"]),
        (lambda names: names | {"sfumato/visits.parquet"}, ["holds sfumato/visits.parquet"]),
        (lambda names: names | {"tests/a.py"}, ["holds tests/a.py"]),
    ],
)
def test_a_wheel_has_all_that_it_needs_and_nothing_else(change, wrong):
    names = {*NEEDED["sfumato"], "sfumato/core/a.py", "sfumato-1.dist-info/METADATA"}
    assert of_wheel("sfumato", change(names), 1000) == wrong
    assert len(of_wheel("sfumato", names, 10**9)) == 1


def test_the_wheel_of_the_studies_has_sources_alone():
    names = {"sfumato_papers/py.typed", "sfumato_papers/wild/paper.py", "sfumato_papers-1.dist-info/METADATA"}
    assert of_wheel("sfumato_papers", names, 1000) == []
    for alien in ("sfumato/core/a.py", "sfumato_papers/visits.csv", "sfumato_papers/page.html"):
        assert of_wheel("sfumato_papers", {*names, alien}, 1000) == [f"holds {alien}"]
    lacking = names - {"sfumato_papers/py.typed"}
    assert of_wheel("sfumato_papers", lacking, 1000) == ["has no sfumato_papers/py.typed"]


def test_the_wheel_of_the_studio_has_all_of_its_page():
    script = "sfumato_studio/page/assets/x.js"
    names = {*NEEDED["sfumato_studio"], "sfumato_studio/app.py", script, "sfumato_studio-1.dist-info/METADATA"}
    assert of_wheel("sfumato_studio", names, 1000) == of_page(names, PAGE) == []
    assert of_page(names - {script}, PAGE) == [f"has no {script}"]
    assert of_page(names, "") == ["its page names no script"]
    assert of_wheel("sfumato_studio", {*names, "sfumato/app.py"}, 1000) == ["holds sfumato/app.py"]


def test_a_quick_check_installs_each_distribution(tmp_path):
    files = [tmp_path / "sfumato-1-py3-none-any.whl", tmp_path / "sfumato-1.tar.gz"]
    every, quick = (trials(files, [PYTHON], [BARE, *COMPANIONS], quick=quick) for quick in (False, True))
    assert len(every) == 2 * (1 + len(COMPANIONS))
    assert [(each.kind, each.extra) for each in quick] == [
        *(("wheel", BARE), ("sdist", BARE)),
        *(("wheel", name) for name in COMPANIONS),
    ]


@pytest.mark.parametrize("name", COMPANIONS)
def test_companions_are_installed_with_the_library(tmp_path, name):
    trial = Trial(tmp_path / "sfumato-1.tar.gz", PYTHON, name)
    other = tmp_path / f"sfumato_{name}-1.tar.gz"
    assert trial.files == (trial.artefact, other)
    assert trial.wanted == [f"sfumato @ {trial.artefact.as_uri()}", f"sfumato-{name} @ {other.as_uri()}"]


def test_builds_with_other_bytes_are_told_apart(tmp_path):
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.whl").write_bytes(b"same")
    assert compared(tmp_path / "one", tmp_path / "other") == []
    (tmp_path / "other" / "a.whl").write_bytes(b"else")
    (tmp_path / "one" / "b.tar.gz").write_bytes(b"")
    found_out = compared(tmp_path / "one", tmp_path / "other")
    assert found_out == ["b.tar.gz is built once only", "a.whl has other bytes"]
    sums = write_sums(tmp_path / "one").read_text(encoding="utf-8").splitlines()
    assert [line.split("  ")[1] for line in sums] == ["a.whl", "b.tar.gz"]
    assert sums[0].split("  ")[0] == sha256(tmp_path / "one" / "a.whl")
    assert write_sums(tmp_path / "one").read_text(encoding="utf-8").splitlines() == sums


def test_what_passed_with_the_same_bytes_is_not_tried_again(tmp_path, monkeypatch):
    (file := tmp_path / "x.whl").write_bytes(b"1")
    given = trials([file], [PYTHON], [BARE, "hex"])
    tried, broken = [], {"wheel-3.12.1-hex"}

    def pretend(trial: Trial, log: Path) -> str:
        tried.append(trial.name)
        if trial.name in broken:
            raise ReleaseError("it broke")
        return "its command works"

    monkeypatch.setattr(trying, "_try", pretend)
    monkeypatch.setattr(trying, "FOLDER", ROOT / "build" / "release-of-tests")
    told: list[str] = []

    def go(again: bool = False) -> list[str]:
        tried.clear()
        return [each.status for each in trying.try_all(given, tmp_path / "kept.json", told.append, again)]

    assert go() == ["passed", "FAILED"]
    assert "it broke" in told[-1]
    assert (go(), tried) == (["passed", "FAILED"], ["wheel-3.12.1-hex"])
    broken.clear()
    assert (go(), tried) == (["passed", "passed"], ["wheel-3.12.1-hex"])
    assert (go(), tried) == (["passed", "passed"], [])
    assert (go(again=True), len(tried)) == (["passed", "passed"], 2)
    file.write_bytes(b"2")
    assert (go(), len(tried)) == (["passed", "passed"], 2)


def test_what_cannot_be_tried_says_why(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    learn = Trial(tmp_path / "x.tar.gz", PYTHON, "learn")
    assert learn.left_out() == "no torch for processors and Python 3.12 in PIP_FIND_LINKS"
    (wheel := tmp_path / "torch-2.13.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl").touch()
    assert torch_wheel(12) == wheel
    assert torch_wheel(13) is None
    assert learn.left_out() is None
    assert learn.wanted == [f"sfumato[learn] @ {(tmp_path / 'x.tar.gz').as_uri()}", wheel]
    outcome = trying.Outcome(learn.name, "0", trying.LEFT_OUT, "no torch")
    heading, row = trying.table([learn], [outcome]).splitlines()
    assert row.split() == ["sdist", "3.12.1", "learn", "left", "out", "0", "no", "torch"]
    assert row.index("left out") == heading.index("outcome")


def test_programs_say_how_they_ended(tmp_path, monkeypatch):
    monkeypatch.setenv("CI", "true")
    assert "CI" not in environment()
    log = tmp_path / "log.txt"
    assert run([sys.executable, "-c", "print(5)"], tmp_path, log=log) == "5\n"
    with pytest.raises(ReleaseError, match="code 3:\nwhy"):
        run([sys.executable, "-c", "import sys; print('why'); sys.exit(3)"], tmp_path, log=log)
    assert "why" in log.read_text(encoding="utf-8")


def test_this_python_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))  # asking all that are there takes seconds
    (here,) = found("running")
    assert here.minor == sys.version_info.minor
    with pytest.raises(ReleaseError, match=r"no Python 3\.99"):
        found("3.99")


def test_metadata_that_is_wrong_is_named():
    known = {"Programming Language :: Python :: 3.11", "Typing :: Typed"}
    message = Message()
    for name in ("Summary", "License-Expression", "License-File", "Keywords", "Author"):
        message[name] = "x"
    message["Version"], message["Requires-Python"] = "2", ">=3.11"
    for classifier in sorted(known):
        message["Classifier"] = classifier
    message.set_payload("Read [how](https://example.org/how) and [what](#what).")
    assert of_metadata(message, "2", known) == []
    assert of_metadata(message, "3", known) == ["says version 2, but the package is 3"]
    assert of_metadata(message, "2", {"Typing :: Typed"}) == [
        "has the unknown classifier 'Programming Language :: Python :: 3.11'"
    ]
    del message["Summary"], message["Requires-Python"]
    message["Requires-Python"] = ">=3.12"
    assert of_metadata(message, "2", known) == [
        "has no Summary",
        "needs Python 3.12, but its classifiers begin elsewhere",
    ]


def test_a_description_without_words_or_with_dead_links_is_named():
    message = Message()
    message["Version"], message["Requires-Python"] = "2", ">=3.11"
    assert "has no description" in of_metadata(message, "2", ())
    message.set_payload("![a map](docs/images/city.png) and [the limits](docs/explanation/limitations.md)")
    links = [each for each in of_metadata(message, "2", ()) if "links to" in each]
    assert links == [
        f"has a description that links to {target}, which the index does not have"
        for target in ("docs/images/city.png", "docs/explanation/limitations.md")
    ]


def test_the_index_shows_the_readme_without_dead_links():
    metadata: dict[str, Any] = {}
    IndexPage(str(ROOT), {}).update(metadata)
    text, readme = metadata["readme"]["text"], (ROOT / "README.md").read_text(encoding="utf-8")
    assert not LINK.findall(text)
    assert "[Blur this place]" not in text
    assert "Blur this place" in text
    assert "docs/images" not in text
    assert re.findall(r"```python\n.*?```", text, flags=re.DOTALL) == re.findall(
        r"```python\n.*?```", readme, flags=re.DOTALL
    )
    metadata["urls"] = {"Repository": "https://example.org/sfumato/"}
    IndexPage(str(ROOT), {}).update(metadata)
    text = metadata["readme"]["text"]
    assert (
        len(re.findall(r"\]\(https://example\.org/sfumato/(?:blob|raw)/", text)) == len(LINK.findall(readme)) > 10
    )


def test_code_in_the_readme_is_left_as_it_is():
    text = "```python\nf[k](a)\n\n\n\nb\n```\n\n    x[i](j)\n\nand `y[k](l)` or [this](docs/a.md)"
    assert for_index(text, "", "1") == text.replace("[this](docs/a.md)", "this")


def test_links_of_the_index_lead_to_the_version():
    text = "See ![a map](docs/a.png) of [limits](docs/b.md#c), [elsewhere](https://example.org) and [here](#here)."
    kept = "[elsewhere](https://example.org) and [here](#here)."
    assert for_index(text, "", "1.0") == f"See  of limits, {kept}"
    picture, page = "https://h.org/x/raw/v1.0/docs/a.png", "https://h.org/x/blob/v1.0/docs/b.md#c"
    assert for_index(text, "https://h.org/x", "1.0") == f"See ![a map]({picture}) of [limits]({page}), {kept}"
    assert "/blob/main/docs/b.md" in for_index(text, "https://h.org/x", "1.0.dev0")
