"""Write the test vectors of the file format.

    python -m tests.files.vectors

The bytes depend on nothing but the version of sfumato, which each file names.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from sfumato.files import save

from .kinds import KINDS, held_by
from .refused import REFUSED

FOLDER: Final = Path(__file__).parent


def write(folder: Path) -> None:
    """Write all files, what they hold, and why some are refused."""
    (folder / "refused").mkdir(parents=True, exist_ok=True)
    contents = {name: make() for name, make in KINDS.items()}
    for name, content in contents.items():
        save(content, folder / f"{name}.sfm")
    for name, each in REFUSED.items():
        (folder / "refused" / f"{name}.sfm").write_bytes(each.made(folder))
    _write_json(folder / "expected.json", {name: held_by(content) for name, content in contents.items()})
    _write_json(folder / "refused.json", {name: each.why for name, each in REFUSED.items()})


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    write(FOLDER)
