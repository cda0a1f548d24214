"""The dependencies of the identity services."""

from dataclasses import dataclass, field

from recibo.errors import SignupClosed, ValidationFailed
from recibo.lib import emails
from recibo.lib.keyed_lock import KeyedLock
from recibo.lib.keyring import Keyring
from recibo.schemas.plans import SOLD, Plans
from recibo.schemas.states import SignupPolicy
from recibo.services.identity.key_uses import KeyUses
from recibo.services.identity.passwords import Passwords
from recibo.store.db import Database

_NO_NEW_ACCOUNTS = "This installation takes no new accounts; its operator can change that."


@dataclass(frozen=True, slots=True)
class Identity:
    """Built once by `recibo.app`."""

    database: Database
    keyring: Keyring
    passwords: Passwords
    is_production: bool
    signups_per_ip_per_hour: int
    #: Whether that number holds even where limits per IP spare loopback.
    loopback_signups_are_limited: bool = True
    #: Who may create an account.
    signup: SignupPolicy = SignupPolicy.OPEN
    #: What orgs may use.
    plans: Plans = SOLD
    #: What this process has seen of API keys.
    key_uses: KeyUses = field(default_factory=KeyUses)
    #: Of tries at one password.
    turns: KeyedLock = field(default_factory=KeyedLock)

    @property
    def invitations_an_hour(self) -> int:
        """How many invitations an org may send."""
        return 20 if self.is_production else 1000

    @property
    def invitations_a_day_to_one(self) -> int:
        """How many of them may go to one address."""
        return 3 if self.is_production else 1000

    def require_open_signup(self) -> None:
        """Raise SignupClosed unless anybody may create an account."""
        if self.signup is SignupPolicy.INVITED:
            raise SignupClosed
        if self.signup is SignupPolicy.CLOSED:
            raise SignupClosed(_NO_NEW_ACCOUNTS)

    def require_new_accounts(self) -> None:
        """Raise SignupClosed unless invitees may create an account."""
        if self.signup is SignupPolicy.CLOSED:
            raise SignupClosed(_NO_NEW_ACCOUNTS)

    def email(self, text: str, *, field: str = "email") -> str:
        """Return an address as it is stored; raises ValidationFailed when it is none."""
        return _email(text, field=field, is_production=self.is_production)

    def lasting_email(self, text: str, *, field: str = "email") -> str:
        """Return an address that is not disposable; raises ValidationFailed when it is."""
        return lasting_email(text, field=field, is_production=self.is_production)


def lasting_email(text: str, *, field: str, is_production: bool) -> str:
    """Return an address that is not disposable; raises ValidationFailed when it is."""
    address = _email(text, field=field, is_production=is_production)
    if emails.is_disposable(address):
        message = "is on a disposable domain; use a lasting address"
        raise ValidationFailed.of(field, message)
    return address


def _email(text: str, *, field: str, is_production: bool) -> str:
    try:
        return emails.parse(text, is_production=is_production)
    except emails.BadEmailError as e:
        raise ValidationFailed.of(field, str(e)) from None
