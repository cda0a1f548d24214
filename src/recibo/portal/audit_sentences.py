"""Entries of the audit log as sentences: who did what to which thing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from recibo.portal import field_labels, formats, names, service_messages, translations, user_agents
from recibo.portal.translations import LazyText, gettext_noop, lazy_gettext
from recibo.portal.translations import gettext as _
from recibo.schemas.actor import Member
from recibo.schemas.audit import AuditEvent
from recibo.schemas.states import AuditAction as A
from recibo.services.identity import actor_names
from recibo.services.reading import receipt_titles
from recibo.services.reading.receipt_titles import ReceiptTitle
from recibo.store.db import ReadSession

#: The sentence of each action. The values are those of `_values`.
SENTENCES: Mapping[str, str] = {
    A.USER_SIGNED_UP: gettext_noop("%(actor)s created an account"),
    A.USER_SIGNED_IN: gettext_noop("%(actor)s signed in"),
    A.USER_SIGN_IN_FAILED: gettext_noop("A sign-in to the account of %(user)s failed"),
    A.USER_UPDATED: gettext_noop("%(actor)s changed their name to %(name)s"),
    A.USER_ORG_SWITCHED: gettext_noop("%(actor)s switched to this organization"),
    A.USER_EMAIL_VERIFIED: gettext_noop("%(actor)s confirmed the email address %(email)s"),
    A.USER_RECLAIMED: gettext_noop("%(user)s took over the account of their own email address"),
    A.USER_PASSWORD_CHANGED: gettext_noop("%(actor)s changed their password"),
    A.USER_PASSWORD_RESET: gettext_noop("%(actor)s reset their password by email"),
    A.USER_SESSIONS_ENDED: gettext_noop("%(actor)s signed out everywhere else"),
    A.USER_SESSION_ENDED: gettext_noop("%(actor)s signed out a device: %(device)s"),
    A.USER_2FA_REQUIRED: gettext_noop("%(actor)s began to sign in; the code was still missing"),
    A.USER_2FA_ENROLLING: gettext_noop("%(actor)s began to set up two-factor authentication"),
    A.USER_2FA_ENABLED: gettext_noop("%(actor)s turned two-factor authentication on"),
    A.USER_2FA_DISABLED: gettext_noop("Two-factor authentication of %(user)s was turned off"),
    A.USER_RECOVERY_CODE_USED: gettext_noop("%(actor)s signed in with a recovery code"),
    A.USER_DISABLED: gettext_noop("The account of %(user)s was disabled"),
    A.USER_ENABLED: gettext_noop("The account of %(user)s was enabled again"),
    A.ORG_CREATED: gettext_noop("%(actor)s created the organization %(name)s"),
    A.ORG_UPDATED: gettext_noop("%(actor)s changed the organization: %(fields)s"),
    A.ORG_DELETED: gettext_noop("%(actor)s deleted the organization"),
    A.MEMBER_INVITED: gettext_noop("%(actor)s invited %(email)s as %(role)s"),
    A.INVITATION_REVOKED: gettext_noop("%(actor)s withdrew the invitation of %(email)s"),
    A.INVITATION_ACCEPTED: gettext_noop("%(actor)s accepted an invitation as %(role)s"),
    A.MEMBER_ROLE_CHANGED: gettext_noop(
        "%(actor)s changed the role of %(user)s from %(role_before)s to %(role)s"
    ),
    A.MEMBER_REMOVED: gettext_noop("%(actor)s removed %(email)s from the organization"),
    A.APIKEY_CREATED: gettext_noop("%(actor)s created the API key %(key)s"),
    A.APIKEY_REVOKED: gettext_noop("%(actor)s revoked the API key %(key)s"),
    A.RECEIPT_CREATED: gettext_noop("%(actor)s uploaded %(receipt)s"),
    A.RECEIPT_REREAD: gettext_noop("%(actor)s had %(receipt)s read again"),
    A.RECEIPT_CORRECTED: gettext_noop("%(actor)s corrected %(receipt)s: %(fields)s"),
    A.RECEIPT_APPROVED: gettext_noop("%(actor)s approved %(receipt)s"),
    A.RECEIPT_NOT_DUPLICATE: gettext_noop(
        "%(actor)s decided that %(receipt)s is no duplicate of %(other)s"
    ),
    A.RECEIPTS_EXPORTED: gettext_noop("%(actor)s exported receipts as %(format)s"),
    A.RECEIPT_DELETED: gettext_noop("%(actor)s deleted %(receipt)s"),
    A.RECEIPT_PURGED: gettext_noop("A deleted receipt was removed permanently"),
    A.AUDIT_EXPORTED: gettext_noop("%(actor)s exported the audit log as %(format)s"),
    A.SUBSCRIPTION_CHECKOUT_STARTED: gettext_noop("%(actor)s began to buy the plan %(plan)s"),
    A.SUBSCRIPTION_UPDATED: gettext_noop("The plan changed from %(plan_before)s to %(plan)s"),
    A.WEBHOOK_ENDPOINT_CREATED: gettext_noop("%(actor)s added the webhook endpoint %(endpoint)s"),
    A.WEBHOOK_ENDPOINT_UPDATED: gettext_noop("%(actor)s changed the webhook endpoint %(endpoint)s"),
    A.WEBHOOK_ENDPOINT_DELETED: gettext_noop("%(actor)s deleted the webhook endpoint %(endpoint)s"),
    A.WEBHOOK_ENDPOINT_DISABLED: gettext_noop(
        "%(actor)s disabled the webhook endpoint %(endpoint)s"
    ),
    A.WEBHOOK_ENDPOINT_ENABLED: gettext_noop("%(actor)s enabled the webhook endpoint %(endpoint)s"),
    A.WEBHOOK_ENDPOINT_SECRET_ROTATED: gettext_noop("%(actor)s rotated a webhook signing secret"),
    A.WEBHOOK_EVENT_RESENT: gettext_noop("%(actor)s sent %(event)s again"),
    A.WEBHOOK_EVENT_TESTED: gettext_noop("%(actor)s sent %(event)s to test a webhook endpoint"),
    A.FILES_ADOPTED: gettext_noop("The files of another installation were adopted"),
    A.FILES_RESTORED: gettext_noop("Files were restored from a backup"),
    A.INSTALLATION_RESTORED: gettext_noop("The installation was restored from a backup"),
}
# Other sentences for what the same actions also say.
_REPLACED = gettext_noop("%(actor)s replaced a document that could not be read with %(other)s")
_VIEWERS_WRITE = gettext_noop(
    "%(actor)s allowed viewers to upload, correct, approve and delete receipts"
)
_VIEWERS_READ = gettext_noop("%(actor)s no longer allows viewers to change receipts")
_WITHDRAWN = gettext_noop("%(actor)s withdrew the approval of %(receipt)s")
_CORRECTED_AND_WITHDRAWN = gettext_noop(
    "%(actor)s corrected %(receipt)s: %(fields)s; its approval was withdrawn"
)
_OTHER = gettext_noop("%(actor)s: %(action)s")

_WEBHOOKS = "/portal/webhooks"
# Fields of organizations and receipts; others are shown by their names in the API.
_FIELDS: Mapping[str, LazyText] = {
    "name": lazy_gettext("Name"),
    "logo_url": lazy_gettext("Logo"),
    "billing_email": lazy_gettext("Billing email"),
    "receipt_address": lazy_gettext("Address for receipts"),
    "allowed_senders": lazy_gettext("Allowed senders"),
    **field_labels.FIELDS,
    "metadata": lazy_gettext("Tags"),
}


@dataclass(frozen=True, slots=True)
class Known:
    """What entries name by their ids."""

    names: Mapping[str, str]
    receipts: Mapping[str, ReceiptTitle]

    def actor(self, entry: AuditEvent) -> str:
        """Return the name of an entry's actor."""
        actor = entry.actor_user_id or entry.actor_api_key_id
        return self.named(actor) or actor if actor else _("The service")

    def named(self, thing_id: str | None) -> str:
        """Return the name of a user or a key; empty if it is unknown."""
        return service_messages.sentence(self.names.get(thing_id or "", ""))


