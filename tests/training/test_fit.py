"""Weights fitted without each fold are stored too, for the accuracy gate."""

from training import fit, sources
from training.fields.registry import FITTERS


def test_every_field_has_weights_without_each_fold() -> None:
    written = fit.written()

    assert {fitter.field for fitter in FITTERS} == set().union(*written)
    assert sources.FOLDS == len(written)
    assert all(fold.keys() == written[0].keys() for fold in written)
