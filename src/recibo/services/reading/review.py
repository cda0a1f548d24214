"""Judges whether a person should look at a completed receipt."""

from collections.abc import Collection

from recibo.schemas.receipts import Receipt as ReceiptShape
from recibo.schemas.receipts import Review, ReviewReason
from recibo.schemas.states import ReviewCode, ReviewStatus
from recibo.store.tables import Receipt


def update(row: Receipt) -> None:
    """Set the status of a row from its approval, doubts and duplicates."""
    if row.approved_at is not None:
        row.review_status = ReviewStatus.APPROVED
    elif row.doubts or row.duplicates:
        row.review_status = ReviewStatus.NEEDS_REVIEW
    else:
        row.review_status = ReviewStatus.READY


def of(row: Receipt) -> Review | None:
    """Return the review of a row; None before it is completed and judged."""
    if row.review_status is None:
        return None
    reasons = [ReviewReason.model_validate(one) for one in row.doubts or ()]
    if row.duplicates:
        reasons.append(ReviewReason(code=ReviewCode.POSSIBLE_DUPLICATE, field=None))
    return Review(
        status=ReviewStatus(row.review_status),
        reasons=tuple(reasons),
        by=row.approved_by,
        at=row.approved_at,
    )


def for_browser(receipt: ReceiptShape, visible: Collection[str]) -> ReceiptShape:
    """Return a receipt as a browser session sees it: only visible duplicates, and no approver."""
    found = tuple(one for one in receipt.duplicates if one in visible)
    judged = receipt.review
    if judged is not None:
        reasons = tuple(
            one for one in judged.reasons if found or one.code is not ReviewCode.POSSIBLE_DUPLICATE
        )
        is_ready = not reasons and judged.status is ReviewStatus.NEEDS_REVIEW
        status = ReviewStatus.READY if is_ready else judged.status
        judged = judged.model_copy(update={"reasons": reasons, "status": status, "by": None})
    return receipt.model_copy(update={"duplicates": found, "review": judged})
