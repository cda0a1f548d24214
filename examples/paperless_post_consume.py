#!/usr/bin/env python3
"""A post-consume script of paperless-ngx: adds what Recibo read to each document, as a note.

Set PAPERLESS_POST_CONSUME_SCRIPT to the path of this file, PAPERLESS_API_URL and
PAPERLESS_API_TOKEN to those of your installation, and RECIBO_URL and RECIBO_API_KEY.
"""

import os
import sys

import httpx

from recibo_client import Recibo
from recibo_client.errors import InvalidRequestError, LowConfidenceError

document = os.environ["DOCUMENT_ID"]
try:
    with Recibo() as recibo:
        receipt = recibo.receipts.extract(
            os.environ["DOCUMENT_SOURCE_PATH"], metadata={"paperless": document}
        )
except (InvalidRequestError, LowConfidenceError) as error:
    # The document stays as it is. Another status than 0 is a failed task there.
    print(f"Recibo cannot read document {document}: {error}")
    sys.exit()

found = (receipt.merchant_name, receipt.issued_at, receipt.total, receipt.currency)
note = " · ".join(str(value) for value in found if value is not None)
if receipt.review and receipt.review.status == "needs_review":
    note += " (needs review)"
httpx.post(
    f"{os.environ['PAPERLESS_API_URL'].rstrip('/')}/api/documents/{document}/notes/",
    json={"note": note},
    headers={"Authorization": f"Token {os.environ['PAPERLESS_API_TOKEN']}"},
).raise_for_status()
