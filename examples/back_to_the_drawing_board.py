r"""Back to the drawing board: after the best remap all mechanisms are alike to one attacker, and entropy differs.

Five mechanisms hide which of the most visited spots somebody is at. For each level of noise the study measures
the loss before and after the best remap and the conditional entropy, with the published values of San Francisco::

    python examples/back_to_the_drawing_board.py visits.parquet --region "27.7 km x 12 km around 40.745,-73.98" \
        --place "New York" --spot-count 1000 --out results

Without a file, the synthetic city is taken. Results are ``back-to-the-drawing-board.csv`` and ``.png``.

Source: Oya, Troncoso and Pérez-González, "Back to the drawing board", CCS 2017.
"""

from collections.abc import Sequence

import sfumato as sf
from sfumato.studies import drawing_board, save, study_options


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study as the command line says."""
    somewhere = {"region": "8 km x 6 km around 40,-30", "place": "a synthetic city"}
    with study_options(drawing_board.study, __doc__, arguments, **somewhere) as given:
        visits = sf.read_visits(*given.files) if given.files else sf.synthetic_city()
        found = drawing_board.study(visits, **given.arguments, progress=print)
        save(found, given.out, drawing_board.figures(found))


if __name__ == "__main__":
    main()
