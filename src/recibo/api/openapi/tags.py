"""The groups of operations, in the order in which `/docs` shows them."""

_DESCRIPTIONS = {
    "extraction": "Upload a document and get its fields. Start here.",
    "receipts": "List, get and delete receipts, and download the uploaded files.",
    "webhooks": "List the events that were sent to your server. Endpoints and signing secrets are "
    "in the portal.",
    "api keys": "Create, list and revoke API keys.",
    "sessions": "Sign up, sign in and out, refresh a session, accept an invitation.",
    "email links": "Sign in, verify an address or reset a password with a link from an email.",
    "two-factor authentication": "Set up an authenticator app, and sign in with its codes or with "
    "recovery codes.",
    "account": "Your own user: name, password, sessions and current organization.",
    "org": "The organization of the session.",
    "team": "Members, their roles, and invitations.",
    "analytics": "Usage by day, receipts by category, top merchants.",
    "audit": "Who changed what in the organization, and when.",
    "billing": "The subscription, and the payment provider's pages to buy and change it.",
    "operations": "Health, readiness and metrics, for those who run the service.",
}

TAGS = [{"name": name, "description": text} for name, text in _DESCRIPTIONS.items()]
