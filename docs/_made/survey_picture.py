"""Draw the picture of docs/how-to/survey-points.md, from the page's own blocks.

Run it as ``uv run python docs/_made/survey_picture.py``; it needs geopandas and matplotlib.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

DOCS = Path(__file__).resolve().parents[1]


def main() -> None:
    """Run the page's Python in an empty folder, and draw its true and its published points."""
    known: dict[str, Any] = {"__name__": "__page__"}
    page = (DOCS / "how-to" / "survey-points.md").read_text(encoding="utf-8")
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for block in re.findall(r"^```python\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE):
            exec(compile(block, "survey-points.md", "exec"), known)  # noqa: S102
        os.chdir(here)
    forward = known["area"].projection.forward
    true, published = (
        forward(points.y.to_numpy(), points.x.to_numpy()) / 1000
        for points in (known["homes"].to_crs("EPSG:4326").geometry, known["private"].geometry)
    )
    figure, axes = plt.subplots(1, 2, figsize=(4.8, 2.9), sharex=True, sharey=True, layout="constrained")
    axes[0].scatter(*true.T, s=4, color="#b3541e", alpha=0.6, linewidths=0)
    axes[0].set_title("true: keep secret", fontsize=10)
    vertices, counts = np.unique(published.round(3), axis=0, return_counts=True)
    axes[1].scatter(*vertices.T, s=4 * counts, color="#1f5fa8", alpha=0.75, linewidths=0)
    axes[1].set_title("private.gpkg", fontsize=10)
    for ax in axes:
        ax.set(xlim=(-4.5, 4.5), ylim=(-4.5, 4.5), aspect="equal", xticks=(-4, -2, 0, 2, 4), xlabel="km east")
        ax.tick_params(labelsize=9)
        ax.grid(alpha=0.25)
    axes[0].set_ylabel("km north")
    most = int(counts.max())
    figure.suptitle(f"{len(true)} homes; largest circle: {most} of them on one vertex", fontsize=9)
    figure.savefig(DOCS / "images" / "survey-points.png", dpi=125)


if __name__ == "__main__":
    main()
