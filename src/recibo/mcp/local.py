"""Receipts on this machine: read by the library, kept as JSON files in a folder."""

import asyncio
import hashlib
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from recibo.adapters.reader import Failure, PoolReader, Reader
from recibo.errors import Conflict, LowConfidence, NotFound, ValidationFailed
from recibo.extract.model import Accuracy, DocumentType
from recibo.lib import atomic_files, search_text
from recibo.mcp.folders import Folders
from recibo.mcp.receipts import Receipt, Search, Upload
from recibo.schemas import amounts, doubts
from recibo.schemas import receipts as shapes
from recibo.schemas.corrections import Correction
from recibo.schemas.receipts import Evidence, PageSize, Reading
from recibo.schemas.states import ReviewStatus

# As in the service.
_TIME_LIMIT_S = 240.0
_ID = re.compile("rcp_[0-9a-f]{32}")
_NOT_HERE = {"metadata"}


class Stored(BaseModel):
    """A receipt as it is kept."""

    model_config = ConfigDict(frozen=True)

    id: str
    sha256: str
    #: The path of the document, or the name that it was sent with.
    file: str
    accuracy: Accuracy
    reading: Reading
    #: What the machine read, once a person changed it.
    machine_reading: Reading | None = None
    corrected_fields: tuple[str, ...] = ()
    is_approved: bool = False
    version: int = 1
    evidence: Evidence
    pages: tuple[PageSize, ...]
    text: tuple[str, ...]


@dataclass(slots=True)
class LocalReceipts:
    """Receipts in a folder, which may be deleted at any time."""

    store: Path
    folders: Folders
    #: It is made when the first document comes, because it loads the models.
    _reader: Reader | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def extract(self, upload: Upload) -> Receipt:
        """Read a document and keep the reading; the same bytes are read once for each accuracy."""
        digest = hashlib.sha256(upload.content).hexdigest()
        receipt_id = f"rcp_{digest[:32]}"
        wanted = Accuracy(upload.accuracy)
        async with self._lock:
            known = self._known(receipt_id)
            if known and (known.accuracy is wanted or wanted is Accuracy.STANDARD):
                if self._is_visible(known):
                    return _shown(known)
                stored = known.model_copy(update={"file": upload.name})
            else:
                stored = await self._read(upload, receipt_id, digest)
                if known:
                    stored = _with_corrections(stored, known)
            if not Path(upload.name).is_absolute():
                # There is no file to draw pages of later.
                self._write(f"documents/{receipt_id}", upload.content)
            self._keep(stored)
        return _shown(stored)

    async def get(self, receipt_id: str) -> Receipt:
        """Return a receipt with the text of its pages."""
        stored = self._stored(receipt_id)
        return {**_shown(stored), "text": list(stored.text)}

    async def search(self, search: Search, limit: int) -> list[Receipt]:
        """Return the receipts that match, the latest date first."""
        found = [one for one in await asyncio.to_thread(self._all) if _matches(one, search)]
        found.sort(key=lambda one: one.reading.issued_at or "", reverse=True)
        return [_shown(one) for one in found[:limit]]

    async def correct(self, receipt_id: str, changes: Mapping[str, Any]) -> Receipt:
        """Change fields; what the machine read is kept."""
        try:
            correction = Correction.model_validate(dict(changes))
        except ValidationError as e:
            problems = "; ".join(f"{_place(one['loc'])}: {one['msg']}" for one in e.errors())
            raise ValidationFailed(problems) from None
        if unknown := changes.keys() - Correction.model_fields.keys():
            raise ValidationFailed(f"{', '.join(sorted(unknown))}: not a field of a receipt.")
        if _NOT_HERE & correction.model_fields_set:
            raise ValidationFailed("Receipts without a server have no metadata.")
        async with self._lock:
            stored = self._stored(receipt_id)
            if correction.version not in {None, stored.version}:
                raise Conflict(f"The receipt has changed: it has version {stored.version} by now.")
            corrected = _corrected(stored, correction)
            if corrected != stored:
                self._keep(corrected)
        return _shown(corrected)

    async def page(self, receipt_id: str, number: int) -> bytes:
        """Return a page as WebP, from the document that was read."""
        stored = self._stored(receipt_id)
        if not 1 <= number <= len(stored.pages):
            raise NotFound("There is no such page.")
        content = await asyncio.to_thread(self._document, stored)
        turns = stored.pages[number - 1].turns
        with tempfile.NamedTemporaryFile(prefix="recibo-") as spool:
            spool.write(content)
            spool.flush()
            reader = self._reader_or_new()
            drawn = await reader.draw(Path(spool.name), number, turns=turns, width=None)
        if not isinstance(drawn, bytes):
            raise NotFound("The page cannot be drawn.")
        return drawn

    async def aclose(self) -> None:
        """End the processes that read."""
        if isinstance(self._reader, PoolReader):
            await self._reader.aclose()

    async def _read(self, upload: Upload, receipt_id: str, digest: str) -> Stored:
        with tempfile.NamedTemporaryFile(prefix="recibo-") as spool:
            spool.write(upload.content)
            spool.flush()
            outcome = await self._reader_or_new().read(
                Path(spool.name),
                hint=DocumentType(upload.type) if upload.type else None,
                accuracy=Accuracy(upload.accuracy),
                time_limit_s=_TIME_LIMIT_S,
            )
        if isinstance(outcome, Failure):
            raise LowConfidence(outcome.message)
        return Stored(
            id=receipt_id,
            sha256=digest,
            file=upload.name,
            accuracy=Accuracy(upload.accuracy),
            reading=shapes.reading(outcome),
            evidence=shapes.evidence(outcome),
            pages=tuple(shapes.pages(outcome)),
            text=shapes.page_texts(outcome),
        )

    def _document(self, stored: Stored) -> bytes:
        """Return the content of the document, if it is still the one that was read."""
        if Path(stored.file).is_absolute():
            _, content = self.folders.read(stored.file)
        else:
            try:
                content = (self.store / "documents" / stored.id).read_bytes()
            except OSError:
                raise NotFound("The document is gone.") from None
        if hashlib.sha256(content).hexdigest() != stored.sha256:
            raise NotFound("The file has another content by now; read it again.")
        return content

    def _reader_or_new(self) -> Reader:
        self._reader = self._reader or PoolReader(processes=1)
        return self._reader

    def _keep(self, stored: Stored) -> None:
        self._write(f"{stored.id}.json", stored.model_dump_json().encode())

    def _write(self, name: str, content: bytes) -> None:
        # The documents may be closed to the other users of this machine.
        self.store.mkdir(mode=0o700, parents=True, exist_ok=True)
        atomic_files.write(self.store / name, content)

    def _stored(self, receipt_id: str) -> Stored:
        found = self._known(receipt_id)
        if found is None or not self._is_visible(found):
            raise NotFound("There is no such receipt.")
        return found

    def _is_visible(self, stored: Stored) -> bool:
        """Return whether its document is in the folders, or came in a message.

        Another agent, with other folders, may use the same store.
        """
        file = Path(stored.file)
        return not file.is_absolute() or self.folders.have(file)

    def _known(self, receipt_id: str) -> Stored | None:
        # Nothing else is a name of a file in the store.
        if not _ID.fullmatch(receipt_id):
            return None
        return _loaded(self.store / f"{receipt_id}.json")

    def _all(self) -> list[Stored]:
        paths = self.store.glob("rcp_*.json")
        found = (_loaded(path) for path in paths)
        return [stored for stored in found if stored and self._is_visible(stored)]


