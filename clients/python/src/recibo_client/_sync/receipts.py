"""Receipts: read, get, search, correct, export and delete them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recibo_client import _calls, errors, models, params
from recibo_client._uploads import File, OnUpload, Upload, load
from recibo_client._workers import directly, run_threads
from recibo_client.folders import BATCH_RETRY_SECONDS, Folder, FolderResult, OnFile, require

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from typing_extensions import Unpack

    from recibo_client._sync.connection import Connection

_PENDING = "pending"


class Receipts:
    """The receipts of your organization."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def extract(
        self,
        file: File,
        *,
        accuracy: models.Accuracy | None = None,
        type: models.DocumentType | None = None,
        metadata: Mapping[str, Any] | None = None,
        webhook_url: str | None = None,
        reread: bool = False,
        wait: bool = True,
        wait_seconds: float = 300,
        idempotency_key: str | None = None,
        on_upload: OnUpload | None = None,
    ) -> models.Receipt:
        """Read a document and return its receipt.

        Safe to repeat: the same file, or the same key, is read and billed once in 24 hours.

        Args:
            file: A path, the bytes, or an open binary file.
            accuracy: `high` reads crumpled, faded or tilted documents better, for 5 credits.
            type: A hint, used only if the document is ambiguous.
            metadata: Your tags: at most 16.
            webhook_url: Gets the events of this receipt instead of your endpoints.
            reread: Read a known file again, at a higher accuracy.
            wait: Whether to wait for a receipt that is still `pending` after some 25 seconds.
            wait_seconds: For how long, at most.
            idempotency_key: Your own; left out, each call has a new one.
            on_upload: Called with the bytes sent so far and the size of the file.

        Raises:
            LowConfidenceError: The document is unreadable.
            WaitTimeoutError: It was not read in time; the server goes on.
            ReciboError: Anything else: see `recibo_client.errors`.
        """
        upload = directly(load, file, on_progress=on_upload)
        form = params.form(
            accuracy=accuracy,
            type=type,
            metadata=metadata,
            webhook_url=webhook_url,
            reread=reread or None,
        )
        receipt = self._upload(upload, form, idempotency_key)
        return self._finished(receipt, wait_seconds) if wait else receipt

    def wait(self, receipt_id: str, *, seconds: float = 300) -> models.Receipt:
        """Return a receipt once it is no longer `pending`; it may be `failed`.

        Raises:
            WaitTimeoutError: It still is after so many seconds.
        """
        end = time.monotonic() + seconds
        while True:
            left = max(0.0, min(end - time.monotonic(), _calls.MAX_WAIT_SECONDS))
            receipt = self.get(receipt_id, wait=left)
            if receipt.status != _PENDING:
                return receipt
            if time.monotonic() >= end:
                raise errors.WaitTimeoutError(receipt)

    def get(
        self, receipt_id: str, *, include: str | Sequence[str] = (), wait: float = 0
    ) -> models.Receipt:
        """Return a receipt.

        Args:
            receipt_id: Its id.
            include: `evidence`, `pages`, `reading`, `text`, or several of them.
            wait: 0 to 25: how many seconds to wait while it is `pending`.
        """
        call = _calls.get_receipt(receipt_id, include=include, wait=wait)
        return self._connection.get(call, models.Receipt)

    def list(
        self, *, page_size: int = 100, **filters: Unpack[params.Filters]
    ) -> Iterator[models.Receipt]:
        """Yield all receipts that match, the newest upload first; pages are fetched as needed."""
        cursor = None
        while True:
            page = self.list_page(limit=page_size, cursor=cursor, **filters)
            for receipt in page.data:
                yield receipt
            cursor = page.next_cursor
            if not page.has_more:
                return

    def list_page(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        **filters: Unpack[params.Filters],
    ) -> models.ReceiptList:
        """Return one page: `data`, and the `next_cursor` of the next one."""
        call = _calls.list_receipts(filters, limit=limit, cursor=cursor)
        return self._connection.get(call, models.ReceiptList)

    def correct(self, receipt_id: str, **changes: Unpack[params.Correction]) -> models.Receipt:
        """Change fields of a receipt and return it; nothing is billed.

            recibo.receipts.correct(receipt.id, total="34.15", version=receipt.version)

        Raises:
            ConflictError: It has another `version`, or is not `completed`.
            InvalidRequestError: A value is not valid; nothing was changed.
        """
        call = _calls.update_receipt(receipt_id, changes)
        return self._connection.get(call, models.Receipt)

    def approve(self, receipt_id: str, *, version: int | None = None) -> models.Receipt:
        """Approve a receipt and return it; with `version`, only what you have seen."""
        changes: params.Correction = {"approved": True}
        if version is not None:
            changes["version"] = version
        return self.correct(receipt_id, **changes)

    def delete(self, receipt_id: str) -> None:
        """Delete a receipt; it is purged with its file after 30 days."""
        self._connection.send(_calls.delete_receipt(receipt_id))

    def file(self, receipt_id: str) -> bytes:
        """Return the uploaded file."""
        response = self._connection.send(_calls.get_receipt_file(receipt_id))
        return response.content

    def page(self, receipt_id: str, page: int = 1, *, width: int | None = None) -> bytes:
        """Return a page, counted from 1, set upright, as WebP of 64 to 1600 pixels' width."""
        call = _calls.get_receipt_page(receipt_id, page, width=width)
        response = self._connection.send(call)
        return response.content

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        format: models.Format | None = None,
        rows: models.Rows = "receipts",
        **filters: Unpack[params.Filters],
    ) -> Path:
        """Write all receipts that match to a file, and return its path.

        Args:
            path: A file that exists is replaced once the export is complete.
            format: `csv`, `xlsx`, `jsonl` or `zip`; left out, the ending of the path.
            rows: What a row of a table is: `receipts` or `items`.
            filters: As in a list.
        """
        target = Path(path)
        file_format = format or target.suffix[1:].lower()
        call = _calls.export_receipts(filters, file_format=file_format, rows=rows)
        return self._connection.save(call, target)

    def extract_folder(
        self,
        folder: str | os.PathLike[str],
        *,
        pattern: str = "**/*",
        concurrency: int = 2,
        accuracy: models.Accuracy | None = None,
        type: models.DocumentType | None = None,
        metadata: Mapping[str, Any] | None = None,
        journal: str | os.PathLike[str] | None = None,
        on_file: OnFile | None = None,
    ) -> FolderResult:
        """Read all documents of a folder and return what became of each file.

        The receipts that were read are noted in a journal, so a second call, also after a crash,
        uploads only what is new. A file that cannot be read does not stop the others; a key or a
        server that refuses does.

        Args:
            folder: Files that are no picture or PDF are left out, and so are hidden ones.
            pattern: Which of them: `*.pdf` those of the folder itself, `**/*` all below it.
            concurrency: Uploads at once: free plans take 1, larger ones up to 50.
            accuracy: As in `extract`; `high` also reads again what was read with less.
            type: As in `extract`.
            metadata: As in `extract`.
            journal: Where to note what was read; left out, `.recibo-journal.jsonl` in the folder.
            on_file: Called after each file with the result so far and the number of files.

        Raises:
            ReciboError: The server or the key refuses; what was read until then is noted.
            ValueError: `concurrency` is below 1.
        """
        if concurrency < 1:
            message = f"concurrency is at least 1, not {concurrency}."
            raise ValueError(message)
        # Otherwise a file that was read with less accuracy would only be returned again.
        reread = True if accuracy == "high" else None
        form = params.form(accuracy=accuracy, type=type, metadata=metadata, reread=reread)
        require(Path(folder))
        # It also fails at once for a wrong URL or key.
        key = self._connection.get(_calls.get_own_key(), models.OwnKey)
        work = Folder(
            Path(folder),
            pattern,
            journal=None if journal is None else Path(journal),
            context=(self._connection.options.base_url, accuracy or "standard", key.org_id),
            on_file=on_file,
        )

        def read_files() -> None:
            while True:
                upload = directly(work.take)
                if upload is None:
                    return
                try:
                    receipt = self._upload(upload, form, None, BATCH_RETRY_SECONDS)
                    receipt = self._finished(receipt, BATCH_RETRY_SECONDS)
                except errors.ReciboError as error:
                    directly(work.fail, upload, error)
                else:
                    directly(work.finish, upload, receipt)

        run_threads(read_files, concurrency, on_interrupt=work.stop)
        return work.result()

    def _upload(
        self,
        upload: Upload,
        form: Mapping[str, str],
        idempotency_key: str | None,
        retry_seconds: float | None = None,
    ) -> models.Receipt:
        call = _calls.extract_receipt(upload, form, idempotency_key)
        return self._connection.get(call, models.Receipt, retry_seconds=retry_seconds)

    def _finished(self, receipt: models.Receipt, seconds: float) -> models.Receipt:
        if receipt.status == _PENDING:
            receipt = self.wait(receipt.id, seconds=seconds)
        error = errors.of_failure(receipt)
        if error is not None:
            raise error
        return receipt
