"""The ids that cross floors, each a type of its own."""

from typing import NewType

OrgId = NewType("OrgId", str)
UserId = NewType("UserId", str)
KeyId = NewType("KeyId", str)
ReceiptId = NewType("ReceiptId", str)
