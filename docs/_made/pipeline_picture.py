"""Draw the picture on the page about pipelines, from its first block: `python -m docs._made.pipeline_picture`."""

from __future__ import annotations

import os
import re
import runpy
import tempfile
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).parents[1]


def draw(target: Path) -> None:
    """Run the first block of the page, release its visits and draw true places next to reports.

    Args:
        target: The picture to write.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    import sfumato as sf

    (block, *_) = re.findall(
        r"^```python\n(.*?)^```", (DOCS / "how-to" / "pipeline.md").read_text("utf-8"), re.S | re.M
    )
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path("block.py").write_text(block, "utf-8")
            known = runpy.run_path("block.py")
        finally:
            os.chdir(before)
    visits, city = known["visits"], known["city"]
    reports = sf.release(known["design"].mechanism, visits)
    places = reports.groupby(["latitude", "longitude"]).size().reset_index(name="reports")
    figure, axes = plt.subplots(1, 2, figsize=(5, 2.9), sharex=True, sharey=True, layout="constrained")
    panels = (
        (axes[0], visits["lat"], visits["lon"], 3, "1,000 true visits"),
        (axes[1], places["latitude"], places["longitude"], 1.6 * places["reports"], "the 1,000 reports"),
    )
    for axis, lat, lon, size, title in panels:
        east, north = city.projection.forward(lat.to_numpy(), lon.to_numpy()).T / 1000
        axis.scatter(east, north, s=size, color="#0b5394", alpha=0.6, linewidths=0)
        axis.set_title(title, fontsize=10)
        axis.set_aspect("equal")
        axis.set_xticks(range(-4, 5, 2))
        axis.set_yticks(range(-4, 5, 2))
        axis.tick_params(labelsize=9)
        axis.grid(color="#dddddd", linewidth=0.6)
        axis.set_axisbelow(True)
    figure.supxlabel("km east of the centre", fontsize=10)
    axes[0].set_ylabel("km north of the centre", fontsize=10)
    figure.savefig(target, dpi=200)
    plt.close(figure)


if __name__ == "__main__":
    draw(DOCS / "images/pipeline.png")
