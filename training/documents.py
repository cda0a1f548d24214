"""The documents to fit and to measure on: their files, pages, truth and sources."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import scorers
from benchmarks.recognition import Recognition
from recibo.extract import errors
from recibo.extract.model import TextPage
from training import sources

SROIE = "sroie"
#: The sets of a data folder that list every field of their documents.
LISTED = ("documents", "real-documents")
_SROIE_SCORER, _LISTED_SCORER = "score_sroie.py", "score_documents.py"
_LISTS = ("brazil.json", "international.json")
#: The list in a folder of generated documents, and their set.
GENERATED_LIST, GENERATED = "truth.json", "generated"
# The names of fields in the keys of SROIE.
_SROIE_FIELDS = {"total": "total", "date": "issued_at", "company": "merchant_name"}
_SROIE_NAMES = {"total": "total", "issued_at": "date", "merchant_name": "merchant"}


@dataclass(frozen=True, slots=True)
class Document:
    """A file of a set, with its ground truth."""

    #: Unique among all sets: `documents/nfe-01:photo`, `sroie/007`.
    key: str
    data_set: str
    #: `pdf`, `photo`, `scan` ...
    kind: str
    path: Path
    #: The scorer of its set.
    scorer: Path
    #: The receipt's fields; for SROIE the three fields of its keys, as spelled there.
    truth: Mapping[str, Any]
    #: Further right values by field.
    alternatives: Mapping[str, Any]
    #: The fields that are scored.
    asked: frozenset[str]
    #: The precision of `issued_at`: `date`, `minute` or `second`.
    precision: str
    #: The issuer, generator or collection: documents of one source are always held out together.
    source: str
    recognition: Recognition

    def passes(self) -> Sequence[Sequence[TextPage]]:
        """Return the recognized pages, each once per pass.

        Raises:
            ReadingError: The file is refused.
        """
        return self.recognition.pages(self.path)

    def pages(self) -> list[TextPage]:
        """Return the pages of the first pass; none for a refused file."""
        try:
            return [passes[0] for passes in self.passes()]
        except errors.ReadingError:
            return []

    def is_right(self, field: str, value: object) -> bool:
        """Return whether the scorer counts a value of a field as right; None is "not printed"."""
        scorer = scorers.load(self.scorer)
        spelled = None if value is None else str(value)
        if self.data_set == SROIE:
            verdict = scorer.judge(_as_key(self.truth), {field: spelled})
            return bool(verdict[_SROIE_NAMES[field]][2])
        others = self.alternatives.get(field)
        values = [self.truth[field], *(others if isinstance(others, list) else ())]
        return any(scorer.eq(field, one, spelled, self.precision) for one in values)


def load(data: Path, recognition: Recognition | None = None) -> list[Document]:
    """Return the files of all sets in a data folder."""
    recognition = recognition or Recognition()
    found = [*_sroie(data, recognition)]
    for name in LISTED:
        if (data / name).exists():
            found += _listed(data, name, recognition)
    by_key = sources.sources({one.key: (one.source, _seller(one)) for one in found})
    return [replace(one, source=by_key[one.key]) for one in found]


def load_generated(folder: Path, recognition: Recognition | None = None) -> list[Document]:
    """Return the files of a folder that `python -m training.receipts` wrote."""
    entries = json.loads((folder / GENERATED_LIST).read_text("utf-8"))
    recognition = recognition or Recognition()
    return list(_of_list(folder, GENERATED, entries, recognition))


def _sroie(data: Path, recognition: Recognition) -> Iterator[Document]:
    for path in sorted((data / SROIE / "img").iterdir()):
        key_file = data / SROIE / "key" / f"{path.stem}.json"
        key = json.loads(key_file.read_text("utf-8", "replace"))
        verdict = scorers.load(data / _SROIE_SCORER).judge(key, {})
        yield Document(
            key=f"{SROIE}/{path.stem}",
            data_set=SROIE,
            kind="scan",
            path=path,
            scorer=data / _SROIE_SCORER,
            truth={field: key.get(name) for name, field in _SROIE_FIELDS.items()},
            alternatives={},
            # Some keys cannot be read.
            asked=frozenset(field for field, name in _SROIE_NAMES.items() if verdict[name][0]),
            precision="date",
            source="",
            recognition=recognition,
        )


def _listed(data: Path, name: str, recognition: Recognition) -> Iterator[Document]:
    entries = [
        entry for path in _LISTS for entry in json.loads((data / name / path).read_text("utf-8"))
    ]
    for found in _of_list(data / name, name, entries, recognition):
        yield replace(found, scorer=data / _LISTED_SCORER)


def _of_list(
    folder: Path, name: str, entries: Sequence[Mapping[str, Any]], recognition: Recognition
) -> Iterator[Document]:
    for entry in entries:
        for kind, path in entry["files"].items():
            yield Document(
                key=f"{name}/{entry['id']}:{kind}",
                data_set=name,
                kind=kind,
                path=folder / path,
                scorer=folder / _LISTED_SCORER,
                truth=entry["truth"],
                alternatives=entry["alternatives"],
                asked=frozenset(entry["truth"]) - set(entry.get("unassessed") or ()),
                precision=entry["issued_at_precision"],
                source=_origin(entry["source"]) if "source" in entry else name,
                recognition=recognition,
            )


def _origin(source: Mapping[str, str]) -> str:
    """Return the repository that a document is from, or the program that made it."""
    repository = source.get("repo") or source.get("repository")
    # After a generator's layout come its page size and font.
    return repository or ":".join(source["generator"].split(":")[:2])


def _seller(document: Document) -> str:
    return str(document.truth["merchant_name"] or "")


def _as_key(truth: Mapping[str, Any]) -> dict[str, Any]:
    return {name: truth[field] for name, field in _SROIE_FIELDS.items()}