async def known(
    session: ReadSession, member: Member, entries: Sequence[AuditEvent], *also: str
) -> Known:
    """Look up what entries name."""
    ids = {one for entry in entries for one in _ids(entry)} | set(also)
    receipts = {one for one in ids if one.startswith("rcp_")}
    return Known(
        await actor_names.of(session, member, ids - receipts),
        await receipt_titles.of(session, member, receipts),
    )


def sentence(entry: AuditEvent, found: Known) -> Markup:
    """Return what an entry says, with links to what it is about."""
    message = SENTENCES.get(entry.action, _OTHER)
    if entry.action == A.RECEIPT_CORRECTED and "approved" in (entry.after or {}):
        is_only_that = entry.after == {"approved": False}
        message = _WITHDRAWN if is_only_that else _CORRECTED_AND_WITHDRAWN
    if entry.action == A.ORG_UPDATED and "viewers_write" in (entry.after or {}):
        message = _VIEWERS_WRITE if (entry.after or {})["viewers_write"] else _VIEWERS_READ
    if entry.action == A.RECEIPT_DELETED and "replaced_by" in (entry.after or {}):
        message = _REPLACED
    return escape(translations.translate(message)) % _values(entry, found)


def text(entry: AuditEvent, found: Known) -> str:
    """Return what an entry says, for files."""
    return sentence(entry, found).striptags()


