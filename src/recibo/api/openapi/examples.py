"""Examples of requests, successful responses and webhook events, by operation id.

The people, the organization and the receipts are the same in all of them.
"""

from collections.abc import Mapping
from typing import Any

from recibo.api.openapi.receipt_examples import (
    CORRECTED,
    DETAILED,
    FAILED,
    KEY_ID,
    NOW,
    ORG_ID,
    PENDING,
    RECEIPT,
    RECEIPT_ID,
    WITH_READING,
)
from recibo.schemas.states import EventType

EVENT_ID = "evt_01964f6e3c4d7e8f9a0b1c2d3e4f5a6b"
_USER_ID = "usr_01964f3b00aa7bbb8ccc1dddeeeefff1"
_MEMBER_ID = "usr_01964f3b00aa7bbb8ccc1dddeeeefff2"
_INVITATION_ID = "inv_01964f3b00aa7bbb8ccc1dddeeeefff4"
_FIRST_DAY = "2026-06-01T09:30:00Z"
_EMAIL_LINK = "3q2-7wXyZkq0b1c2d3e4f5g6h7i8j9k0l1m2n3o4p5q"
_CURSOR = "eyJhZnRlciI6InJjcF8wMTk2NGY2ZSJ9.c2lnbmF0dXJl"

_TOKENS: Mapping[str, Any] = {
    "access_token": "eyJhbGciOiJIUzI1NiJ9.eyJ0eXAiOiJhY2Nlc3MifQ.c2lnbmF0dXJl",
    "refresh_token": "eyJhbGciOiJIUzI1NiJ9.eyJ0eXAiOiJyZWZyZXNoIn0.c2lnbmF0dXJl",
    "token_type": "Bearer",
    "expires_in": 900,
    "user_id": _USER_ID,
    "org_id": ORG_ID,
}
_OK = {"ok": True}
_OK_WITH_SESSION = {**_TOKENS, "ok": True}
_ME: Mapping[str, Any] = {
    "user": {
        "id": _USER_ID,
        "email": "ana@example.com",
        "name": "Ana Souza",
        "created_at": _FIRST_DAY,
        "email_verified": True,
        "two_factor_enabled": False,
    },
    "org": {
        "id": ORG_ID,
        "name": "Aurora",
        "slug": "aurora",
        "plan": "startup",
        "billing_email": "billing@example.com",
    },
    "role": "owner",
}
_ORG: Mapping[str, Any] = {
    "id": ORG_ID,
    "name": "Aurora",
    "slug": "aurora",
    "logo_url": "https://example.com/aurora.png",
    "billing_email": "billing@example.com",
    "plan": "startup",
    "created_at": _FIRST_DAY,
}
_KEY: Mapping[str, Any] = {
    "id": KEY_ID,
    "org_id": ORG_ID,
    "name": "Expenses",
    "kind": "secret",
    "prefix": "sk_live_",
    "last4": "x3Qa",
    "scopes": ["read", "write"],
    "is_live": True,
    "expires_at": "2027-01-31T00:00:00Z",
    "revoked_at": None,
    "created_at": _FIRST_DAY,
    "created_by": _USER_ID,
    "last_used_at": NOW,
}
_INVITATION: Mapping[str, Any] = {
    "id": _INVITATION_ID,
    "email": "bruno@example.com",
    "role": "developer",
    "expires_at": "2026-06-16T12:00:00Z",
    "accepted_at": None,
    "created_at": "2026-06-09T12:00:00Z",
}
_MEMBERS: list[Mapping[str, Any]] = [
    {
        "user_id": _USER_ID,
        "email": "ana@example.com",
        "full_name": "Ana Souza",
        "role": "owner",
        "created_at": _FIRST_DAY,
    },
    {
        "user_id": _MEMBER_ID,
        "email": "bruno@example.com",
        "full_name": None,
        "role": "developer",
        "created_at": "2026-06-02T14:05:00Z",
    },
]
_AUDIT_EVENT: Mapping[str, Any] = {
    "id": "aud_01964f3b00aa7bbb8ccc1dddeeeefff5",
    "action": "apikey.created",
    "resource_type": "api_key",
    "resource_id": KEY_ID,
    "actor_user_id": _USER_ID,
    "actor_api_key_id": None,
    "ip_address": "203.0.113.7",
    "user_agent": "Mozilla/5.0",
    "before": None,
    "after": {"name": "Expenses", "scopes": ["read", "write"]},
    "request_id": "req_01964f3b00aa7bbb8ccc1dddeeeefff6",
    "created_at": _FIRST_DAY,
}
_SUBSCRIPTION: Mapping[str, Any] = {
    "plan": "startup",
    "status": "active",
    "quota_receipts_month": 25_000,
    "usage_this_month": 1_204,
    "credits_used_this_month": 1_388,
    "rate_limit_per_minute": 1_000,
    "cancel_at_period_end": False,
    "current_period_end": "2026-07-01T09:30:00Z",
}
_RECOVERY_CODES = [
    "K7QM-2F9X-WBTD", "3HNC-8VPA-R5LE", "Y2GK-6TZD-M4QJ", "B9XW-7CFR-H3NP", "T5LA-4KEV-8YGD",
    "Q6JM-9RHB-2ZXC", "W8PN-3DTF-K7AV", "E4CY-5GLQ-6MJR", "Z2HB-8XKW-9TPN", "D3VF-7AQE-4CGY",
]  # fmt: skip


