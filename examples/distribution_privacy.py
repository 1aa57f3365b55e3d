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

from collections.abc import Sequence

import sfumato as sf
from sfumato.studies import distribution_privacy, save, study_options


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study as the command line says."""
    areas = {"region": "8 km x 6 km around 40,-30", "attribute": "area", "groups": ("Old Town", "Harbour")}
    with study_options(distribution_privacy.study, __doc__, arguments, **areas) as given:
        visits = sf.read_visits(*given.files) if given.files else sf.synthetic_city()
        found = distribution_privacy.study(visits, **given.arguments, progress=print)
        save(found, given.out, distribution_privacy.figures(found))


if __name__ == "__main__":
    main()
