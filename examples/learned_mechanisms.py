r"""Learned mechanisms beside planar Laplace noise and the certified optimum: a square, users, and home boroughs.

Four parts: Example 1 of the paper played with two targets; its Experiments 1 and 2; users of a city who are to
be hidden while their places stay useful; and where people live, as what is to be hidden. The last two learn from
four fifths of the visits, and the rest judges. With a file of visits that has users and an attribute::

    python examples/learned_mechanisms.py visits.parquet --attribute home_area --groups Manhattan Brooklyn \
        --region "6 km x 9 km around 40.745,-73.985" --out results

Without a file the synthetic city is taken. Results are ``learned-swapping.png``, ``learned-mechanisms.png``,
``learned-square.csv`` and ``learned-mechanisms.csv``.

Source: Romanelli, Palamidessi and Chatzikokolakis, "Generating optimal privacy-protection mechanisms via machine
learning", CSF 2020.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch

import sfumato as sf
from sfumato.studies import mipan, save


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the four parts as the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("data", nargs="?", type=Path, help="a file of visits; without it, the synthetic city")
    add("--users", nargs="+", type=int, default=[6, 20], help="how many of the most frequent visitors to hide")
    add("--attribute", default="area", help="the column to hide in the last part")
    add("--groups", nargs=2, default=("Old Town", "Harbour"), help="two of its values")
    add("--region", default="8 km x 6 km around 40,-30", help="where reports are counted")
    add("--cell", default="600 m", help="the side of a cell")
    limits = list(mipan.MAX_LOSSES_M)
    add("--bounds", nargs="+", type=float, default=limits, dest="max_losses_m", help="largest losses, in metres")
    add("--hits", nargs="+", type=int, default=[10, 500], help="reports of each record of the square")
    add("--records", type=int, default=600, help="of each person of the square")
    add("--rounds", type=int, default=120, help="the most rounds of each training on visits")
    add("--network-rounds", type=int, default=300, help="the rounds of the networks' training on the square")
    add("--out", type=Path, default=Path(), help="the folder of the results")
    given = vars(parser.parse_args(arguments))
    data, out = given.pop("data"), given.pop("out")
    visits = sf.read_visits(data) if data else sf.synthetic_city()
    torch.set_num_threads(1)  # small matrices gain nothing from more
    try:
        found = mipan.study(visits, **given, progress=print, partial=lambda so_far: save(so_far, out))
    except (sf.errors.InputError, sf.errors.DataError) as error:
        parser.error(error.told(lambda name, value: f"--{name} {value}".strip()))
    save(found, out, mipan.figures(found))


if __name__ == "__main__":
    main()
