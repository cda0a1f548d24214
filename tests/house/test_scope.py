"""Every statement over an org's rows starts from `store.scope`, or says why it may not."""

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
# Work for the whole installation, or before it is known whose rows they are. None of these takes
# an Actor; a function that takes one is never listed.
FOR_THE_INSTALLATION = {
    # A start counts the receipts of all.
    "services.installation._refuse_unmarked",
    # Operators make keys, too; those of an org are counted for both.
    "services.identity.keys._refuse_if_full",
    # The clockwork looks at the ends of all keys.
    "services.identity.key_notices._owe_batch",
    # The mail that is sent names the invitation.
    "services.identity.links.mint_invitation",
    # Whose subscription it is, is found by the payment provider's id of the customer.
    "services.billing.subscriptions.of_customer",
    # Whose reading is billed is told by the order.
    "services.meter_events.enqueue",
    # The clockwork renews for all.
    "services.billing.sandbox.settle",
    # Who accepts is found by the token in the mail.
    "services.identity.invitations._offered",
    "services.identity.invitations.offer",
    # Sessions and memberships are looked up by the user whose they are, in any org.
    "services.identity.orgs.home",
    "services.identity.own_account.switch_org",
    "services.identity.ownership._revoke_keys",
    "services.identity.sessions._end_pending",
    "services.identity.sessions.end_all",
    "services.identity.sessions.end_in_org",
    "services.identity.sessions.session_family",
    # Who signs in is named by the caller, and proven by a code.
    "services.identity.accounts.record_failure",
    "services.identity.pending_sessions.end",
    "services.identity.pending_sessions.held",
    "services.identity.pending_sessions.newest_from",
    "services.identity.two_factor._meant",
    # Workers carry what is owed to everybody; `begin` hands them the org.
    "services.reading.readings._held",
    "services.reading.readings.begin",
    "services.reading.readings.fail_overdue",
    "services.reading.readings.release_all",
    "services.reading.readings.retry",
    "services.reading.readings.renew",
    "services.reading.readings.release",
    "services.reading.readings.overdue",
    "services.reading.readings.has_running",
    "services.reading.readings.defer",
    "services.reading.readings.whose",
    "services.reading.pending.of_org",
    "services.reading.pending.total",
    "services.reading.pending.waiting",
    "services.reading.turns._oldest",
    "services.reading.turns._owed",
    "services.reading.turns.next_of",
    "services.reading.replays.forget",
    "services.reading.usage.give_back",
    # Operators create orgs, and invite their owners.
    "services.identity.operator_orgs._withdraw",
    # Operators act on users, whose changes every org of theirs is told.
    "services.identity.operators._tell",
    # Events are owed by the work on receipts, and signed by the courier, for whichever org.
    "services.webhooks.deliveries._drop",
    "services.webhooks.deliveries._leased",
    "services.webhooks.deliveries._urls",
    "services.webhooks.deliveries.count_pending",
    "services.webhooks.deliveries.release",
    "services.webhooks.deliveries.record",
    "services.webhooks.deliveries.lease",
    "services.webhooks.endpoints.drop_owed",
    "services.webhooks.events._endpoint_of",
    "services.webhooks.failing._same",
    "services.webhooks.failing.note",
    "services.webhooks.signing._made",
    "services.webhooks.signing.of",
    "services.webhooks.turns._due",
    "services.webhooks.turns._due_orgs",
    "services.webhooks.turns._failing",
    # The clockwork sweeps and purges for all.
    "services.audit.purge",
    "services.org_deletion.finish",
    "services.org_deletion.purge",
    "services.reading.receipts.existing",
    "services.reading.receipts.purge",
    "services.webhooks.deliveries.purge",
}


def test_no_statement_of_an_actor_goes_round_the_scope() -> None:
    offenders = [name for name, takes_actor in _raw_statements() if takes_actor]

    assert [] == offenders


def test_statements_without_an_actor_are_listed() -> None:
    raw = {name for name, takes_actor in _raw_statements() if not takes_actor}

    assert FOR_THE_INSTALLATION == raw


def test_the_rule_sees_a_raw_statement() -> None:
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
