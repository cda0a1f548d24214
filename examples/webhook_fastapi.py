"""Receives the events of Recibo: RECIBO_WEBHOOK_SECRET=whsec_... uvicorn webhook_fastapi:app."""

import os

from fastapi import FastAPI, Request, Response

from recibo_client import webhooks
from recibo_client.errors import SignatureError

app = FastAPI()
totals: dict[str, str] = {}


@app.post("/recibo")
async def receive(request: Request) -> Response:
    """Take one event. The same event may come again, so store it by its receipt's id."""
    try:
        event = webhooks.verify(
            await request.body(), request.headers, os.environ["RECIBO_WEBHOOK_SECRET"]
        )
    except SignatureError:
        return Response(status_code=401)
    receipt = event.data.receipt
    if event.type == "receipt.completed" and receipt is not None:
        totals[receipt.id] = f"{receipt.total} {receipt.currency}"
    return Response(status_code=204)
