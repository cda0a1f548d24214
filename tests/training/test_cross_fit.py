"""Weights for a fold are fitted without the sources in it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.recognition import Recognition
from recibo.extract.weights import weights
from training import fit, sources
from training.cross_fit import cross_fit, fold_of
from training.documents import Document
from training.fields.fitter import Fitter, Weights

PLAIN = Document(
    key="",
    data_set="documents",
    kind="pdf",
    path=Path("receipt.pdf"),
    scorer=Path("scorer.py"),
    truth={"total": "1.00"},
    alternatives={},
    asked=frozenset({"total"}),
    precision="date",
    source="",
    recognition=Recognition(),
)
DOCUMENTS = [replace(PLAIN, key=f"{n}", source=f"source {n // 2}") for n in range(20)]


def names(document: Document) -> Sequence[str]:
    return [document.key]


def joined(samples: Sequence[str]) -> Weights:
    return dict.fromkeys(samples, 1.0)


def earlier(document: Document) -> Sequence[bool]:
    """Return whether the first field's weights know this document."""
    return [document.key in weights("first")]


def count(samples: Sequence[bool]) -> Weights:
    return {"known": float(sum(samples)), "all": float(len(samples))}


FIRST = Fitter("first", names, joined)
SECOND = Fitter("second", earlier, count)
NESTED = Fitter("third", names, lambda _: {"a": {"b": 0.5}})


def test_no_fold_is_fitted_on_its_sources() -> None:
    fitted = cross_fit(DOCUMENTS, [FIRST])
    source_of = {document.key: document.source for document in DOCUMENTS}

    assert fitted.whole["first"].keys() == source_of.keys()
    for key, fold in fold_of(DOCUMENTS).items():
        known = {source_of[other] for other in fitted.without[fold]["first"]}
        assert known
        assert source_of[key] not in known


def test_later_field_is_read_with_weights_that_have_not_seen_the_document() -> None:
    fitted = cross_fit(DOCUMENTS, [FIRST, SECOND])

    assert fitted.whole["second"] == {"known": 0, "all": 20}


def test_field_fitted_alone_is_read_with_earlier_weights_that_have_not_seen_the_document() -> None:
    before = cross_fit(DOCUMENTS, [FIRST])

    fitted = cross_fit(DOCUMENTS, [SECOND], earlier=before.without)

    assert fitted.whole["second"] == {"known": 0, "all": 20}
    assert [one.keys() for one in fitted.without] == [{"second"}] * sources.FOLDS


def test_several_processes_fit_the_same() -> None:
    assert cross_fit(DOCUMENTS, [FIRST, SECOND], jobs=2) == cross_fit(DOCUMENTS, [FIRST, SECOND])


def test_written_weights_are_read_again(tmp_path: Path) -> None:
    fitted = cross_fit(DOCUMENTS, [FIRST, SECOND, NESTED])

    fit.write(fitted, tmp_path, tmp_path / "held_out")

    assert fitted.without == fit.written(tmp_path / "held_out")
    assert "[a]\nb = 0.5" in (tmp_path / "third.toml").read_text()
