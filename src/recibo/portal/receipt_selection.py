"""What can be done with selected receipts: approve, set the category, delete."""

import dataclasses
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from fastapi import Depends, Response
from pydantic import BaseModel, BeforeValidator

from recibo.errors import Conflict, NotFound
from recibo.extract.model import Category
from recibo.lib import ids
from recibo.portal import forms, pages, receipt_lists, request_context, routers
from recibo.portal.request_context import RequestContext
from recibo.portal.translations import lazy_gettext, ngettext
from recibo.schemas.corrections import Correction
from recibo.schemas.permissions import Permission
from recibo.schemas.receipts import Receipt
from recibo.schemas.states import ReviewStatus
from recibo.services.pagination import PageRequest
from recibo.services.reading import corrections, receipts
from recibo.services.reading.receipt_lists import Filters
from recibo.services.reading.receipt_lists import page as page_of
from recibo.store.db import Session

PAGE = f"{receipt_lists.PAGE}/selection"
router = routers.make(PAGE)

#: As many as a page of the list may have.
MAX_SELECTED = 100
_VERSION = re.compile(r"\d{1,9}", re.ASCII)

Writer = Annotated[RequestContext, Depends(request_context.context_with(Permission.RECEIPTS_WRITE))]


@dataclass(frozen=True, slots=True)
class Selected:
    """A receipt, and the version that its checkbox was shown with."""

    id: str
    version: int | None = None

    @property
    def value(self) -> str:
        """The value of the checkbox."""
        return self.id if self.version is None else f"{self.id}:{self.version}"


def selected(values: Sequence[str]) -> list[Selected]:
    """Return the receipts of checkboxes, each once; others than `id:version` are left out."""
    found: dict[str, Selected] = {}
    for value in values[:MAX_SELECTED]:
        receipt_id, _, version = value.partition(":")
        if ids.is_well_formed(receipt_id):
            is_version = _VERSION.fullmatch(version)
            found[receipt_id] = Selected(receipt_id, int(version) if is_version else None)
    return list(found.values())


class SelectionForm(BaseModel):
    """The checked rows of a list, and the query of the list."""

    id: Annotated[list[Selected], BeforeValidator(selected)]
    back: str = ""


class Duplicates(StrEnum):
    """What to do with selected receipts that may be duplicates."""

    APPROVE = "approve"
    LEAVE = "leave"


class ApprovalForm(SelectionForm):
    """The checked rows, and the answer to the question about duplicates."""

    duplicates: Duplicates | None = None


