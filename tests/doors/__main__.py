"""Write the golden data: implications, designs, their files, what is proved of files, reports, and commands.

    python -m tests.doors

A difference to the committed files is a change that users see.
"""

import json
import re
import tempfile
from pathlib import Path
from typing import Final

import pytest

import sfumato as sf

from .atlas import atlas
from .commands import COMMANDS, LONGER, facts, prepare
from .conftest import runner
from .designs import DESIGNS, KEPT, optimum
from .proofs import FILES, VECTORS, proved, tupling
from .reports import golden

FOLDER: Final = Path(__file__).parent


def _write(name: str, value: object) -> None:
    text = json.dumps(value, indent=1)
    text = re.sub(r"\[[^\[\]{}]*\]", lambda found: " ".join(found[0].split()), text)  # a list on one line
    (FOLDER / name).write_text(text + "\n", encoding="ascii")


def _commands() -> dict[str, object]:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        prepare(Path(name))
        run = runner(patch, Path(name))
        return {line: facts(run, Path(name), line) for line in (*COMMANDS, *LONGER)}


if __name__ == "__main__":
    made = {name: make() for name, make in DESIGNS.items()}
    VECTORS.mkdir(exist_ok=True)
    for name in KEPT:
        sf.save(made[name], VECTORS / f"{name}.sfm")
    sf.save(tupling(), VECTORS / "tuple.sfm")
    _write("atlas.json", atlas())
    _write("designs.json", {name: optimum(design) for name, design in made.items()})
    _write("proofs.json", {name: proved(path) for name, path in FILES.items()})
    _write("releases.json", golden())
    _write("commands.json", _commands())