def _ids(entry: AuditEvent) -> list[str]:
    found = (
        entry.actor_user_id,
        entry.actor_api_key_id,
        entry.resource_id,
        _other_receipt_id(entry),
    )
    return [one for one in found if one]


def _other_receipt_id(entry: AuditEvent) -> str | None:
    """Return the id of the receipt that another one is no duplicate of, or is replaced by."""
    after = entry.after or {}
    others = after.get("not_duplicates") or [after.get("replaced_by")]
    return str(others[-1]) if others[-1] else None


def _values(entry: AuditEvent, found: Known) -> dict[str, str]:
    before, after = entry.before or {}, entry.after or {}
    return {
        "action": entry.action,
        "actor": Markup("<b>{}</b>").format(found.actor(entry)),
        "user": _strong(found.named(entry.resource_id) or _("an unknown user")),
        "receipt": _receipt(entry.resource_id, found),
        "other": _receipt(_other_receipt_id(entry), found),
        "key": _link("/portal/keys", after.get("name") or _key_name(entry, found)),
        "endpoint": _endpoint(entry, after.get("url") or before.get("url")),
        "event": _event(entry),
        "email": _strong(after.get("email") or before.get("email") or _("an unknown address")),
        "name": _strong(after.get("name") or after.get("full_name") or _("no name")),
        "role": names.role(str(after.get("role") or before.get("role") or "")),
        "role_before": names.role(str(before.get("role", ""))),
        "plan": names.plan(str(after.get("plan", ""))),
        "plan_before": names.plan(str(before.get("plan", ""))),
        "format": str(after.get("format", "")).upper(),
        "device": user_agents.device(before.get("user_agent")).name,
        "fields": ", ".join(_fields(before, after)),
    }


def _fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the names of the fields that a change left different."""
    # An approval is no field; sentences say that it was withdrawn.
    changed = {name for name in after if before.get(name) != after[name]} - {"approved"}
    # PostgreSQL keeps no order of names.
    known_first = [*(name for name in _FIELDS if name in changed), *sorted(changed - {*_FIELDS})]
    return [str(_FIELDS.get(name, name.replace("_", " "))) for name in known_first]


def _strong(text: object) -> Markup:
    return Markup("<b>{}</b>").format(text)


def _link(path: str, text: object) -> Markup:
    return Markup('<a class="link" href="{}">{}</a>').format(path, text)


def _receipt(receipt_id: str | None, found: Known) -> Markup | str:
    title = found.receipts.get(receipt_id or "")
    if title is None:
        return _("a receipt that was deleted")
    if title.merchant is None:
        words = _("a receipt")
    elif title.total is None:
        words = _("the receipt of %(merchant)s", merchant=title.merchant)
    else:
        currency = title.currency or ""
        total = f"{formats.money(title.total, currency)} {currency}".strip()
        words = _("the receipt of %(merchant)s, %(total)s", merchant=title.merchant, total=total)
    return words if title.is_deleted else _link(f"/portal/receipts/{receipt_id}", words)


def _key_name(entry: AuditEvent, found: Known) -> str:
    return found.named(entry.resource_id) or _("an unknown key")


def _endpoint(entry: AuditEvent, url: object) -> Markup:
    is_gone = entry.action == A.WEBHOOK_ENDPOINT_DELETED
    shown = url or entry.resource_id or ""
    return _strong(shown) if is_gone else _link(_WEBHOOKS, shown)


def _event(entry: AuditEvent) -> Markup:
    return _link(f"{_WEBHOOKS}/events/{entry.resource_id}", _("a webhook event"))
