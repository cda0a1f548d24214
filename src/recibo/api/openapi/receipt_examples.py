"""The examples of receipts, from upload to correction."""

from collections.abc import Mapping
from typing import Any

from recibo.schemas.receipts import Reading

RECEIPT_ID = "rcp_01964f6e2b7a7c3f9d1e4a5b6c7d8e9f"
ORG_ID = "org_01964f3b00aa7bbb8ccc1dddeeeefff0"
KEY_ID = "key_01964f3b00aa7bbb8ccc1dddeeeefff3"
NOW = "2026-06-09T12:00:00.120931Z"

RECEIPT: Mapping[str, Any] = {
    "merchant_name": "PADARIA AURORA LTDA",
    "merchant_tax_id": "11222333000181",
    "issued_at": "2026-06-09T08:17:42-03:00",
    "total": "42.59",
    "subtotal": "42.59",
    "tax": "5.73",
    "currency": "BRL",
    "document_number": "12345",
    "document_key": "35260611222333000181650010000123451000864150",
    "line_items": [
        {
            "name": "Pão francês",
            "qty": "0.535",
            "unit_price": "18.90",
            "total": "10.11",
            "code": "102",
            "unit": "KG",
            "tax_rate": None,
            "discount": None,
        },
        {
            "name": "Café torrado 500 g",
            "qty": "1",
            "unit_price": "32.48",
            "total": "32.48",
            "code": "7891000100103",
            "unit": "UN",
            "tax_rate": None,
            "discount": None,
        },
    ],
    "merchant_address": "Rua das Flores, 12, Centro, São Paulo, SP",
    "customer_name": None,
    "customer_tax_id": None,
    "due_date": None,
    "discount": None,
    "tip": None,
    "service_charge": None,
    "rounding": None,
    "taxes": [
        {"name": "Federal", "rate": None, "base": None, "amount": "3.42", "informational": True},
        {"name": "Estadual", "rate": None, "base": None, "amount": "2.31", "informational": True},
    ],
    "payments": [{"method": "pix", "amount": "42.59", "tendered": None, "last4": None}],
    "id": RECEIPT_ID,
    "org_id": ORG_ID,
    "status": "completed",
    "type": "nfce",
    "confidence": 0.97,
    "category": "groceries",
    "metadata": {"project": "apollo"},
    "created_by": KEY_ID,
    "accuracy": "standard",
    "failure": None,
    "version": 1,
    "review": {"status": "ready", "reasons": [], "by": None, "at": None},
    "corrected_fields": [],
    "duplicates": [],
    "created_at": "2026-06-09T11:59:58.402118Z",
    "updated_at": NOW,
}
_UNREAD: Mapping[str, Any] = {
    **{name: None for name in RECEIPT if name not in {"id", "org_id", "metadata", "created_by"}},
    **{name: RECEIPT[name] for name in ("id", "org_id", "metadata", "created_by", "accuracy")},
    **{name: [] for name in ("line_items", "taxes", "payments")},
    "version": 1,
    "corrected_fields": [],
    "duplicates": [],
    "created_at": RECEIPT["created_at"],
    "updated_at": RECEIPT["created_at"],
}
PENDING: Mapping[str, Any] = {**_UNREAD, "status": "pending"}
FAILED: Mapping[str, Any] = {
    **_UNREAD,
    "status": "failed",
    "failure": {
        "code": "low_confidence",
        "message": "The document is unreadable; send a sharper or larger picture of it.",
    },
    "updated_at": NOW,
}
CORRECTED: Mapping[str, Any] = {
    **RECEIPT,
    "merchant_name": "Padaria Aurora",
    "version": 2,
    "review": {"status": "approved", "reasons": [], "by": KEY_ID, "at": NOW},
    "corrected_fields": ["merchant_name"],
}
_TOTAL_EVIDENCE = {
    "confidence": 0.9865,
    "page": 1,
    "box": [48, 610, 352, 640],
    "text": "TOTAL R$ 42,59",
    "source": "page",
}
_EVIDENCE: Mapping[str, Any] = {
    "type": {"confidence": 0.99, "page": 1, "box": None, "text": "NFC-e", "source": "page"},
    "merchant_name": {
        "confidence": 0.981,
        "page": 1,
        "box": [40, 32, 361, 58],
        "text": "PADARIA AURORA LTDA",
        "source": "page",
    },
    "total": _TOTAL_EVIDENCE,
    **dict.fromkeys(("merchant_tax_id", "issued_at", "subtotal", "tax", "currency")),
    **dict.fromkeys(("document_number", "document_key", "merchant_address", "customer_name")),
    **dict.fromkeys(("customer_tax_id", "due_date", "discount", "tip", "service_charge")),
    "rounding": None,
    **{name: [] for name in ("line_items", "taxes", "payments")},
}
DETAILED: Mapping[str, Any] = {
    **RECEIPT,
    "evidence": _EVIDENCE,
    "text": ["PADARIA AURORA LTDA\nPão francês 0,535 kg x 18,90 10,11\nTOTAL R$ 42,59"],
}
WITH_READING: Mapping[str, Any] = {
    **CORRECTED,
    "pages": [{"width": 400, "height": 900, "turns": 0}],
    "reading": {name: RECEIPT[name] for name in Reading.model_fields},
}
