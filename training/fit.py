"""Fits the weights of all fields: `python -m training.fit DATA --kept FOLDER [--write]`.

`--write` writes those fitted on all documents into the package. Those fitted without a fold go to
`training/held_out`, for the tests that read each document with weights that have not seen it.
"""

import argparse
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

from benchmarks.recognition import Recognition
from recibo.extract import weights
from training import documents
from training.cross_fit import ByField, Fitted, cross_fit
from training.fields.registry import FITTERS

_PACKAGE = Path(weights.__file__).parent / "data" / "weights"
_HELD_OUT = Path(__file__).parent / "held_out"
_HEADER = "# Fitted by training/fit.py: run it again instead of editing.\n"


def main() -> None:
    """Fit, and print or write the weights."""
    parser = argparse.ArgumentParser(prog="python -m training.fit", description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with the sets and their scorers")
    parser.add_argument("--kept", type=Path, required=True, help="keeps recognized pages")
    parser.add_argument("--only", help="fit this field alone")
    parser.add_argument("--jobs", type=int, default=1, help="processes to read in")
    parser.add_argument("--write", action="store_true", help="put the weights into the package")
    asked = parser.parse_args()
    fitters = [fitter for fitter in FITTERS if asked.only in (None, fitter.field)]
    known = documents.load(asked.data, Recognition(cache=asked.kept))
    fitted = cross_fit(known, fitters, earlier=written(), jobs=asked.jobs)
    if asked.write:
        write(fitted)
    else:
        for field, values in fitted.whole.items():
            print(f"# {field}\n{toml(values)}")


def write(fitted: Fitted, package: Path = _PACKAGE, held_out: Path = _HELD_OUT) -> None:
    """Write the weights of each field, and those without each fold."""
    held_out.mkdir(exist_ok=True)
    for field, values in fitted.whole.items():
        (package / f"{field}.toml").write_text(_HEADER + toml(values))
        by_fold = {f"fold{fold}": one[field] for fold, one in enumerate(fitted.without)}
        (held_out / f"{field}.toml").write_text(_HEADER + toml(by_fold))


def written(held_out: Path = _HELD_OUT) -> list[ByField]:
    """Return the weights of all fields that were written without each fold."""
    by_field = {path.stem: tomllib.loads(path.read_text()) for path in held_out.glob("*.toml")}
    count = max((len(values) for values in by_field.values()), default=0)
    return [
        {field: values[f"fold{fold}"] for field, values in by_field.items()}
        for fold in range(count)
    ]


def toml(values: Mapping[str, object], prefix: str = "") -> str:
    """Return a table as TOML: first its values, then the tables in it."""
    plain = [(name, one) for name, one in values.items() if not isinstance(one, Mapping)]
    tables = [(name, one) for name, one in values.items() if isinstance(one, Mapping)]
    text = "".join(f"{name} = {_spelled(one)}\n" for name, one in plain)
    for name, one in tables:
        path = f"{prefix}{name}"
        heading = f"\n[{path}]\n" if any(not isinstance(x, Mapping) for x in one.values()) else ""
        text += heading + toml(one, f"{path}.")
    return text


def _spelled(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    main()
