"""The interface of a fitted field."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from training.documents import Document

#: Weights by feature, or by part and feature, as the weights file of a field has them.
Weights = Mapping[str, float | Mapping[str, float]]

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Fitter(Generic[S]):
    """How the weights of one field are fitted."""

    #: The name of its weights: `recibo.extract.weights.weights(field)`.
    field: str
    #: Returns the samples of a document; `S` is the fitter's type. It is called in several
    #: processes, and `weights` has the values that earlier fitters fitted without the document's
    #: source.
    samples: Callable[[Document], Sequence[S]]
    #: The weights that fit the samples best.
    fit: Callable[[Sequence[S]], Weights]
