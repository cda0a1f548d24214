"""The tools and resources of the Model Context Protocol."""

import base64
import re
from collections.abc import Awaitable
from typing import Annotated, Any, Literal, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from recibo.errors import FileTooLarge, NotFound, ServiceError, ValidationFailed
from recibo.extract.document.limits import MAX_BYTES
from recibo.mcp import receipts
from recibo.mcp.folders import Folders
from recibo.mcp.handshake import INSTRUCTIONS, NAME, VERSION
from recibo.mcp.receipts import Group, Receipt, Receipts, Search, Upload

T = TypeVar("T")

_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_READS_DOCUMENTS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_CORRECTS = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)
_PAGE_NUMBER = re.compile("[0-9]{1,4}")
# What a summary adds up at most.
_MOST = 10_000

ReceiptId = Annotated[str, Field(description="As another tool returned it: rcp_...")]
Date = Annotated[str, Field(pattern=r"^(\d{4}-\d\d-\d\d)?$", description="YYYY-MM-DD")]


DocumentType = Annotated[
    Literal["", "receipt", "invoice", "nfe", "nfce", "nfse", "cupom_fiscal"],
    Field(description="A hint that breaks ties."),
]


def build(stored: Receipts, folders: Folders, *, allows_writes: bool) -> MCPServer:
    """Return a server over these receipts; only with writes has it `correct_receipt`."""
    server = MCPServer(
        NAME,
        version=VERSION,
        instructions=INSTRUCTIONS,
        log_level="WARNING",
    )
    _add_reading(server, stored, folders)
    _add_finding(server, stored)
    if allows_writes:
        _add_correcting(server, stored)
    return server


def _add_reading(server: MCPServer, stored: Receipts, folders: Folders) -> None:
    @server.tool(annotations=_READS_DOCUMENTS)
    async def extract_receipt(
        path: Annotated[str, Field(description="A file in an allowed folder.")] = "",
        content_base64: Annotated[str, Field(description="Instead of a path: the file.")] = "",
        filename: Annotated[str, Field(description="With content_base64: its name.")] = "",
        document_type: DocumentType = "",
        accuracy: Literal["standard", "high"] = "standard",
    ) -> Receipt:
        """Read a receipt or invoice: JPG, PNG, HEIC, WEBP, TIFF or PDF, at most 15 MB.

        Give either path or content_base64. The same document gives the same receipt. Use high
        accuracy for crumpled, faded or skewed documents; it takes longer.
        """
        if bool(path) == bool(content_base64):
            raise ToolError("Give either path or content_base64.")
        return await _answered(_extract(path, content_base64, filename, document_type, accuracy))

    async def _extract(path: str, content: str, filename: str, kind: str, accuracy: str) -> Receipt:
        if path:
            real, document = folders.read(path)
            return await stored.extract(Upload(document, str(real), kind, accuracy))
        name = filename.replace("/", "-") or "document"
        return await stored.extract(Upload(_decoded(content), name, kind, accuracy))

    @server.tool(annotations=_READS)
    async def get_receipt(receipt_id: ReceiptId) -> Receipt:
        """Return a receipt with all its fields."""
        return await _answered(stored.get(receipt_id))

    @server.resource(
        "receipt://{receipt_id}/pages/{page}",
        name="page",
        description="A picture of a page of a receipt, from 1.",
        mime_type="image/webp",
    )
    async def page(receipt_id: str, page: str) -> bytes:
        try:
            # Of a number in the signature, the SDK would log a wrong one with a stack trace.
            if not _PAGE_NUMBER.fullmatch(page):
                raise NotFound("There is no such page.")
            return await stored.page(receipt_id, int(page))
        except ServiceError as e:
            raise ResourceError(e.message) from None


def _add_finding(server: MCPServer, stored: Receipts) -> None:
    @server.tool(annotations=_READS)
    async def search_receipts(
        *,
        query: Annotated[str, Field(description="Words, or their beginnings; all match.")] = "",
        merchant: Annotated[str, Field(description="The whole name.")] = "",
        after: Date = "",
        before: Date = "",
        currency: Annotated[str, Field(description="ISO 4217")] = "",
        category: str = "",
        review: Literal["", "needs_review", "ready", "approved"] = "",
        limit: Annotated[int, Field(ge=1, le=200)] = 20,
    ) -> dict[str, Any]:
        """Find receipts that were read before; by date: `after` <= date < `before`."""
        search = Search(query, merchant, after, before, currency.upper(), category, review)
        return {"receipts": await _answered(stored.search(search, limit))}

    @server.tool(annotations=_READS)
    async def spending_summary(
        *,
        after: Date = "",
        before: Date = "",
        by: Literal["month", "category", "merchant"] = "month",
        currency: Annotated[str, Field(description="ISO 4217; all if empty")] = "",
    ) -> dict[str, Any]:
        """Add up the totals of receipts by month, category or merchant, for each currency."""
        search = Search(after=after, before=before, currency=currency.upper())
        found = await _answered(stored.search(search, _MOST))
        return {"currencies": receipts.spending(found, Group(by))}


def _add_correcting(server: MCPServer, stored: Receipts) -> None:
    @server.tool(annotations=_CORRECTS)
    async def correct_receipt(
        receipt_id: ReceiptId,
        changes: Annotated[
            dict[str, Any],
            Field(
                description="Fields with their right values, such as {"
                '"total": "34.15", "category": "restaurants"}; null clears one; "approved": true '
                "approves the receipt."
            ),
        ],
    ) -> Receipt:
        """Change fields of a receipt, or approve it. Ask the person first."""
        return await _answered(stored.correct(receipt_id, changes))


async def _answered(work: Awaitable[T]) -> T:
    """Return the result; an error of the service becomes one that the agent can read."""
    try:
        return await work
    except ServiceError as e:
        raise ToolError(e.message) from None


def _decoded(text: str) -> bytes:
    # Base64 has four characters for three bytes.
    if len(text) > (MAX_BYTES + 3) // 3 * 4:
        raise FileTooLarge
    try:
        content = base64.b64decode(text, validate=True)
    except ValueError:
        raise ValidationFailed("content_base64 is not Base64.") from None
    return content
