"""The session's two cookies: see recibo.web.cookies."""

from recibo.web.cookies import clear_session, set_session

__all__ = ["clear_session", "set_session"]
