"""Every statement over an org's rows starts from `store.scope`, with listed exceptions."""

import ast
from collections.abc import Iterator

from recibo.store import tables
from tests.house import source

STATEMENTS = {"select", "update", "delete", "get", "select_from"}
ACTORS = {"Actor", "KeyActor", "Member"}
ORG_TABLES = {
    mapper.class_.__name__
    for mapper in tables.Table.registry.mappers
    if "org_id" in mapper.class_.__table__.c
}
# Functions that work for the whole installation, or before the org is known. None of them takes an
# Actor: a function that takes one must use `store.scope`.
FOR_THE_INSTALLATION = {
    # The start counts all receipts.
    "services.installation._refuse_unmarked",
    # Operators create keys, too, and the limit counts all keys of the org.
    "services.identity.keys._refuse_if_full",
    # A periodic job checks the expiry of all keys.
    "services.identity.key_notices._enqueue_batch",
    # The mail names the invitation.
    "services.identity.email_tokens.mint_invitation",
    # The org is found by the payment provider's customer id.
    "services.billing.subscriptions.of_customer",
    # The order names the org.
    "services.meter_events.enqueue",
    # A periodic job renews all subscriptions.
    "services.billing.sandbox.settle",
    # The invitation is found by the token in the mail.
    "services.identity.invitations._offered",
    "services.identity.invitations.offer",
    # Sessions and memberships are found by their user, in all orgs.
    "services.identity.orgs.home",
    "services.identity.account.switch_org",
    "services.identity.devices.of_user",
    "services.identity.devices.end",
    "services.identity.devices.sign_out",
    "services.identity.email_verification._revoke_keys",
    "services.identity.sessions._end_pending",
    "services.identity.sessions.end_all",
    "services.identity.sessions.end_in_org",
    "services.identity.sessions.session_family",
    # The caller names the user and proves it with a code.
    "services.identity.password_auth.record_failure",
    "services.identity.pending_sessions.end",
    "services.identity.pending_sessions.held",
    "services.identity.pending_sessions.newest_from",
    "services.identity.two_factor._meant",
    # Workers process the receipts of all orgs.
    "services.reading.readings._locking",
    "services.reading.readings._starting",
    "services.reading.readings.fail_overdue",
    "services.reading.readings.release_all",
    "services.reading.readings.retry",
    "services.reading.readings.renew",
    "services.reading.readings.release",
    "services.reading.readings.overdue",
    "services.reading.readings.has_running",
    "services.reading.readings.defer",
    "services.reading.readings._pending",
    "services.reading.pending_counts._some",
    "services.reading.pending_counts.total",
    "services.reading.fair_queue._oldest",
    "services.reading.fair_queue._select_jobs",
    "services.reading.fair_queue._of_org",
    "services.reading.idempotency.forget",
    # Of the org of a receipt, for any actor.
    "services.reading.duplicates._others",
    "services.reading.duplicates._rows",
    "services.reading.stored_readings._next_unjudged",
    "services.reading.stored_readings.judge_older",
    "services.reading.usage._emit_thresholds",
    "services.reading.usage.give_back",
    # Operators create orgs and invite their owners.
    "services.identity.operator_orgs._withdraw",
    # Operators change users, and every org of the user gets an audit entry.
    "services.identity.operators._audit",
    # Events are emitted by workers and delivered by the dispatcher, for all orgs.
    "services.webhooks.deliveries._drop",
    "services.webhooks.deliveries._lease_rows",
    "services.webhooks.deliveries._urls",
    "services.webhooks.deliveries.count_pending",
    "services.webhooks.deliveries.release_all",
    "services.webhooks.deliveries.record",
    "services.webhooks.deliveries.lease",
    "services.webhooks.endpoints.drop_pending",
    "services.webhooks.events._enabled",
    "services.webhooks.endpoint_health._update_unchanged",
    "services.webhooks.endpoint_health.record",
    "services.webhooks.signing._made",
    "services.webhooks.signing.of",
    "services.webhooks.fair_queue._due_of",
    "services.webhooks.fair_queue._failing",
    # A mail names an org by a token, and its sender is the actor; a periodic job answers all mails.
    "services.receipt_mail.addresses.of_token",
    "services.receipt_mail.intake._org_and_member",
    "services.receipt_mail.received_mails._answer",
    "services.receipt_mail.received_mails._pending",
    "services.receipt_mail.received_mails._replies_of",
    "services.receipt_mail.received_mails.outcome_of",
    "services.receipt_mail.received_mails.settle",
    "services.receipt_mail.replies.of",
    # Periodic jobs sweep and purge for all orgs.
    "services.audit.purge",
    "services.org_deletion.finish",
    "services.org_deletion.purge",
    "services.reading.receipts.existing",
    "services.reading.receipts.purge",
    "services.webhooks.deliveries.purge",
}


def test_no_statement_of_an_actor_bypasses_the_scope() -> None:
    offenders = [name for name, takes_actor in _raw_statements() if takes_actor]

    assert [] == offenders


def test_statements_without_an_actor_are_listed() -> None:
    raw = {name for name, takes_actor in _raw_statements() if not takes_actor}

    assert FOR_THE_INSTALLATION == raw


def test_raw_statement_of_an_actor_is_found() -> None:
    code = "async def page(session, actor: Actor): select(tables.Receipt.id).where(True)"
    function = ast.parse(code).body[0]

    assert isinstance(function, ast.AsyncFunctionDef)
    assert _has_raw_statement(function)
    assert _takes_actor(function)


def _raw_statements() -> Iterator[tuple[str, bool]]:
    for definition in source.functions(source.PACKAGE / "services"):
        if _has_raw_statement(definition.node):
            yield definition.name, _takes_actor(definition.node)


def _has_raw_statement(function: source.Function) -> bool:
    return any(
        _called(node) in STATEMENTS and any(_names(argument) & ORG_TABLES for argument in node.args)
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
    )


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _names(node: ast.expr) -> set[str]:
    """Return all names and attributes in an expression."""
    return {
        inner.attr if isinstance(inner, ast.Attribute) else inner.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.Attribute | ast.Name)
    }


def _takes_actor(function: source.Function) -> bool:
    arguments = function.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return any(one.annotation and ACTORS & _names(one.annotation) for one in every)
