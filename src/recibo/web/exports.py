"""The answer to an export, the same for API and portal."""

from fastapi.responses import StreamingResponse

from recibo.schemas.actor import Actor
from recibo.services.reading import exports
from recibo.services.reading.exports import Exports, Wanted


async def download(service: Exports, actor: Actor, wanted: Wanted) -> StreamingResponse:
    """Return the file of an export as a download that no cache keeps."""
    return StreamingResponse(
        await service.start(actor, wanted),
        media_type=exports.MEDIA_TYPES[wanted.format],
        headers={
            "Content-Disposition": f'attachment; filename="{wanted.filename}"',
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, no-store",
        },
    )
