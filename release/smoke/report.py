"""The extra report: maps, and a page to sign."""

import subprocess
import sys
from pathlib import Path

COMMAND = Path(sys.executable).with_name("sfumato")

design = [
    "design",
    "--cells",
    "4x3",
    "--output",
    "c.sfm",
    "--figure",
    "c.png",
    "--report",
    "c.html",
    "--frontier-time",
    "1",
]
subprocess.run([COMMAND, *design], check=True)  # noqa: S603
assert Path("c.png").read_bytes().startswith(b"\x89PNG")  # noqa: S101
assert "</html>" in Path("c.html").read_text(encoding="utf-8")  # noqa: S101
