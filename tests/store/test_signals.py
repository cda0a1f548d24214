"""Signals within one event loop."""

import asyncio

from recibo.shapes.ids import ReceiptId
from recibo.store.signals import InProcess

ONE, OTHER = ReceiptId("rcp_1"), ReceiptId("rcp_2")


async def test_signal_between_taking_a_place_and_waiting_is_not_lost() -> None:
    signals = InProcess()
    with signals.waiting(ONE) as place:
        signals.tell(ONE)

        await place.wait()


async def test_all_who_wait_for_a_receipt_are_told_and_nobody_else() -> None:
    signals = InProcess()
    with (
        signals.waiting(ONE) as first,
        signals.waiting(ONE) as second,
        signals.waiting(OTHER) as other,
    ):
        waiting = asyncio.create_task(other.wait())
        signals.tell(ONE)
        await first.wait()
        await second.wait()

        assert not waiting.done()
        signals.tell(OTHER)
        await waiting


async def test_each_signal_is_heard_once() -> None:
    signals = InProcess()
    with signals.waiting(ONE) as place:
        signals.tell(ONE)
        await place.wait()
        again = asyncio.create_task(place.wait())
        await asyncio.sleep(0)

        assert not again.done()
        signals.tell(ONE)
        await again


async def test_telling_when_nobody_waits_is_harmless() -> None:
    signals = InProcess()
    with signals.waiting(ONE):
        pass

    signals.tell(ONE)
