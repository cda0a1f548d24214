"""Sample requests to the API, as a shell command and as a Python program."""


def curl_get(base: str, receipt_id: str) -> str:
    """Return the command that gets a receipt."""
    return f'curl {base}/v1/receipts/{receipt_id} -H "X-API-Key: $RECIBO_API_KEY"'


def python_get(base: str, receipt_id: str) -> str:
    """Return the program that gets a receipt."""
    return f"""\
import os

import httpx

recibo = httpx.Client(
    base_url="{base}",
    headers={{"X-API-Key": os.environ["RECIBO_API_KEY"]}},
)
receipt = recibo.get("/v1/receipts/{receipt_id}").raise_for_status().json()
print(receipt["merchant_name"], receipt["total"], receipt["currency"])
"""


def curl_extract(base: str, secret: str) -> str:
    """Return the command that uploads a document with a key."""
    return f"curl {base}/v1/extract \\\n  -H 'X-API-Key: {secret}' \\\n  -F file=@receipt.jpg"


def python_extract(base: str, secret: str) -> str:
    """Return the program that uploads a document with a key."""
    return f"""\
import httpx

recibo = httpx.Client(
    base_url="{base}",
    headers={{"X-API-Key": "{secret}"}},
    timeout=60,
)
with open("receipt.jpg", "rb") as file:
    receipt = recibo.post("/v1/extract", files={{"file": file}}).raise_for_status().json()
print(receipt["status"], receipt["total"], receipt["currency"])
"""
