"""docs/architecture.md: its recipes, added to a copy of the package and run, and the names of its picture."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
BLOCK = re.compile(r"^```python\n# (src/\S+?)(?:, (imports|in (\w+)))?\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
RECIPES = ("notion", "mechanism", "solver", "format", "distance", "command")

# What each recipe must have brought about, in one process that imports the copy.
SCRIPT = """
import json, math, sys
from typer.testing import CliRunner
import sfumato as sf
from sfumato.cli.app import app
from sfumato.mechanisms import half_exponential
from sfumato.privacy import Claim, convert
from sfumato.privacy.atlas import NOTION_KEYS
from sfumato.proofs import Proved, prove

ages = sf.Space.numbers(range(5), unit="year")
mechanism = half_exponential(ages, "0.5/year")
(guarantee,) = mechanism.stated_guarantees
sf.save(mechanism, "ages.sfm")
with open("points.json", "w") as file:
    json.dump({"points": [[48.85, 2.35], [48.86, 2.36]]}, file)
grid = sf.Space([(0, 0), (0, 2), (1, 0), (1, 2)], coordinates=[(0, 0), (0, 2), (1, 0), (1, 2)])
chebyshev = grid.metric("chebyshev")
prior = sf.Prior.uniform(ages)
metric = ages.metric("absolute")
designs = [
    sf.design(prior, loss=metric, guarantees=[sf.MetricPrivacy(1.0, metric)], solver=solver)
    for solver in ("linprog", "simplex")
]
run = CliRunner().invoke
require = ["audit", "ages.sfm", "--require", "median-loss <= 1"]
audit, refused = run(app, require), run(app, [*require[:-1], "median-loss <= 0.001"])
show = run(app, ["show", "ages.sfm"])
print(json.dumps({
    "notion": [
        sf.audit([[0.75, 0.25], [0.25, 0.75]], also=["median-loss"]).find("median-loss").number - math.log(3),
        "median-loss" in NOTION_KEYS, audit.exit_code, refused.exit_code,
        convert(Claim("median-loss", epsilon=1.0), "differential-privacy").claim.numbers["delta"],
    ],
    "mechanism": isinstance(prove(mechanism, guarantee), Proved),
    "solver": [designs[0].solver, designs[0].value - designs[1].value, designs[0].certificate.gap],
    "format": [len(sf.read_visits("points.json")), "point-list" in sf.geo.FORMATS],
    "distance": [float(chebyshev.array.max()), float(sf.loss(grid, grid, "chebyshev").array[0, 3])],
    "command": [show.exit_code, show.output],
}))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results of the script with a copy of the package to which all recipes of the page were added."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for path, kind, name, code in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        add(folder / path, kind, name, code)
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def add(path: Path, kind: str, name: str, code: str) -> None:
    """Write a block as a new file, or into the imports or a list of one that is there."""
    if not kind:
        assert not path.exists()
        path.write_text(code, encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    if kind == "imports":
        at = text.index("\nfrom .") + 1
    else:
        opening = re.search(rf"^{name}\b[^\n]*= \w*([(\[{{])", text, flags=re.MULTILINE)
        assert opening
        at = closing(text, opening.end())
        if text[:at].rstrip()[-1] not in "([{,":
            code = f", {code.lstrip()}"
    path.write_text(text[:at] + code + text[at:], encoding="utf-8")


def closing(text: str, at: int) -> int:
    """Return where the bracket closes that was opened just before a place; texts hold balanced ones."""
    depth = 1
    while True:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[at], 0)
        if not depth:
            return at
        at += 1


def test_each_kind_of_addition_has_a_recipe():
    assert len(BLOCK.findall(PAGE.read_text(encoding="utf-8"))) == 15


def test_a_notion_is_measured_required_and_derived_from(results):
    difference, listed, held, failed, delta = results["notion"]
    assert abs(difference) < 1e-9
    assert listed
    assert (held, failed) == (0, 1)
    assert delta == 0.5


def test_a_mechanism_is_proved(results):
    assert results["mechanism"]


def test_a_solver_finds_the_optimum(results):
    name, difference, gap = results["solver"]
    assert name == "SciPy linprog"
    assert abs(difference) < 1e-6
    assert gap < 1e-6


def test_a_format_is_recognised(results):
    assert results["format"] == [2, True]


def test_a_distance_is_a_metric_and_a_loss(results):
    assert results["distance"] == [2.0, 2.0]


def test_a_command_prints_its_line(results):
    code, output = results["command"]
    assert code == 0
    assert "Mechanism" in output


def test_the_picture_shows_the_floors_of_the_import_contract():
    """From the top down, as pyproject.toml lists them, whatever the order on one floor."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ][0]
    floors = [set(layer.split(" | ")) for layer in contract["layers"]]
    picture = (ROOT / "docs" / "images" / "architecture.svg").read_text(encoding="utf-8")
    names = re.findall(r'y="(\d+)" text-anchor="middle"[^>]*>(\w+)<', picture)
    assert [{name for y, name in names if y == each} for each in dict.fromkeys(y for y, _ in names)] == floors


def test_each_file_and_folder_that_the_page_names_is_there():
    paths = re.findall(r"`([\w/]+/[\w.]+|\w+\.pyi?)`", PAGE.read_text(encoding="utf-8"))
    assert len(paths) > 30
    assert not [
        path for path in paths if not any((folder / path).exists() for folder in (ROOT, ROOT / "src/sfumato"))
    ]
