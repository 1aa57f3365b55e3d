"""Repeated releases: what an attacker learns from t reports of one person's place.

The person is the one with most visits in a region. The study compares fresh noise for each report, one report
that is kept as a memo, and fresh noise on a memo: the optimal attacker's error, the error of an attacker who takes
the mean of the reported places, and the epsilon that all reports together keep::

    python examples/repeated_releases.py visits.parquet --region "8 km x 6 km around 40.735,-73.985" --out results

Without a file, a person of the synthetic city is taken. The results are ``repeated-releases.csv`` and ``.png``.
"""

from collections.abc import Sequence

import sfumato as sf
from sfumato.studies import repeated_releases, save, study_options


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study as the command line says."""
    somewhere = {"region": "8 km x 6 km around 40,-30"}
    with study_options(repeated_releases.study, __doc__, arguments, **somewhere) as given:
        visits = sf.read_visits(*given.files) if given.files else sf.synthetic_city()
        found = repeated_releases.study(visits, **given.arguments, progress=print)
        save(found, given.out, repeated_releases.figures(found))


if __name__ == "__main__":
    main()