def _loaded(path: Path) -> Stored | None:
    """Return a receipt; None if there is none, or one of another release."""
    try:
        return Stored.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def _shown(stored: Stored) -> Receipt:
    found = doubts.find(stored.reading, stored.evidence, stored.corrected_fields)
    status = ReviewStatus.NEEDS_REVIEW if found else ReviewStatus.READY
    return {
        "id": stored.id,
        "file": stored.file,
        **stored.reading.model_dump(mode="json"),
        "review": {
            "status": ReviewStatus.APPROVED if stored.is_approved else status,
            "reasons": [one.model_dump(mode="json") for one in found],
        },
        "corrected_fields": list(stored.corrected_fields),
        "version": stored.version,
        "page_count": len(stored.pages),
    }


def _corrected(stored: Stored, correction: Correction) -> Stored:
    given = correction.model_dump(include=correction.model_fields_set & Reading.model_fields.keys())
    before = stored.reading
    merged = Reading.model_validate({**before.model_dump(), **given})
    amounts.check_decimals(merged, before, given)
    after = amounts.respelled(merged)
    changed = {name for name in given if getattr(before, name) != getattr(after, name)}
    # A change withdraws an approval, unless it approves again.
    is_approved = bool(correction.approved)
    if correction.approved is None:
        is_approved = stored.is_approved and not changed
    if not changed and is_approved == stored.is_approved:
        return stored
    return stored.model_copy(
        update={
            "reading": after,
            "machine_reading": stored.machine_reading or before,
            "corrected_fields": tuple(sorted({*stored.corrected_fields, *changed})),
            "is_approved": is_approved,
            "version": stored.version + 1,
        }
    )


def _with_corrections(read: Stored, known: Stored) -> Stored:
    """Return another reading of a document with what was corrected; a change withdraws approval."""
    by_hand = {name: getattr(known.reading, name) for name in known.corrected_fields}
    after = read.reading.model_copy(update=by_hand)
    return read.model_copy(
        update={
            "reading": after,
            "machine_reading": read.reading if by_hand else None,
            "corrected_fields": known.corrected_fields,
            "is_approved": known.is_approved and after == known.reading,
            "version": known.version + 1,
        }
    )


def _matches(stored: Stored, search: Search) -> bool:
    reading = stored.reading
    date = (reading.issued_at or "")[:10]
    return (
        (not search.after or date >= search.after)
        and (not search.before or "" < date < search.before)
        and (not search.currency or reading.currency == search.currency)
        and (not search.category or reading.category == search.category)
        and (not search.review or _shown(stored)["review"]["status"] == search.review)
        and _key(search.merchant) in {"", _key(reading.merchant_name or "")}
        and _has_words(stored, search_text.words(search.query))
    )


def _has_words(stored: Stored, wanted: Iterable[str]) -> bool:
    words = set(search_text.words(" ".join(_texts(stored))))
    return all(any(word.startswith(one) for word in words) for one in wanted)


def _texts(stored: Stored) -> Iterator[str]:
    reading = stored.reading
    for text in (reading.merchant_name, reading.merchant_tax_id, reading.document_number):
        yield text or ""
    yield from (item.name for item in reading.line_items)
    yield from stored.text


def _key(name: str) -> str:
    return search_text.key(name)


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location)
