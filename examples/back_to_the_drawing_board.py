r"""Back to the drawing board: after the best remap all mechanisms are alike to one attacker, and entropy differs.

Five mechanisms hide which of the most visited spots somebody is at. For each level of noise the study measures
the loss before and after the best remap and the conditional entropy, with the published values of San Francisco::

    python examples/back_to_the_drawing_board.py visits.parquet --region "27.7 km x 12 km around 40.745,-73.98" \
        --place "New York" --spots 1000 --out results

Without a file, the synthetic city is taken. Results are ``back-to-the-drawing-board.csv`` and ``.png``.

Source: Oya, Troncoso and Pérez-González, "Back to the drawing board", CCS 2017.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import sfumato as sf
from sfumato.studies import drawing_board, save


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study as the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("data", nargs="?", type=Path, help="a file of visits; without it, the synthetic city")
    add("--region", default="8 km x 6 km around 40,-30", help="where spots are taken from")
    add("--place", default="a synthetic city", help="what to call it in the figure")
    add("--spots", type=int, default=300, dest="spot_count", help="how many of the most visited spots")
    levels = list(drawing_board.LEVELS_KM)
    add("--levels", type=float, nargs="+", default=levels, dest="levels_km", help="2 / epsilon, km")
    add("--samples", type=int, default=2_000, help="reports that are simulated for noise in the plane")
    add("--seed", type=int, default=1, help="of the simulation")
    add("--out", type=Path, default=Path(), help="the folder of the results")
    given = vars(parser.parse_args(arguments))
    data, out = given.pop("data"), given.pop("out")
    visits = sf.read_visits(data) if data else sf.synthetic_city()
    found = drawing_board.study(visits, **given, progress=print)
    save(found, out, drawing_board.figures(found))


if __name__ == "__main__":
    main()
