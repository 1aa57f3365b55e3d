"""The words of the command line before a long design."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.cli.commands.design import say_forecast
from sfumato.cli.place_options import Site


@pytest.mark.parametrize(("side", "told"), [(1, False), (6, True)])
def test_a_long_design_is_told_of_with_its_method_time_and_memory(capsys, side, told):
    lattice = sf.geo.Lattice.covering(f"{side} km x {side} km around 48.85,2.35", "250 m", kind="triangular")
    costs = lattice.metric().to("km")
    mass = np.exp(-costs.array[0])
    promises = (sf.CoordinatePrivacy("1/km"),)
    prior = sf.Prior(lattice, mass / mass.sum())
    site = Site(lattice, costs, costs, promises)
    say_forecast(prior, site, promises, objective="expected", pairs="generated", gap=1e-4, twice=True)
    said = " ".join(capsys.readouterr().err.split())
    if told:
        assert "of memory are expected on an idle machine, by generated observables (few edges" in said
        assert f"and {len(lattice):,} places)" in said
    else:
        assert said == ""
