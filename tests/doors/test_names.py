"""Public names: each package of the reference and what it offers, as the list `names.txt`.

`python -m tests.doors.test_names` writes the list, so that a change of the names is a change of this file.
"""

import ast
import importlib
import re
from pathlib import Path

import sfumato as sf

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
LIST = Path(__file__).with_name("names.txt")


def documented() -> list[str]:
    """Return the modules of the reference that list their names."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in REFERENCE.glob("*.md"))
    modules = set(re.findall(r"automodule:: (sfumato(?:\.|_papers)\S*)", text))
    return ["sfumato", *sorted(each for each in modules if hasattr(importlib.import_module(each), "__all__"))]


def names() -> str:
    lines = []
    for module in documented():
        public = dir(sf) if module == "sfumato" else sorted(importlib.import_module(module).__all__)
        lines += [module, *(f"    {name}" for name in public)]
    return "\n".join(lines) + "\n"


def test_the_public_names_are_those_of_the_list():
    assert names().splitlines() == LIST.read_text(encoding="ascii").splitlines()


def test_each_name_is_there():
    for module in documented():
        home = importlib.import_module(module)
        assert all(hasattr(home, name) for name in home.__all__), module
        assert len(set(home.__all__)) == len(home.__all__), module


def test_these_tests_reach_no_private_path():
    """They and their helpers import public packages only, so that they hold while modules move."""
    tests = Path(__file__).parents[1]
    helpers = [tests / "files" / "forging.py", tests / "releases" / "forks.py"]
    public = {"sfumato", *documented()}
    for path in [*Path(__file__).parent.glob("*.py"), *helpers]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [str(node.module)]
                assert node.level < 2 or node.module in ("files.forging", "releases.forks"), path
            ours = {
                name for name in names if name.partition(".")[0] in ("sfumato", "sfumato_papers", "sfumato_studio")
            }
            assert ours <= public, path


if __name__ == "__main__":
    LIST.write_text(names(), encoding="ascii")
