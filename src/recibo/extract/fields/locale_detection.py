"""Detects the country, currency, time zone and language of a document."""

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from recibo.extract.brazil import states
from recibo.extract.layout.rows import Row
from recibo.extract.text import currency_symbols, lexicon, tables, timestamps
from recibo.extract.text.phrases import Phrasebook
from recibo.extract.text.tables import Country

# Points for each kind of evidence. A currency's unique symbol or a tax number decides most
# documents; single words are shared by neighboring countries, so each counts little and once.
_SYMBOL, _SHARED_SYMBOL, _PHONE, _DOMAIN, _POSTCODE, _LEGAL_FORM, _TAX_NUMBER = 3, 1, 2, 2, 2, 2, 5
_CUE, _MOST_CUES, _LANGUAGE, _STATE, _BARE_TAX, _POINT = 1, 4, 2, 2, 1, 2
_DATED, _COMMA = 1, -1
# With a lower score, or a smaller lead, the country stays unknown.
_ENOUGH, _MARGIN = 2.0, 1.0

# In its addresses the state is not only next to a postcode.
_BRAZIL, _IN_BRAZIL = "BR", "pt"
# Without its dots and slash a shorter legal form occurs by chance.
_LEAST_FORM = 4

_PHONE_PREFIX = re.compile(
    r"(?<!\d)(?:\+\s?|(?<!-)00(?=\d{2,3}[ -](?:[\s\-().]?\d){7,}))(\d{2,3})(?=[\s\-().]*\d)"
)
_DOMAIN_END = re.compile(
    r"(?<![\w.-])[a-z0-9-]{2,40}(?:\.[a-z0-9-]{4,})*\.((?:com?\.)?[a-z]{2})(?![\w])"
)

