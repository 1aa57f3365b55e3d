"""Words of an audit of samples."""

import pytest

import sfumato as sf
from sfumato.statistics import Sample
from tests.sampling.mechanisms import fix_seeds


@pytest.mark.parametrize("failure", [0.05, 4e-4, 1e-9])
def test_no_confidence_is_told_larger_than_it_is(failure, monkeypatch):
    fix_seeds(monkeypatch)
    found = sf.audit(Sample([[900, 100], [100, 900]]), failure=failure)
    told = [entry for entry in found if "confidence" in entry.standing]
    assert told
    for entry in told:
        said = float(entry.standing.rsplit(" ", 1)[1])
        assert 0.9 < said <= 1 - entry.failure
