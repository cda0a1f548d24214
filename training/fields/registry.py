"""All fitted fields, in the order in which they build on each other."""

from typing import Any

from training.fields import confidence, total
from training.fields.fitter import Fitter

#: Confidence is last: it weighs the values that all others choose.
FITTERS: tuple[Fitter[Any], ...] = (total.FITTER, confidence.FITTER)
