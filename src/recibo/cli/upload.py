"""`recibo upload`: sends documents to a server and prints their receipts."""

import asyncio
import sys
from collections import Counter, deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from recibo.cli import extract, inputs, readings
from recibo.cli.inputs import Document
from recibo.cli.progress import Bar
from recibo.errors import ServiceError
from recibo.extract.model import Accuracy, DocumentType
from recibo.lib import printable
from recibo_client import APIError, AsyncRecibo, ReciboError, errors

# An organization's plan may allow one upload at a time: then the other waits.
_AT_ONCE = 2
_RETRY_S = 600.0

#: After these, the next file would fail, too.
STOPS = (
    errors.ConfigurationError,
    errors.ConnectionFailedError,
    errors.InsufficientScopeError,
    errors.UnauthorizedError,
    errors.UnexpectedResponseError,
)


@dataclass(frozen=True, slots=True)
class Options:
    """Where documents are sent, and how they are read there."""

    #: None is the client's: RECIBO_URL, or this machine.
    server: str | None
    accuracy: Accuracy
    hint: DocumentType | None

    def client(self) -> AsyncRecibo:
        """Return a client of the server; raises ReciboError without an API key."""
        return AsyncRecibo(base_url=self.server, retry_seconds=_RETRY_S)


def run(names: Sequence[str], options: Options) -> int:
    """Send the files, print a receipt on each line and return the exit status."""
    try:
        with inputs.documents(names) as documents:
            return asyncio.run(_print(documents, options))
    except KeyboardInterrupt:
        return extract.EXIT_INTERRUPTED
    except OSError as e:
        return extract.exit_status(e)
    except ReciboError as e:
        sys.stderr.write(f"recibo: {printable.line(str(e))}\n")
        return 1


async def fields_of(
    client: AsyncRecibo, name: str, path: Path, options: Options
) -> dict[str, object]:
    """Send one file; return `file` and the fields of its receipt, or `error`.

    Raises:
        ReciboError: other files would fail, too.
    """
    file: dict[str, object] = {"file": printable.file_name(name)}
    try:
        inputs.check(path)
        receipt = await client.receipts.extract(
            path,
            accuracy=options.accuracy.value,
            type=options.hint.value if options.hint else None,
            metadata={"filename": printable.line(printable.file_name(Path(name).name))[:256]},
        )
    except ServiceError as e:
        return {**file, "error": {"code": e.code, "message": e.message}}
    except STOPS:
        raise
    except APIError as e:
        if not e.code:
            # Recibo did not answer, but another site or a proxy.
            raise
        return {**file, "error": {"code": e.code, "message": e.message}}
    return {**file, **receipt.model_dump(mode="json")}


async def _print(documents: Sequence[Document], options: Options) -> int:
    counts: Counter[str] = Counter()
    bar = Bar(len(documents))
    async with options.client() as client:
        bar.name(documents[0].name)
        with bar.shown():
            async with aclosing(_sent(client, documents, options)) as sent:
                async for fields in sent:
                    with bar.hidden():
                        sys.stdout.buffer.write(readings.to_json_line(fields))
                        sys.stdout.buffer.flush()
                    _count(counts, fields)
    if bar.is_shown:
        sys.stderr.write(extract.summary(counts) + "\n")
    return int(counts["failed"] > 0)


def _count(counts: Counter[str], fields: dict[str, object]) -> None:
    review = fields.get("review")
    counts["failed" if "error" in fields else "read"] += 1
    counts["need review"] += isinstance(review, dict) and review["status"] == "needs_review"


async def _sent(
    client: AsyncRecibo, documents: Sequence[Document], options: Options
) -> AsyncGenerator[dict[str, object], None]:
    """Yield what became of each file in their order, with a few on their way."""
    started: deque[asyncio.Task[dict[str, object]]] = deque()
    try:
        for one in documents:
            started.append(asyncio.create_task(fields_of(client, one.name, one.path, options)))
            if len(started) >= _AT_ONCE:
                yield await started.popleft()
        while started:
            yield await started.popleft()
    finally:
        for task in started:
            task.cancel()
        await asyncio.gather(*started, return_exceptions=True)
