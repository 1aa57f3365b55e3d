"""Write the golden designs, their files and what is proved of files.

    python -m tests.doors

A difference to the committed files is a change that users see.
"""

import json
from pathlib import Path
from typing import Final

import sfumato as sf

from .designs import DESIGNS, KEPT, optimum
from .proofs import FILES, VECTORS, proved, tupling

FOLDER: Final = Path(__file__).parent


def _write(name: str, value: object) -> None:
    (FOLDER / name).write_text(json.dumps(value, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    made = {name: make() for name, make in DESIGNS.items()}
    VECTORS.mkdir(exist_ok=True)
    for name in KEPT:
        sf.save(made[name], VECTORS / f"{name}.sfm")
    sf.save(tupling(), VECTORS / "tuple.sfm")
    _write("designs.json", {name: optimum(design) for name, design in made.items()})
    _write("proofs.json", {name: proved(path) for name, path in FILES.items()})
