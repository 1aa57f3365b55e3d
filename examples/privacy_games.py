"""Scenarios 1 and 2 of "Privacy Games" for real users: what three optimal mechanisms cost, and what they hide.

For each user a map of 15 km x 8 km is laid where they have most visits, and cut into 20 x 15 cells. For every
epsilon the study designs the mechanisms of least cost with metric privacy, with distortion privacy and with both,
and attacks them. The results are one row per design (``privacy_games.csv``), one per attack of section 9.2
(``privacy_games_informed.csv``) and a figure (``privacy_games.png``)::

    python examples/privacy_games.py visits.csv --users 10 --out results

Source: R. Shokri, "Privacy Games: Optimal User-Centric Data Obfuscation", PoPETs 2015, section 9.
"""

from collections.abc import Sequence
from functools import partial

import sfumato as sf
from sfumato.studies import privacy_games, save, study_options


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study as the command line says."""
    with study_options(privacy_games.study, __doc__, arguments) as given:
        data = [(path.stem, sf.read_visits(path)) for path in given.files]
        keep = partial(save, folder=given.out)  # after each user
        found = privacy_games.study(data, **given.arguments, progress=print, partial=keep)
        save(found, given.out, privacy_games.figures(found))


if __name__ == "__main__":
    main()
