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

from collections.abc import Sequence
from functools import partial

import sfumato as sf
from sfumato.studies import mipan, save, study_options


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study as the command line says."""
    areas = {"region": "8 km x 6 km around 40,-30", "attribute": "area", "groups": ("Old Town", "Harbour")}
    with study_options(mipan.study, __doc__, arguments, **areas) as given:
        visits = sf.read_visits(*given.files) if given.files else sf.synthetic_city()
        keep = partial(save, folder=given.out)  # after each part
        found = mipan.study(visits, **given.arguments, progress=print, partial=keep)
        save(found, given.out, mipan.figures(found))


if __name__ == "__main__":
    main()
