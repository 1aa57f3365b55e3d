"""Tables of studies are read back as the rows that made them, and the figures of the docs come from them."""

import csv
import math
from pathlib import Path
from typing import Any

import pytest

from sfumato.comparison import PlaceRow
from sfumato.errors import DataError
from sfumato_papers import (
    distribution_privacy,
    follow_ups,
    mipan,
    privacy_games,
    repeated_releases,
    rows_of,
    sequences,
)
from sfumato_papers.mipan.games import games_of, swaps
from sfumato_papers.results import columns_of, where

DOCS = Path(__file__).resolve().parents[2] / "docs"
FOLLOW_UPS = {
    "anchors": follow_ups.AnchorRow,
    "board": follow_ups.Measure,
    "board-cities": follow_ups.CityRow,
    "board-limited": follow_ups.LimitedRow,
    "board-town": follow_ups.TownRow,
    "privic-estimates": follow_ups.EstimateRow,
    "privic-places": follow_ups.CellNoiseRow,
    "privic-rounds": follow_ups.RoundRow,
    "privic-slopes": follow_ups.RateRow,
    "spanners": follow_ups.SpannerRow,
}
GAMES = {
    "apart": privacy_games.ApartRow,
    "line": privacy_games.LineRow,
    "prices": privacy_games.PriceRow,
    "privacy_games": privacy_games.GameRow,
    "privacy_games_informed": privacy_games.InformedRow,
    "pruned-attacks": privacy_games.AttackRow,
    "pruned-pairs": privacy_games.PairRow,
    "pruned-seconds": privacy_games.TimeRow,
    "slopes": privacy_games.SlopeRow,
}
TABLES: dict[str, Any] = {
    **{f"privacy-games/{name}": kind for name, kind in GAMES.items()},
    "distribution-privacy": distribution_privacy.DistributionRow,
    "distribution-privacy-success": distribution_privacy.SuccessRow,
    "distribution-privacy-confidence": distribution_privacy.ConfidenceRow,
    "distribution-privacy-designs": distribution_privacy.LeastLossRow,
    "distribution-privacy-optimum": distribution_privacy.OptimumRow,
    "distribution-privacy-transfer": distribution_privacy.TransferRow,
    **{f"follow-ups/{name}": kind for name, kind in FOLLOW_UPS.items()},
    "learned-mechanisms": mipan.ContestRow,
    "learned-swapping": mipan.SwappingRound,
    "points-loss": PlaceRow,
    "repeated-releases": repeated_releases.RepeatedRow,
    "sequences-errors": sequences.PolicyRow,
    "sequences-homes": sequences.HomeRow,
}


def _texts(table):
    with (DOCS / "data" / f"{table}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("table", TABLES)
def test_every_row_of_the_docs_is_read_as_it_was_written(table):
    texts, rows = _texts(table), rows_of(DOCS / "data" / f"{table}.csv", TABLES[table])
    assert len(rows) == len(texts) > 0
    for row, text in zip(rows, texts, strict=True):
        columns = row.cells() if isinstance(row, PlaceRow) else columns_of(row)
        for name, value in columns.items():
            if isinstance(value, float) and not math.isnan(value):
                assert value == float(text[name]), name
            elif value is None:
                assert text[name] == "", name
            else:
                assert str(value) == text[name] or (value != value and text[name] == "nan"), name


def test_what_the_docs_tell_of_the_two_games_is_in_their_table():
    words = " ".join(
        (DOCS.parent / "papers" / "docs" / "learned-mechanisms.md").read_text(encoding="utf-8").split()
    )
    rounds = where(rows_of(DOCS / "data/learned-swapping.csv", mipan.SwappingRound), seed=0)
    cross, mutual = games_of(rounds)
    assert f"changes its meaning {swaps(cross)} times in {len(cross)} rounds" in words
    assert f"right in {100 * cross[-1].accuracy:.0f} % of the cases" in words
    assert swaps(mutual) == 2
    assert f"the last classifier is right in {100 * mutual[-1].accuracy:.0f} %." in words


@pytest.mark.slow
@pytest.mark.parametrize("dark", [[], pytest.param(["--dark"], marks=pytest.mark.slow)], ids=["light", "dark"])
def test_the_example_draws_a_figure_again(load_example, tmp_path, capsys, dark):
    load_example("redraw").main(
        ["learned-swapping", "repeated-releases", "follow-ups-board", "--out", str(tmp_path), *dark]
    )
    assert (tmp_path / "repeated-releases.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "learned-swapping.png").read_bytes().startswith(b"\x89PNG")
    assert "learned-swapping.png" in capsys.readouterr().out


def test_the_example_names_the_figures_there_are(load_example, tmp_path, capsys):
    with pytest.raises(SystemExit):
        load_example("redraw").main(["city", "--out", str(tmp_path)])
    assert "there are privacy-games-2a, " in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("target,seed,alice_at_a\nx,0,1\n", "bob_at_a"),
        ("target,seed,alice_at_a,bob_at_a,accuracy\nx,0,1,2,much\n", "much"),
        ("target,seed,alice_at_a,bob_at_a,accuracy\nx,0,1\n", "line 2"),
        ("", "is empty"),
    ],
)
def test_another_table_is_refused(tmp_path, content, said):
    path = tmp_path / "table.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=said):
        rows_of(path, mipan.SwappingRound)