def _event(event_type: EventType, data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": EVENT_ID,
        "type": event_type.value,
        "org_id": ORG_ID,
        "created_at": NOW,
        "data": data,
    }


_COMPLETED = _event(EventType.RECEIPT_COMPLETED, {"receipt": RECEIPT})


def _named(**values: Any) -> dict[str, Any]:
    """Return examples in the document's form; each name says what its value shows."""
    return {
        name: {"summary": name.replace("_", " ").capitalize(), "value": value}
        for name, value in values.items()
    }


#: JSON request bodies.
REQUESTS: Mapping[str, Mapping[str, Any]] = {
    "update_receipt": _named(
        correct_and_approve={"merchant_name": "Padaria Aurora", "approved": True, "version": 1},
        approve={"approved": True},
        replace_the_items={
            "line_items": [{"name": "Pão francês", "qty": "0.535", "total": "10.11"}],
            "category": "groceries",
        },
    ),
    "update_org": _named(
        new_name={"name": "Aurora Foods", "billing_email": "finance@example.com"},
        no_logo={"logo_url": None},
    ),
    "update_me": _named(new_name={"name": "Ana Souza"}, no_name={"name": None}),
    "change_password": _named(
        password={
            "new_password": "correct horse battery staple",
            "current_password": "blue kitchen seven",
        }
    ),
    "switch_org": _named(org={"org_id": ORG_ID}),
    "create_checkout_session": _named(
        checkout={
            "plan": "startup",
            "success_url": "https://recibo.example.com/portal/billing?notice=paid",
            "cancel_url": "https://recibo.example.com/portal/billing",
        }
    ),
    "create_portal_session": _named(
        customer_portal={"return_url": "https://recibo.example.com/portal/billing"}
    ),
    "accept_invitation": _named(invitation={"token": _EMAIL_LINK}),
    "create_key": _named(
        secret_key={"name": "Expenses", "scopes": ["read", "write"]},
        publishable_key={"name": "Upload widget", "kind": "publishable"},
        expiring_key={
            "name": "Trial",
            "scopes": ["read"],
            "expires_at": "2027-01-31T00:00:00Z",
        },
    ),
    "send_magic_link": _named(address={"email": "ana@example.com"}),
    "sign_in_with_link": _named(link={"token": _EMAIL_LINK}),
    "send_password_reset": _named(address={"email": "ana@example.com"}),
    "reset_password": _named(
        reset={"token": _EMAIL_LINK, "new_password": "correct horse battery staple"}
    ),
    "invite_member": _named(developer={"email": "bruno@example.com", "role": "developer"}),
    "update_member_role": _named(admin={"role": "admin"}),
    "sign_up": _named(
        new_account={
            "email": "ana@example.com",
            "password": "correct horse battery staple",
            "full_name": "Ana Souza",
            "org_name": "Aurora",
        }
    ),
    "log_in": _named(
        password={"email": "ana@example.com", "password": "correct horse battery staple"}
    ),
    "refresh_session": _named(
        token_in_body={"refresh_token": _TOKENS["refresh_token"]}, token_in_cookie={}
    ),
    "enable_two_factor": _named(code={"code": "287082"}),
    "verify_two_factor": _named(code={"user_id": _USER_ID, "code": "287082"}),
    "use_recovery_code": _named(recovery_code={"user_id": _USER_ID, "code": _RECOVERY_CODES[0]}),
    "disable_two_factor": _named(code={"code": "287082"}),
}

