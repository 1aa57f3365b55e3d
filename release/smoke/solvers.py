"""The extra solvers: a design by each of them."""

import subprocess
import sys
from pathlib import Path

COMMAND = Path(sys.executable).with_name("sfumato")

for solver in ("highs", "clarabel"):
    words = ["design", "--cells", "4x3", "--no-picture", "--solver", solver, "--output", f"{solver}.sfm"]
    subprocess.run([COMMAND, *words], check=True)  # noqa: S603