# A state after its city, without a postcode: "Seattle, WA  206-555-0110".
_STATE_OF_CITY = re.compile(
    r"[A-Za-z.]{2,},\s?([A-Z]{2,3})\.?(?=\s*$|\s+[(+]?\d{3}[)\-. ])", re.MULTILINE
)
# In only one country the tax has no other name.
_BARE = re.compile(r"^\W*tax\b[\s\d.%:()@]*\$?\s*\d+\.\d{2}\W*$", re.IGNORECASE | re.MULTILINE)
# "Gst 3" is a number of guests.
_NAMED_TAX = re.compile(
    r"\b(?:gst|vat|hst|pst|qst|sst|iva|btw|tva|tin|abn)\b(?!\W*\d{1,2}(?![\d.,%]))", re.IGNORECASE
)
_WITH_BARE_TAX = "US"
# The country with a decimal point in a language whose other countries have a decimal comma.
_WITH_POINT = {"de": ("CH",), "it": ("CH",), "fr": ("CH", "CA")}
# Those of them that hardly ever have a decimal comma.
_WITHOUT_COMMA = {"de": ("CH",), "it": ("CH",), "fr": ("CH",)}
_WITH_POINTS = re.compile(r"(?<![.,\d])\d{1,4}\.\d{2}(?![.,\d])")
_WITH_COMMAS = re.compile(r"(?<![.,\d])\d{1,4},\d{2}(?![.,\d])")
# There must be many points and few commas, since OCR reads some commas as points.
_LEAST_POINTS, _LEAST_COMMAS, _MOST_COMMAS = 4, 3, 0.1
# There is no 13th month: most English documents with the month first are American.
_MONTH_FIRST = re.compile(r"(?<![\d/])(?:0?[1-9]|1[0-2])/(?:1[3-9]|2\d|3[01])/(?:20)?\d\d(?![\d/])")
_DAY_FIRST = re.compile(r"(?<![\d/])(?:1[3-9]|2\d|3[01])/(?:0?[1-9]|1[0-2])/(?:20)?\d\d(?![\d/])")
_WITH_MONTH_FIRST = "US"
# The fewest characters of a script that decide the language of a page.
_LEAST_SIGNS = 4
_SCRIPTS = (
    ("ja", re.compile(r"[\u3041-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7a3]")),
    ("th", re.compile(r"[\u0e01-\u0e5b]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("he", re.compile(r"[\u05d0-\u05ea]")),
    ("ar", re.compile(r"[\u0620-\u064a]")),
)


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a document, as far as it is known."""

    #: None without evidence, or if two countries are equally likely.
    country: Country | None = None
    #: ISO 4217: of the country, or of all equally likely countries.
    currency: str | None = None
    #: An IANA name; None if the country is unknown, or has several time zones and no known state.
    zone: str | None = None
    #: The language of the page, ISO 639; None without known words.
    language: str | None = None

    def offset(self, date: dt.date, time: dt.time | None) -> dt.timedelta | None:
        """Return the UTC offset at a local time, or None without a time zone."""
        if self.zone is None:
            return None
        moment = dt.datetime.combine(date, time or dt.time(0), timestamps.zone(self.zone))
        return moment.utcoffset()


def locate(rows: Sequence[Row], *, hints: Sequence[str] = ()) -> Place:
    """Return the place of a document; `hints` are countries with other evidence."""
    language = _language(rows)
    votes = _votes(rows, language)
    for code in hints:
        votes[code] += _TAX_NUMBER
    likeliest = _likeliest(votes)
    country = likeliest[0] if len(likeliest) == 1 else None
    money = {one.currency for one in likeliest}
    currency = money.pop() if len(money) == 1 else None
    return Place(country, currency, _zone(country, rows), language)


def _votes(rows: Sequence[Row], language: str | None) -> dict[str, float]:
    votes: dict[str, float] = defaultdict(float)
    text = "\n".join(row.text for row in rows)
    finds = (
        *(_by_symbols(text), _by_contacts(text), _by_words(rows)),
        *(_by_states(text, language), _by_points(text, language), _by_dates(text, language)),
    )
    for code, weight in (one for found in finds for one in found):
        votes[code] += weight
    for code, country in tables.countries().items():
        if language in country.languages:
            votes[code] += _LANGUAGE if country.languages[0] == language != "en" else 1
    return votes


def _likeliest(votes: dict[str, float]) -> list[Country]:
    """Return the best country and those with a similar score; none if all scores are low."""
    most = max(votes.values(), default=0)
    if most < _ENOUGH:
        return []
    return [tables.countries()[code] for code, vote in votes.items() if most - vote < _MARGIN]


def _by_symbols(text: str) -> Iterator[tuple[str, float]]:
    weights = {
        code: _SHARED_SYMBOL
        for code, known in currency_symbols.shared().items()
        if known.search(text)
    }
    weights |= {
        code: _SYMBOL for code, known in currency_symbols.unique().items() if known.search(text)
    }
    for code, weight in weights.items():
        for country in _countries_paying_in(code):
            yield country, weight


def _by_contacts(text: str) -> Iterator[tuple[str, float]]:
    prefixes = set(_PHONE_PREFIX.findall(text))
    endings = set(_DOMAIN_END.findall(text.lower()))
    for code, country in tables.countries().items():
        if any(prefix.startswith(country.phone) for prefix in prefixes) and country.phone != "1":
            yield code, _PHONE
        if endings & set(country.domains):
            yield code, _DOMAIN
        for patterns, weight in ((tables.postcodes(), _POSTCODE), (tables.phones(), _CUE)):
            if code in patterns and patterns[code].search(text):
                yield code, weight


def _by_words(rows: Sequence[Row]) -> Iterator[tuple[str, float]]:
    cues: dict[str, set[str]] = {}
    forms = set()
    for row in rows:
        for phrase in _cue_book().find(row.text):
            words = row.text[phrase.start : phrase.end].lower()
            if _is_measure(words):
                continue
            for code in _codes_of(phrase.kind):
                cues.setdefault(code, set()).add(words)
        forms |= {
            phrase.kind
            for phrase in _form_book().find(row.text)
            if not _is_measure(row.text[phrase.start : phrase.end])
        }
    for code, words_seen in cues.items():
        yield code, _CUE * min(len(words_seen), _MOST_CUES)
    for kind in forms:
        for code in _codes_of(kind):
            yield code, _LEGAL_FORM


def _is_measure(words: str) -> bool:
    """Return whether a short word is a number with a unit: "5L" is not "S.L."."""
    return re.fullmatch(r"\d\s?[A-Za-z]{1,2}", words) is not None


def _by_states(text: str, language: str | None) -> Iterator[tuple[str, float]]:
    if language == _IN_BRAZIL and states.find(text):
        yield _BRAZIL, _STATE
    states_seen = set(_STATE_OF_CITY.findall(text))
    for code, regions in tables.regions().items():
        if states_seen & set(regions):
            yield code, _STATE
    if _BARE.search(text) and not _NAMED_TAX.search(text):
        yield _WITH_BARE_TAX, _BARE_TAX


def _by_points(text: str, language: str | None) -> Iterator[tuple[str, float]]:
    points, commas = len(_WITH_POINTS.findall(text)), len(_WITH_COMMAS.findall(text))
    if points >= _LEAST_POINTS and commas <= points * _MOST_COMMAS:
        for code in _WITH_POINT.get(language or "", ()):
            yield code, _POINT
    if commas >= _LEAST_COMMAS and points <= commas * _MOST_COMMAS:
        for code in _WITHOUT_COMMA.get(language or "", ()):
            yield code, _COMMA


def _by_dates(text: str, language: str | None) -> Iterator[tuple[str, float]]:
    if language == "en" and _MONTH_FIRST.search(text) and not _DAY_FIRST.search(text):
        yield _WITH_MONTH_FIRST, _DATED


def _language(rows: Sequence[Row]) -> str | None:
    text = "".join(row.text for row in rows)
    for language, script in _SCRIPTS:
        if len(script.findall(text)) >= _LEAST_SIGNS:
            return language
    votes: dict[str, float] = defaultdict(float)
    for row in rows:
        phrases = _language_book().find(row.text)
        states_seen = _state_places(row.text) if phrases else frozenset()
        for phrase in phrases:
            if phrase.start in states_seen:
                continue
            # A word of several languages counts a little for each of them.
            languages = _codes_of(phrase.kind)
            for language in languages:
                votes[language] += 1 / len(languages)
    # Most words of English receipts are used in other languages, too.
    return max(
        votes, key=lambda language: (round(votes[language], 6), language == "en"), default=None
    )


def _state_places(text: str) -> frozenset[int]:
    """Return the positions of state codes: "Springfield, IL 62701" is not Italian."""
    patterns = (one for one in tables.postcodes().values() if "region" in one.groupindex)
    with_code = (match.start("region") for one in patterns for match in one.finditer(text))
    return frozenset((*with_code, *(match.start(1) for match in _STATE_OF_CITY.finditer(text))))


def _zone(country: Country | None, rows: Sequence[Row]) -> str | None:
    """Return the time zone of the place of issue: of its state, its city, else its country."""
    if country is None:
        return None
    if country.code == _BRAZIL:
        return states.zone_in("\n".join(row.text for row in rows))
    return _zone_of_state(country, rows) or _zone_of_city(country, rows) or country.zone


def _zone_of_state(country: Country, rows: Sequence[Row]) -> str | None:
    time_zones = tables.regions().get(country.code, {})
    postcode = tables.postcodes().get(country.code)
    for row in rows if time_zones else ():
        matches = postcode.finditer(row.text) if postcode else ()
        codes = [match.groupdict().get("region") or "" for match in matches]
        for code in (*codes, *_STATE_OF_CITY.findall(row.text)):
            if code.upper() in time_zones:
                return time_zones[code.upper()]
    return None


def _zone_of_city(country: Country, rows: Sequence[Row]) -> str | None:
    if country.code not in tables.cities():
        return None
    book = _city_book(country.code)
    return next((phrase.kind for row in rows for phrase in book.find(row.text)), None)


def _countries_paying_in(currency: str) -> list[str]:
    return [code for code, row in tables.countries().items() if row.currency == currency]


@cache
def _city_book(code: str) -> Phrasebook:
    return Phrasebook(tables.cities()[code], joined=False)


@cache
def _cue_book() -> Phrasebook:
    return _shared_book((cue, code) for code, row in tables.countries().items() for cue in row.cues)


@cache
def _form_book() -> Phrasebook:
    return _shared_book(
        (form.text, form.country)
        for form in tables.legal_forms()
        if form.is_cue and len(form.text) >= _LEAST_FORM
    )


@cache
def _language_book() -> Phrasebook:
    return _shared_book(
        (phrase, language)
        for language, phrases in lexicon.phrases_by_language().items()
        for phrase in phrases
    )


def _shared_book(pairs: Iterable[tuple[str, str]]) -> Phrasebook:
    """Return a phrasebook whose kinds are all owners of a phrase, separated by bars."""
    owners: dict[str, list[str]] = defaultdict(list)
    for phrase, owner in pairs:
        if owner not in owners[phrase]:
            owners[phrase].append(owner)
    kinds: dict[str, list[str]] = defaultdict(list)
    for phrase, names in owners.items():
        kinds["|".join(names)].append(phrase)
    return Phrasebook(kinds, joined=False)


def _codes_of(kind: str) -> list[str]:
    return kind.split("|")