#: JSON bodies of successful answers.
RESPONSES: Mapping[str, Mapping[str, Any]] = {
    "extract_receipt": _named(completed=RECEIPT, pending=PENDING),
    "list_receipts": _named(
        first_page={"data": [RECEIPT], "has_more": True, "next_cursor": _CURSOR},
        empty={"data": [], "has_more": False, "next_cursor": None},
    ),
    "get_receipt": _named(
        completed=RECEIPT,
        with_evidence_and_text=DETAILED,
        with_reading_and_pages=WITH_READING,
        pending=PENDING,
        failed=FAILED,
    ),
    "update_receipt": _named(corrected=CORRECTED),
    "get_org": _named(org=_ORG),
    "update_org": _named(org=_ORG),
    "get_me": _named(
        member=_ME, without_an_organization={"user": _ME["user"], "org": None, "role": None}
    ),
    "update_me": _named(member=_ME),
    "change_password": _named(new_session=_OK_WITH_SESSION),
    "end_other_sessions": _named(new_session=_OK_WITH_SESSION),
    "switch_org": _named(session=_TOKENS),
    "get_usage": _named(
        two_days={
            "series": [
                {"day": "2026-06-08T00:00:00Z", "count": 118},
                {"day": "2026-06-09T00:00:00Z", "count": 42},
            ]
        }
    ),
    "list_categories": _named(
        categories={
            "items": [
                {"category": "groceries", "count": 310},
                {"category": "restaurants", "count": 127},
            ]
        }
    ),
    "list_top_vendors": _named(
        vendors={
            "items": [
                {"merchant": "PADARIA AURORA LTDA", "receipts": 58, "total_spent": 1834.2},
            ]
        }
    ),
    "list_audit_events": _named(last_page={"items": [_AUDIT_EVENT], "next_cursor": None}),
    "get_subscription": _named(startup=_SUBSCRIPTION),
    "create_checkout_session": _named(
        checkout={"url": "https://checkout.stripe.com/c/pay/cs_test_a1b2c3"}
    ),
    "create_portal_session": _named(
        customer_portal={"url": "https://billing.stripe.com/p/session/test_a1b2c3"}
    ),
    "receive_provider_event": _named(received=_OK),
    "list_invitations": _named(pending={"data": [_INVITATION]}),
    "accept_invitation": _named(session=_TOKENS),
    "create_key": _named(
        key={**_KEY, "last_used_at": None, "secret": "sk_live_9mKcT2vQeYw7LrB4nZx3Qa"}
    ),
    "list_keys": _named(keys={"data": [_KEY]}),
    "get_own_key": _named(
        key={
            **_KEY,
            "plan": "startup",
            "quota_receipts_month": 25_000,
            "usage_this_month": 1_204,
            "credits_used_this_month": 1_388,
        }
    ),
    "send_magic_link": _named(accepted=_OK),
    "sign_in_with_link": _named(session=_TOKENS),
    "resend_verification_email": _named(accepted=_OK),
    "verify_email": _named(verified={"ok": True, "email": "ana@example.com", "verified": True}),
    "send_password_reset": _named(accepted=_OK),
    "reset_password": _named(new_session=_OK_WITH_SESSION, signed_out=_OK),
    "list_members": _named(members=_MEMBERS),
    "invite_member": _named(invitation=_INVITATION),
    "update_member_role": _named(member={**_MEMBERS[1], "role": "admin"}),
    "sign_up": _named(session=_TOKENS),
    "log_in": _named(
        session=_TOKENS, second_factor_pending={**_TOKENS, "two_factor_required": True}
    ),
    "refresh_session": _named(session=_TOKENS),
    "log_out": _named(signed_out=_OK),
    "enroll_two_factor": _named(
        secret={
            "secret": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
            "provisioning_uri": "otpauth://totp/Recibo:ana%40example.com"
            "?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Recibo",
            "qr_png_base64": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAA"
            "AgABSK+kcQAAAABJRU5ErkJggg==",
        }
    ),
    "enable_two_factor": _named(enabled={"enabled": True, "recovery_codes": _RECOVERY_CODES}),
    "verify_two_factor": _named(session=_OK_WITH_SESSION, code_is_right=_OK),
    "use_recovery_code": _named(session=_OK_WITH_SESSION, code_is_right=_OK),
    "count_recovery_codes": _named(codes={"total": 10, "unused": 9}),
    "disable_two_factor": _named(new_session=_OK_WITH_SESSION),
    "list_webhook_events": _named(
        last_page={"data": [_COMPLETED], "has_more": False, "next_cursor": None}
    ),
    "check_health": _named(alive={"status": "ok"}),
    "check_readiness": _named(
        ready={"status": "ok", "checks": {"database": "ok", "storage": "ok", "queue": "ok"}},
        degraded={
            "status": "ok",
            "checks": {"database": "ok", "storage": "ok", "queue": "degraded"},
        },
    ),
}

