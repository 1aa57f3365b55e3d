r"""Back to the drawing board: after the best remap all mechanisms are alike to one attacker, and entropy differs.

Five mechanisms hide which of the most visited spots somebody is at. For each level of noise the example measures
the loss before and after the best remap and the conditional entropy, with the published values of San Francisco::

    python examples/back_to_the_drawing_board.py visits.parquet --region "27.7 km x 12 km around 40.745,-73.98" \
        --place "New York" --spots 1000 --out results

Without a file, the synthetic city is taken. Results are ``back-to-the-drawing-board.csv`` and ``.png``.

Source: Oya, Troncoso and Pérez-González, "Back to the drawing board", CCS 2017.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from dataclasses import asdict
from math import isnan
from pathlib import Path

from rich.console import Console

import sfumato as sf
from sfumato.attacks import blind
from sfumato.studies.drawing_board import LEVELS_KM, PUBLISHED, Measure, advantage, coins, measures, spots
from sfumato.studies.drawing_board_figure import drawing_board_figure

COIN_KM = (0.5, 1.0, 1.5, 2.0)


def save(found: Sequence[Measure], path: Path) -> None:
    """Write the measures as CSV, beside the published values where the level has them."""
    better = advantage(found)
    with path.open("w", newline="", encoding="utf-8") as file:
        names = [*asdict(found[0]), "gain", "expost_more_bits", "published_loss_km", "published_entropy_bits"]
        writer = csv.DictWriter(file, names, lineterminator="\n", restval="")
        writer.writeheader()
        for each in found:
            row = asdict(each) | {"gain": each.gain}
            key = each.loss_km if isnan(each.level_km) else each.level_km
            if (bits := better.get((each.mechanism, key))) is not None:
                row["expost_more_bits"] = bits
            if each.mechanism in PUBLISHED and each.level_km in LEVELS_KM:
                pair = PUBLISHED[each.mechanism][LEVELS_KM.index(each.level_km)]
                row["published_loss_km"], row["published_entropy_bits"] = pair
            writer.writerow(row)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study as the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("data", nargs="?", type=Path, help="a file of visits; without it, the synthetic city")
    add("--region", default="8 km x 6 km around 40,-30", help="where spots are taken from")
    add("--place", default="a synthetic city", help="what to call it in the figure")
    add("--spots", type=int, default=300, help="how many of the most visited spots")
    add("--levels", type=float, nargs="+", default=list(LEVELS_KM), help="2 / epsilon, km")
    add("--samples", type=int, default=2_000, help="reports that are simulated for noise in the plane")
    add("--seed", type=int, default=1, help="of the simulation")
    add("--out", type=Path, default=Path(), help="the folder of the results")
    given = parser.parse_args(arguments)

    say = Console(highlight=False, soft_wrap=True, markup=False).print
    visits = sf.read_visits(given.data) if given.data else sf.synthetic_city()
    prior = spots(visits, given.region, given.spots)
    most = blind(prior, prior.space.metric("euclidean", unit="km")).error
    say(f"{len(prior):,} spots, prior entropy {prior.entropy_bits:.3f} bits, error without a report {most:.3f} km")
    found = []
    for each in measures(prior, sorted(given.levels), samples=given.samples, seed=given.seed, progress=say):
        found.append(each)
        say(
            f"  {each.mechanism:12s} loss {each.loss_before_km:.4f} -> {each.loss_km:.4f} km "
            f"(±{each.loss_margin_km:.4f}), gain {each.gain:6.1%}, entropy {each.entropy_bits:.3f} bits "
            f"(±{each.entropy_margin_bits:.3f})"
        )
    for each in coins(prior, [loss for loss in COIN_KM if loss < most]):
        found.append(each)
        say(f"  coin         loss {each.loss_km:.4f} km, entropy {each.entropy_bits:.3f} bits")
    better = advantage(found)
    say(f"ExPost's entropy at equal loss is above that of all others by {min(better.values()):.3f} bits or more")
    given.out.mkdir(parents=True, exist_ok=True)
    save(found, given.out / "back-to-the-drawing-board.csv")
    figure = drawing_board_figure(found, prior.entropy_bits, given.place)
    figure.savefig(given.out / "back-to-the-drawing-board.png", metadata={"Software": "sfumato"})


if __name__ == "__main__":
    main()
