"""Generates receipts with known contents: `python -m training.receipts FOLDER --count 100`.

The folder gets a file per document and look, and `truth.json`, which lists them. The same seed
and the same choice of kinds and languages write the same bytes.
"""

import argparse
import itertools
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.receipts import faces, kinds, looks
from training.receipts.faces import Case
from training.receipts.looks import Look
from training.receipts.truth import Document


@dataclass(frozen=True, slots=True)
class Order:
    """A document to generate."""

    #: The seed from which it can be generated again.
    seed: str
    kind: str
    language: str

    @property
    def name(self) -> str:
        """The stem of its file names."""
        return f"{self.kind}-{self.language}-{self.seed.replace(':', '-')}"


def main() -> None:
    """Write the folder and print a summary."""
    asked = _arguments()
    case = faces.with_more(asked.fonts) if asked.fonts else Case()
    try:
        documents = orders(asked.count, asked.seed, asked.kind, asked.language)
    except ValueError as error:
        raise SystemExit(str(error)) from None
    asked.folder.mkdir(parents=True, exist_ok=True)
    wanted = [Look(name) for name in asked.look]
    listed = [_written(asked.folder, order, case, wanted) for order in documents]
    text = json.dumps(listed, ensure_ascii=False, indent=1)
    (asked.folder / "truth.json").write_text(text + "\n", "utf-8")
    print(f"{len(listed)} documents, {sum(len(_files(entry)) for entry in listed)} files")


def orders(
    count: int, seed: int, chosen: Sequence[str] = (), languages: Sequence[str] = ()
) -> tuple[Order, ...]:
    """Return the documents to generate, with alternating kinds and languages.

    Args:
        count: The number of documents.
        seed: The seed of all random choices.
        chosen: The kinds to generate; all if empty.
        languages: Tags or prefixes of tags, such as `de` or `de-AT`; all if empty.

    Raises:
        ValueError: No kind is made in the languages.
    """
    pairs = [
        (name, tag)
        for name, kind in kinds.kinds().items()
        if not chosen or name in chosen
        for tag in kind.languages
        if not languages or any(tag == one or tag.startswith(f"{one}-") for one in languages)
    ]
    if not pairs:
        raise ValueError("none of these kinds is made in these languages")
    random.Random(seed).shuffle(pairs)
    turns = itertools.islice(itertools.cycle(pairs), count)
    return tuple(Order(f"{seed}:{place}", *pair) for place, pair in enumerate(turns))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.receipts", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=100, help="how many documents")
    parser.add_argument("--seed", type=int, default=1, help="what all choices follow from")
    parser.add_argument("--kind", nargs="+", choices=sorted(kinds.kinds()), default=())
    parser.add_argument("--language", nargs="+", default=(), help="tags such as de or de-AT")
    parser.add_argument(
        "--look", nargs="+", choices=[look.value for look in Look], default=[Look.PDF.value]
    )
    parser.add_argument("--fonts", type=Path, help="a folder with further .ttf files")
    return parser.parse_args()


def _written(folder: Path, order: Order, case: Case, wanted: Sequence[Look]) -> dict[str, object]:
    """Write the files of a document and return its entry in the list."""
    document = kinds.make(order.seed, order.kind, order.language, case)
    files = {}
    for look, made in _made(document, order, wanted):
        path = folder / f"{order.name}-{look}{made.suffix}"
        path.write_bytes(made.data)
        files[look.value] = path.name
    return {**document.listed(order.name, files), "seed": order.seed}


def _made(
    document: Document, order: Order, wanted: Sequence[Look]
) -> Iterator[tuple[Look, looks.File]]:
    seed = random.Random(order.seed).getrandbits(32)
    for look in wanted:
        made = looks.file(document.print, look, seed)
        if made:
            yield look, made


def _files(entry: dict[str, object]) -> dict[str, str]:
    files = entry["files"]
    return files if isinstance(files, dict) else {}


if __name__ == "__main__":
    main()
