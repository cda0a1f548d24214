"""Fine-tunes the recognition model: `python -m training.recognizer FILE --fonts F --words W`.

Writes the changes of weights as a file of NumPy (`changes.py`).
"""

import argparse
import functools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from recibo.extract.ocr.paddle import recognition
from recibo.extract.ocr.paddle.networks import model_path
from training.receipts import faces, kinds
from training.recognizer import changes, ink, texts, train
from training.recognizer.lines import Batch, Lines
from training.recognizer.network import Network

#: The generated documents whose lines are read.
_DOCUMENTS = 2500
_LONGEST = 60


def main() -> None:
    """Train and write the file."""
    asked = _arguments()
    path = model_path(recognition.MODEL)
    network, published = Network(path), Network(path)
    characters = "".join(network.characters)
    start = changes.read(asked.start) if asked.start else {}
    for name, change in start.items():
        network.weights()[name].add_(torch.from_numpy(change))
    source = functools.partial(_batches, asked.fonts, asked.words, characters, asked.batch)
    plan = train.Plan(asked.hours * 3600, asked.rate, asked.device)
    before = {name: weights.numpy().copy() for name, weights in published.weights().items()}
    with train.batches(source, asked.workers) as following:
        learned = train.fit(network, published, following, plan)
    moved = {name: weights.cpu().numpy() - before[name] for name, weights in learned.items()}
    changes.write(asked.file, changes.part(changes.part(moved, asked.blend, start), asked.share))


def _batches(fonts: Path, words: Path, characters: str, share: float, seed: int) -> Iterator[Batch]:
    vocabulary = texts.vocabulary(words, receipt_lines(_DOCUMENTS))
    return Lines(vocabulary, ink.fonts(fonts), characters, seed).batches(share)


def receipt_lines(count: int) -> Sequence[str]:
    """Return the different lines of this many generated documents."""
    choices, case = random.Random(5), faces.Case()
    every = {name: kind for name, kind in kinds.kinds().items() if not kind.is_worn}
    lines: set[str] = set()
    for number in range(count):
        name = choices.choice(list(every))
        language = choices.choice(every[name].languages)
        document = kinds.make(f"line:{number}", name, language, case)
        lines |= {
            text.strip() for text in document.print.texts() if 1 < len(text.strip()) <= _LONGEST
        }
    return sorted(lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.recognizer", description=__doc__)
    parser.add_argument("file", type=Path, help="the file to write")
    parser.add_argument("--fonts", type=Path, required=True, help="a folder; see README.md")
    parser.add_argument("--words", type=Path, required=True, help="a folder; see README.md")
    parser.add_argument("--start", type=Path, help="a file of changes to go on from")
    parser.add_argument("--blend", type=float, default=1, help="of the way from --start")
    parser.add_argument("--hours", type=float, default=10, help="how long to train")
    parser.add_argument("--rate", type=float, default=2e-4, help="the highest learning rate")
    parser.add_argument("--share", type=float, default=0.5, help="of the way to what was learned")
    parser.add_argument("--device", default="cpu", help="a device of PyTorch, such as cuda")
    parser.add_argument("--workers", type=int, default=1, help="processes that generate lines")
    parser.add_argument("--batch", type=float, default=1, help="the size of batches, as a share")
    return parser.parse_args()


if __name__ == "__main__":
    main()
