"""The extra learn: a column is hidden by a mechanism that was trained for a moment."""

import random
import subprocess
import sys
from pathlib import Path

COMMAND = Path(sys.executable).with_name("sfumato")
DRAWN = random.Random(5)  # noqa: S311 -- invented visits

rows = [
    f"{48.85 + DRAWN.gauss(0, 0.004):.6f},{2.34 + 0.02 * (k % 2) + DRAWN.gauss(0, 0.006):.6f},home{k % 2}"
    for k in range(400)
]
Path("v.csv").write_text("\n".join(["lat,lon,home", *rows, ""]), encoding="utf-8")
how = ["--cells", "5x4", "--max-loss", "600 m", "--rounds", "4", "--sensitive", "home", "-o", "m.sfm"]
subprocess.run([COMMAND, "learn", "v.csv", *how], check=True)  # noqa: S603