#: JSON bodies of failures that have a form of their own, by operation id and status.
OTHER_RESPONSES: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("check_readiness", "503"): _named(
        database_down={
            "error": {
                "code": "server_error",
                "message": "Not ready: database.",
                "request_id": "req_01964f6e2b7a7c3f9d1e4a5b6c7d8e01",
                "retry_after": 5,
            },
            "status": "unavailable",
            "checks": {"database": "failing", "storage": "ok", "queue": "ok"},
        }
    )
}

PATH_PARAMETERS: Mapping[str, str] = {
    "receipt_id": RECEIPT_ID,
    "page": "1",
    "key_id": KEY_ID,
    "user_id": _MEMBER_ID,
    "invitation_id": _INVITATION_ID,
    "token": _EMAIL_LINK,
}

#: Webhook events.
EVENTS: Mapping[EventType, Mapping[str, Any]] = {
    EventType.RECEIPT_COMPLETED: _named(completed=_COMPLETED),
    EventType.RECEIPT_FAILED: _named(
        unreadable=_event(EventType.RECEIPT_FAILED, {"receipt": FAILED})
    ),
    EventType.RECEIPT_CORRECTED: _named(
        corrected=_event(
            EventType.RECEIPT_CORRECTED,
            {
                "receipt": CORRECTED,
                "changes": {
                    "merchant_name": {
                        "before": "PADARIA AURORA LTDA",
                        "after": "Padaria Aurora",
                    }
                },
            },
        )
    ),
    EventType.RECEIPT_APPROVED: _named(
        approved=_event(EventType.RECEIPT_APPROVED, {"receipt": CORRECTED})
    ),
    EventType.RECEIPT_DELETED: _named(
        deleted=_event(EventType.RECEIPT_DELETED, {"receipt": RECEIPT})
    ),
    EventType.USAGE_THRESHOLD_REACHED: _named(
        eighty_percent=_event(
            EventType.USAGE_THRESHOLD_REACHED, {"threshold": 80, "used": 20_000, "quota": 25_000}
        )
    ),
    EventType.WEBHOOK_TEST: _named(test=_event(EventType.WEBHOOK_TEST, {})),
}
