r"""Distribution privacy: how well dummies hide which group of people a report comes from.

Two groups report where they are, on cells of a city. For several mechanisms, with and without dummies, the exact
accountant proves the least epsilon at delta = 0.001, and the closed form gives the loss of a user who keeps the
best answer. With a file of visits that has an attribute such as ``home_area``::

    python examples/distribution_privacy.py visits.parquet --attribute home_area --groups Manhattan Brooklyn \
        --region "6 km x 9 km around 40.745,-73.985" --out results

Without a file, two areas of the synthetic city are compared. Results are ``distribution-privacy.csv`` and
``distribution-privacy.png``.

Source: Kawamoto and Murakami, "Local obfuscation mechanisms for hiding probability distributions", ESORICS 2019.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import sfumato as sf
from sfumato.studies import distribution_privacy, save


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study as the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("data", nargs="?", type=Path, help="a file of visits; without it, the synthetic city")
    add("--attribute", default="area", help="the column that names the groups")
    add("--groups", nargs=2, default=("Old Town", "Harbour"), help="two of its values")
    add("--region", default="8 km x 6 km around 40,-30", help="where reports are counted")
    add("--cell", default="400 m", help="the side of a cell")
    dummies, slopes = list(distribution_privacy.DUMMIES), list(distribution_privacy.SLOPES)
    add("--dummies", type=int, nargs="+", default=dummies, help="numbers k of dummies; 0 for none")
    add("--slopes", type=float, nargs="+", default=slopes, help="of the planar families, per km")
    add("--out", type=Path, default=Path(), help="the folder of the results")
    given = vars(parser.parse_args(arguments))
    data, out = given.pop("data"), given.pop("out")
    visits = sf.read_visits(data) if data else sf.synthetic_city()
    found = distribution_privacy.study(visits, **given, progress=print)
    save(found, out, distribution_privacy.figures(found))


if __name__ == "__main__":
    main()
