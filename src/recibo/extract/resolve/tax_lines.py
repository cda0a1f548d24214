"""Chooses the tax lines of a document: those that agree with each other, the tax and the total."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations

from recibo.extract.candidates import DetailCandidates, TaxCandidate
from recibo.extract.model import Extracted, Receipt, TaxLine
from recibo.extract.resolve import choices
from recibo.extract.resolve.choices import Option

FIELD = "taxes"

_CENT = Decimal("0.01")
# More lines are tried in sums only if they are printed with a rate.
_MOST_PARTS, _MOST_SUMMED = 8, 4
_MOST_LEFT_OUT = 3

#: Lines that may be all of a document.
Lines = tuple[TaxCandidate, ...]


@dataclass(frozen=True, slots=True)
class _Sums:
    """The amounts that taxes must agree with."""

    total: Decimal | None
    subtotal: Decimal | None
    tax: Decimal | None
    #: Amounts of all labelled taxes.
    labelled: frozenset[Decimal]


def chosen(candidates: DetailCandidates, header: Receipt) -> tuple[Extracted[TaxLine], ...]:
    """Return the tax lines of a document with the probability that each is right."""
    if candidates.fiscal_taxes is not None:
        return candidates.fiscal_taxes
    found = options(candidates, header)
    known = choices.probabilities(FIELD, found)
    if sum(known) < choices.LEAST:
        return ()
    best = known.index(max(known))
    return tuple(
        replace(line.found, confidence=_probability(line, found, known))
        for line in found[best].value
    )


def whole(
    candidates: DetailCandidates, lines: Sequence[Extracted[TaxLine]], header: Receipt
) -> Extracted[Decimal] | None:
    """Return the tax of a document: the sum of its tax lines if the tax that was read is of one.

    The layout of a fiscal document says which of its taxes is the one of the receipt.
    """
    tax, amounts = header.tax, [line.value.amount or Decimal(0) for line in lines]
    summed = sum(amounts, Decimal(0))
    if tax is None or candidates.fiscal_taxes is not None or tax.value not in amounts:
        return tax
    if tax.value in (summed, summed - tax.value) or _is_between(tax.value, header):
        return tax
    if len({_kind(line.value) for line in lines}) < len(lines):
        return tax
    text = "\n".join(line.text for line in lines)
    confidence = min(tax.confidence, *(line.confidence for line in lines))
    return replace(tax, value=summed, text=text, confidence=confidence)


def _is_between(tax: Decimal, header: Receipt) -> bool:
    """Return whether a tax is what the total is above the subtotal."""
    total, subtotal = header.total, header.subtotal
    if total is None or subtotal is None:
        return False
    return abs(total.value - subtotal.value - tax) <= _CENT


def _kind(line: TaxLine) -> tuple[str | None, Decimal | None]:
    return line.name, line.rate


def _probability(
    line: TaxCandidate, found: Sequence[Option[Lines]], known: Sequence[float]
) -> float:
    """Return the probability of all options with a line of these amounts."""
    own = _key(line.found.value)
    return sum(
        probability
        for option, probability in zip(found, known, strict=True)
        if any(_key(other.found.value) == own for other in option.value)
    )


def _key(line: TaxLine) -> tuple[Decimal | None, ...]:
    return line.rate, line.base, line.amount


def options(candidates: DetailCandidates, header: Receipt) -> list[Option[Lines]]:
    """Return the sets of lines that may be those of the document, each once."""
    sums = _Sums(
        header.total.value if header.total else None,
        header.subtotal.value if header.subtotal else None,
        header.tax.value if header.tax else None,
        frozenset(
            line.found.value.amount
            for line in candidates.taxes
            if line.found.value.amount and _is_named(line)
        ),
    )
    by_key: dict[tuple[tuple[Decimal | None, ...], ...], Option[Lines]] = {}
    for lines in _sets(candidates, sums):
        key = tuple(sorted((_key(line.found.value) for line in lines), key=str))
        if lines and key not in by_key:
            by_key[key] = Option(lines, _features(lines, candidates, sums))
    return list(by_key.values())


def _sets(candidates: DetailCandidates, sums: _Sums) -> Iterator[Lines]:
    labelled = _distinct(candidates.taxes)
    rated = tuple(line for line in labelled if line.found.value.rate is not None)
    taxed = tuple(line for line in rated if line.found.value.amount)
    zeros = tuple(line for line in rated if not line.found.value.amount)
    for table in candidates.tax_tables:
        yield table
        yield (*table, *(line for line in zeros if _is_other(line, table)))
    unrated = tuple(
        line for line in labelled if line.found.value.rate is None and line.found.value.amount
    )
    for lines in (rated, taxed, labelled, unrated, *_by_name(rated), *_halves(labelled)):
        yield from _with_bases(lines)
    for line in labelled:
        yield from _with_bases((line,))
    for some in _summed(labelled[:_MOST_PARTS], taxed[:_MOST_PARTS], sums=sums):
        yield from _with_bases(some)
        yield from _with_bases(_distinct((*some, *zeros)))
    for line in taxed:
        yield from _with_bases((line, *zeros))


def _summed(*lists: Lines, sums: _Sums) -> Iterator[Lines]:
    """Yield several lines that add up to the tax, or to what the total is above the subtotal."""
    targets = [value for value in (sums.tax, _gap(sums)) if value]
    for parts in lists:
        for count in range(2, min(len(parts), _MOST_SUMMED) + 1):
            for some in combinations(parts, count):
                if any(abs(_sum(some) - target) <= _CENT for target in targets):
                    yield some


def _halves(lines: Lines) -> Iterator[Lines]:
    """Yield two lines of the same amount with different names, such as CGST and SGST."""
    for pair in combinations(lines[:_MOST_PARTS], 2):
        if _are_halves([line.found.value for line in pair]):
            yield pair


def _by_name(lines: Lines) -> Iterator[Lines]:
    names = dict.fromkeys(line.found.value.name for line in lines)
    if len(names) > 1:
        for name in names:
            yield tuple(line for line in lines if line.found.value.name == name)


def _with_bases(lines: Lines) -> Iterator[Lines]:
    """Yield lines with the taxable amounts of other rows, and without them."""
    yield lines
    # The second half of a tax has the base of the first.
    bases = {
        (line.found.value.rate, line.found.value.amount): line.found.value.base
        for line in lines
        if line.found.value.base is not None
    }
    based = tuple(_with_base(line, bases) for line in lines)
    if based != lines:
        yield based


def _with_base(
    line: TaxCandidate, bases: Mapping[tuple[Decimal | None, Decimal | None], Decimal | None]
) -> TaxCandidate:
    value = line.found.value
    base = bases.get((value.rate, value.amount)) or line.base
    if value.base is not None or base is None:
        return line
    is_of_half = line.base is None
    weak = line.features.get("base_in_subtotal", 0)
    features = {
        **line.features,
        "remote_base": not is_of_half and not weak,
        "subtotal_base": not is_of_half and weak,
    }
    found = replace(line.found, value=replace(value, base=base))
    return replace(line, found=found, base=None, features=features)


def _distinct(lines: Sequence[TaxCandidate]) -> Lines:
    """Return the lines without repetitions; the two halves of a tax have different names."""
    kept: dict[tuple[object, ...], TaxCandidate] = {}
    for line in lines:
        value = line.found.value
        key = ((value.name or "").casefold(), value.rate, value.amount)
        best = kept.get(key)
        if best is None or (best.found.value.base is None and value.base is not None):
            kept[key] = line
    return tuple(kept.values())


def _is_other(line: TaxCandidate, table: Lines) -> bool:
    return all(line.found.value.rate != other.found.value.rate for other in table)


def _sum(lines: Sequence[TaxCandidate]) -> Decimal:
    return sum((line.found.value.amount or Decimal(0) for line in lines), Decimal(0))


def _gap(sums: _Sums) -> Decimal | None:
    if sums.total is None or sums.subtotal is None:
        return None
    return sums.total - sums.subtotal


def _features(lines: Lines, candidates: DetailCandidates, sums: _Sums) -> dict[str, float]:
    count = len(lines)
    values = [line.found.value for line in lines]
    whole = _sum(lines)
    amounts = [value.amount or Decimal(0) for value in values]
    bases = [value.base for value in values if value.base is not None]
    features: dict[str, float] = {
        "always": 1,
        "more": min(count - 1, 3),
        "is_tax": sums.tax is not None and abs(whole - sums.tax) <= _CENT,
        "off_tax": sums.tax is not None and abs(whole - sums.tax) > _CENT,
        "no_tax": sums.tax is None,
        "tax_is_part": count > 1 and whole != sums.tax and sums.tax in amounts and bool(sums.tax),
        "gap": whole != 0 and _gap(sums) is not None and abs(whole - (_gap(sums) or 0)) <= _CENT,
        "bases": len(bases) == count,
        # The total is taxed itself only if it is no total.
        "base_is_total": any(value.amount and value.base == sums.total for value in values),
        "some_bases": 0 < len(bases) < count,
        # A subtotal that the tax was computed on adds up with it in any case.
        "adds_up": _adds_up(lines, sums.total)
        and not any(line.features.get("subtotal_base") for line in lines),
        "table_adds_up": _adds_up(lines, sums.total) and "table" in lines[0].features,
        "fits_subtotal": sum(_is_on_subtotal(line) for line in lines) / count,
        "sum_line": count > 1
        and any(amount and 2 * amount == whole for amount in amounts)
        and not _are_halves(values),
        "halves": _are_halves(values),
        "conflict": _conflicts(values),
        "same": count - len({(value.rate, value.amount) for value in values}),
        "left_out": _left_out(values, whole, sums),
        "zeros_left_out": _zeros_left_out(values, candidates),
        "left_out_rates": _left_out_rates(values, candidates),
        "larger": sums.total is not None and abs(whole) * 2 > abs(sums.total),
        "negative": any(amount < 0 for amount in amounts),
    }
    for name in {name for line in lines for name in line.features} - {"base_in_subtotal"}:
        features[name] = sum(line.features.get(name, 0.0) for line in lines) / count
    return features


def _is_on_subtotal(line: TaxCandidate) -> bool:
    """Return whether the rate makes the tax of a subtotal."""
    is_weak = bool(line.features.get("base_in_subtotal"))
    return bool(line.features.get("subtotal_base")) or (line.base is not None and is_weak)


def _adds_up(lines: Lines, total: Decimal | None) -> bool:
    if total is None:
        return False
    gross = Decimal(0)
    base_once: set[Decimal] = set()
    for line in lines:
        value = line.found.value
        amount = value.amount or Decimal(0)
        if value.base is not None:
            # The two halves of a tax have the same base.
            gross += amount + (0 if value.base in base_once else value.base)
            base_once.add(value.base)
        elif line.gross is not None:
            gross += line.gross
        else:
            return False
    return abs(gross - total) <= 3 * _CENT


def _is_named(line: TaxCandidate) -> bool:
    """Return whether a tax is next to its name, or agrees with its rate.

    Others are in rows with a rate near such a name, as line items may be.
    """
    return bool(line.features.get("proven") or not line.features.get("near"))


def _are_halves(values: Sequence[TaxLine]) -> bool:
    """Return whether each line has another one with the same rate and amount, but another name."""
    taxed = [value for value in values if value.amount]
    return len(taxed) > 1 and all(
        any(
            one is not other and one.amount == other.amount and one.name != other.name
            for other in taxed
        )
        for one in taxed
    )


def _conflicts(values: Sequence[TaxLine]) -> bool:
    """Return whether two lines of one tax have the same rate."""
    known = [((value.name or "").casefold(), value.rate) for value in values]
    return len(set(known)) < len(known)


def _left_out(values: Sequence[TaxLine], whole: Decimal, sums: _Sums) -> float:
    """Return how many labelled taxes are neither lines, nor their sum or a part of it."""
    used = {value.amount for value in values} | {whole} | {value.base for value in values}
    return min(sum(amount not in used for amount in sums.labelled), _MOST_LEFT_OUT)


def _zeros_left_out(values: Sequence[TaxLine], candidates: DetailCandidates) -> float:
    """Return how many labelled zero rates are left out."""
    zeros = {
        (line.found.value.name, line.found.value.rate)
        for line in candidates.taxes
        if not line.found.value.amount and line.found.value.rate is not None
    }
    used = {(value.name, value.rate) for value in values} | {(None, value.rate) for value in values}
    left = [one for one in zeros if one not in used and (None, one[1]) not in used]
    return min(len(left), _MOST_LEFT_OUT)


def _left_out_rates(values: Sequence[TaxLine], candidates: DetailCandidates) -> float:
    """Return how many rates with a tax are left out."""
    every = [*candidates.taxes, *(line for table in candidates.tax_tables for line in table)]
    rates = {line.found.value.rate for line in every if line.features.get("proven")}
    rates |= {line.found.value.rate for line in candidates.taxes if _is_named(line)}
    used = {value.rate for value in values} | {None}
    return min(len(rates - used), _MOST_LEFT_OUT)
