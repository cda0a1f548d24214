"""Measures whether the memory of a reading process stays constant over many documents.

    python -m benchmarks.memory FOLDER [--documents N] [--accuracy high]

Reads the files of a folder repeatedly in one process, which the service would replace after
200 documents, and prints its memory after each hundred.
"""

import argparse
import itertools
import resource
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import measuring
from recibo.extract import errors, pipeline
from recibo.extract.document import formats
from recibo.extract.model import Accuracy

#: The limit for a process, and for its growth after the warm-up.
RSS_MB, GROWTH = 900, 1.05

_EVERY = 100

#: All usual sizes of pages and lines occur within the first hundreds.
_WARM_UP = 300

_SUFFIXES = frozenset(f".{extension}" for extension in (*formats.EXTENSIONS.values(), "jpeg"))


def main() -> None:
    """Read, and print one table."""
    options = _options()
    held: dict[int, int] = {}
    pipeline.warm()
    start = time.process_time()
    documents = itertools.islice(_documents(options.folder), options.documents)
    for number, data in enumerate(documents, start=1):
        _read(data, options.accuracy)
        if number % _EVERY == 0:
            held[number] = _held_mb()
            print(f"{number} documents: {held[number]} MB", flush=True)
    rows = [[str(number), str(mb)] for number, mb in held.items()]
    measuring.show(f"accuracy {options.accuracy}", ["documents read", "MB held"], rows)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{(time.process_time() - start) / options.documents:.2f} CPU s a document; "
        f"never more than {RSS_MB} MB: {peak} {measuring.verdict(peak, RSS_MB)}"
    )
    settled = [mb for number, mb in held.items() if number >= _WARM_UP]
    if settled:
        growth = settled[-1] / settled[0]
        print(f"flat after {_WARM_UP}: x {growth:.3f} {measuring.verdict(growth, GROWTH)}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--accuracy", type=Accuracy, default=Accuracy.STANDARD)
    return parser.parse_args()


def _documents(folder: Path) -> Iterator[bytes]:
    """Yield the files of a folder in a cycle."""
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in _SUFFIXES)
    return (path.read_bytes() for path in itertools.cycle(paths))


def _read(data: bytes, accuracy: Accuracy) -> None:
    try:
        pipeline.extract(data, accuracy=accuracy)
    except errors.ReadingError as error:
        print(error)


def _held_mb() -> int:
    # Pages, the second figure, are resident (proc(5)).
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize() // (1 << 20)


if __name__ == "__main__":
    main()