class CategoryForm(SelectionForm):
    """The category for the checked rows."""

    category: Annotated[Category | None, BeforeValidator(lambda given: given or None)]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many receipts were changed, and how many were not."""

    done: int = 0
    #: They had changed, or are not read.
    changed: int = 0
    #: They do not exist any more.
    gone: int = 0


_DONE: Mapping[str, Callable[[int], str]] = {
    "approve": lambda num: ngettext("%(num)s receipt approved.", "%(num)s receipts approved.", num),
    "category": lambda num: ngettext(
        "The category of %(num)s receipt is set.",
        "The category of %(num)s receipts is set.",
        num,
    ),
    "delete": lambda num: ngettext("%(num)s receipt deleted.", "%(num)s receipts deleted.", num),
}
_UNDONE: Mapping[str, Callable[[int], str]] = {
    "changed": lambda num: ngettext(
        "%(num)s receipt had changed since, or could not be read: nothing was changed there.",
        "%(num)s receipts had changed since, or could not be read: nothing was changed there.",
        num,
    ),
    "gone": lambda num: ngettext(
        "%(num)s receipt had been deleted before.", "%(num)s receipts had been deleted before.", num
    ),
}
_NOTHING = lazy_gettext("Select receipts first.")

Action = Callable[[Session, Selected], Awaitable[object]]
_Form = Annotated[SelectionForm, Depends(forms.plural(SelectionForm, "id"))]
_ApprovalForm = Annotated[ApprovalForm, Depends(forms.plural(ApprovalForm, "id"))]
_CategoryForm = Annotated[CategoryForm, Depends(forms.plural(CategoryForm, "id"))]


@router.post("/approve")
async def approve(caller: Writer, form: _ApprovalForm) -> Response:
    """Approve the selected receipts that have not changed since; ask before duplicates are."""
    if form.duplicates is not Duplicates.APPROVE:
        doubted = [one for one in await _found(caller, form.id) if _is_duplicate(one)]
        if doubted and form.duplicates is None:
            return pages.show(
                caller.request,
                "receipts_approve.html",
                receipts=doubted,
                chosen=form.id,
                back=form.back,
                list_path=receipt_lists.back_to(form.back),
            )
        left = {one.id for one in doubted}
        form.id = [one for one in form.id if one.id not in left]

    async def approve_one(session: Session, one: Selected) -> None:
        await _apply(session, caller, one, approved=True)

    return _answered(form.back, "approve", await _each(caller, form.id, approve_one))


def _is_duplicate(receipt: Receipt) -> bool:
    """Return whether a receipt that is not approved looks like another one."""
    return bool(receipt.duplicates) and not _is_approved(receipt)


def _is_approved(receipt: Receipt) -> bool:
    return receipt.review is not None and receipt.review.status is ReviewStatus.APPROVED


async def _found(caller: RequestContext, chosen: Sequence[Selected]) -> Sequence[Receipt]:
    """Return the selected receipts that still exist."""
    if not chosen:
        return ()
    filters = Filters(ids=tuple(one.id for one in chosen))
    wanted = PageRequest(MAX_SELECTED, None, caller.services.cursor_key)
    async with caller.services.database.read() as session:
        return (await page_of(session, caller.member, filters, wanted=wanted)).data


@router.post("/category")
async def set_category(caller: Writer, form: _CategoryForm) -> Response:
    """Set the category of the selected receipts that have not changed since; approved ones stay."""
    approved = {one.id for one in await _found(caller, form.id) if _is_approved(one)}

    async def set_one(session: Session, one: Selected) -> None:
        kept = {"approved": True} if one.id in approved else {}
        await _apply(session, caller, one, category=form.category, **kept)

    return _answered(form.back, "category", await _each(caller, form.id, set_one))


@router.get("/delete")
async def confirm_deletion(caller: Writer) -> Response:
    """Show the confirmation page for deleting the selected receipts."""
    query = caller.request.query_params
    back = query.get("back", "")
    chosen = selected(query.getlist("id"))
    if not chosen:
        return _answered(back, "delete", Outcome())
    return pages.show(
        caller.request,
        "receipts_delete.html",
        receipts=await _found(caller, chosen),
        back=back,
        list_path=receipt_lists.back_to(back),
    )


@router.post("/delete")
async def delete(caller: Writer, form: _Form) -> Response:
    """Delete the selected receipts."""

    async def delete_one(session: Session, one: Selected) -> None:
        await receipts.soft_delete(session, caller.member, one.id)

    return _answered(form.back, "delete", await _each(caller, form.id, delete_one))


def notice(query: Mapping[str, str]) -> str:
    """Return what the last action did, by the query that it redirected to; empty without one."""
    did, counts = query.get("did", ""), {name: _figure(query.get(name)) for name in _FIGURES}
    if did not in _DONE:
        return ""
    if not any(counts.values()):
        return str(_NOTHING)
    parts = [_DONE[did](counts["done"])] if counts["done"] else []
    for name, sentence in _UNDONE.items():
        if counts[name]:
            parts.append(sentence(counts[name]))
    return " ".join(parts)


def has_approved(query: Mapping[str, str]) -> bool:
    """Return whether the last action approved receipts, by the query that it redirected to."""
    return query.get("did") == "approve" and _figure(query.get("done")) > 0


async def _apply(
    session: Session, caller: RequestContext, one: Selected, **changes: object
) -> None:
    """Correct a selected receipt; refused if it has another version by now."""
    version = {} if one.version is None else {"version": one.version}
    correction = Correction.model_validate({**changes, **version})
    await corrections.apply(session, caller.member, one.id, correction)


async def _each(caller: RequestContext, chosen: Sequence[Selected], action: Action) -> Outcome:
    """Run an action for each receipt in its own transaction, so that one cannot undo others."""
    done = changed = gone = 0
    for one in chosen:
        try:
            async with caller.services.database.write() as session:
                await action(session, one)
            done += 1
        except Conflict:
            changed += 1
        except NotFound:
            gone += 1
    return Outcome(done, changed, gone)


def _answered(back: str, did: str, outcome: Outcome) -> Response:
    figures = {name: str(getattr(outcome, name)) for name in _FIGURES}
    shown = {name: figure for name, figure in figures.items() if figure != "0"}
    return pages.see_other(receipt_lists.back_to(back, did=did, **shown))


_FIGURES = tuple(one.name for one in dataclasses.fields(Outcome))


def _figure(text: str | None) -> int:
    return int(text) if text and re.fullmatch(r"\d{1,3}", text, re.ASCII) else 0
