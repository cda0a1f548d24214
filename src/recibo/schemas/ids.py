"""A type for each kind of id."""

from typing import NewType

#: Begins the ids of browser sessions, which make receipts through publishable keys.
BROWSER_SESSION = "bse"
#: Begins the ids of addresses that receipts are mailed to.
MAIL_ADDRESS = "adr"

OrgId = NewType("OrgId", str)
UserId = NewType("UserId", str)
KeyId = NewType("KeyId", str)
ReceiptId = NewType("ReceiptId", str)
#: Of a sign-in and all tokens refreshed from it.
SessionId = NewType("SessionId", str)
InvitationId = NewType("InvitationId", str)
#: Of a webhook endpoint.
EndpointId = NewType("EndpointId", str)
EventId = NewType("EventId", str)
#: Of the delivery of an event to one receiver.
DeliveryId = NewType("DeliveryId", str)
