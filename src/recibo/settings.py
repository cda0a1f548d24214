"""The settings, read from the environment (prefix `RECIBO_`) or a `.env` file."""

import ipaddress
import re
import secrets
from enum import StrEnum
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from recibo.extract.ocr.runtime import Runtime
from recibo.lib import ip_addresses
from recibo.schemas.states import PaymentProvider, SignupPolicy
from recibo.store import folders

#: The default address of `recibo serve`.
ADDRESS = "http://127.0.0.1:8000"
_SECRET_FILE = "secret_key"  # noqa: S105 - a file's name
# 32 random characters hold at least 128 bits, even as hexadecimal digits. A shorter secret could be
# found offline from anything that it signed.
_SHORTEST_SECRET = 32


class Environment(StrEnum):
    """Where the service runs; production refuses settings that are only for development."""

    DEVELOPMENT = "development"
    PRODUCTION = "production"


class Settings(BaseSettings):
    """Every setting, with a default that works on a laptop."""

    model_config = SettingsConfigDict(
        env_prefix="RECIBO_", env_file=".env", extra="ignore", frozen=True
    )

    data_dir: Path = Field(
        default=Path("data"),
        description="Home of the embedded SQLite database, stored files and generated secrets.",
    )
    database_url: str = Field(
        default="", description="`postgresql://…`; SQLite in the data folder when empty."
    )
    redis_url: str = Field(
        default="",
        description="Task queue and rate limits shared between processes; within this "
        "process when empty.",
    )
    storage_url: str = Field(
        default="",
        description="Where uploaded files are kept: `file://…` or `s3://bucket/prefix`; in the "
        "data folder when empty.",
    )
    secret_key: str = Field(
        default="",
        description="Signs and encrypts; generated once into the data folder when empty. "
        "Production wants 32 characters or more.",
    )
    previous_secret_keys: str = Field(
        default="",
        description="Older values of SECRET_KEY, separated by commas: what they signed and "
        "encrypted stays good.",
    )
    environment: Environment = Environment.DEVELOPMENT
    base_url: str = Field(
        default="", description="The public address; the one actually served when empty."
    )
    email_url: str = Field(
        default="",
        description="`smtp://…` or `smtps://…`; files in the data folder's outbox when empty.",
    )
    email_from: str = Field(
        default="",
        description="Who mails come from; `no-reply@` the public address's host when empty.",
    )
    inbox_url: str = Field(
        default="",
        description="The mailbox that receipts are mailed to: `imaps://user:password@host/FOLDER`; "
        "none when empty.",
    )
    inbox_address: str = Field(
        default="",
        description="The address of that mailbox; organizations get `local+TOKEN@domain`.",
    )
    inbox_auth_server: str = Field(
        default="",
        description="The mail server whose `Authentication-Results` are believed; senders are not "
        "checked when empty.",
    )
    payments: PaymentProvider = Field(
        default=PaymentProvider.SANDBOX,
        description="Who takes payments: `stripe`; `none`, with which no plan is sold and every "
        "organization has the limits of enterprise and no quota; or the sandbox, in which no "
        "money moves.",
    )
    signup: SignupPolicy = Field(
        default=SignupPolicy.OPEN,
        description="Who may create an account: `open` to all, `invited` people only, or `closed` "
        "to new accounts.",
    )
    stripe_api_key: str = Field(default="", description="The account's secret key.")
    stripe_webhook_secret: str = Field(
        default="", description="`whsec_…` of the address that events go to."
    )
    stripe_api_base: str = Field(
        default="https://api.stripe.com", description="Where Stripe is asked."
    )
    stripe_price_indie: str = Field(default="", description="`price_…` of the plan indie.")
    stripe_price_startup: str = Field(default="", description="`price_…` of the plan startup.")
    stripe_price_scale: str = Field(default="", description="`price_…` of the plan scale.")
    stripe_meter: str = Field(
        default="",
        description="The event name of the Stripe meter that credits are reported to; none when "
        "empty.",
    )
    extract_wait_seconds: float = Field(
        default=25, ge=0, description="How long POST /v1/extract waits before it answers `pending`."
    )
    max_queue_seconds: float = Field(
        default=300, gt=0, description="Expected wait above which uploads are refused with 503."
    )
    signups_per_ip_per_hour: int | None = Field(
        default=None,
        ge=0,
        description="Signups that one address may try in an hour; 20, in development 1000.",
    )
    readers: int = Field(default=0, ge=0, description="Reading processes; one a core when 0.")
    recognition_runtime: Runtime = Field(
        default=Runtime.AUTO,
        description="What runs recognition: `onnxruntime`, `openvino`, or with `auto` the latter "
        "where the processor gains from it.",
    )
    webhook_allow_private: bool | None = Field(
        default=None,
        description="Whether webhooks may go to loopback and private addresses; "
        "0, in development 1.",
    )
    trusted_proxies: str = Field(
        default="",
        description="Addresses and networks, separated by commas, whose `X-Forwarded-For` and "
        "`X-Forwarded-Proto` are believed.",
    )
    limit_loopback: bool | None = Field(
        default=None,
        description="Whether limits per address refuse what comes straight from loopback; 1, in "
        "development 0.",
    )
    metrics_token: str | None = Field(
        default=None, description="Bearer token that opens /metrics in production."
    )

    @property
    def is_production(self) -> bool:
        """Whether this is a production installation."""
        return self.environment is Environment.PRODUCTION

    @property
    def private_webhooks_allowed(self) -> bool:
        """Whether webhooks may go to loopback and private addresses."""
        if self.webhook_allow_private is None:
            return not self.is_production
        return self.webhook_allow_private

    @property
    def max_signups(self) -> int:
        """How many signups one address may try in an hour."""
        if self.signups_per_ip_per_hour is None:
            return 20 if self.is_production else 1000
        return self.signups_per_ip_per_hour

    @property
    def proxies(self) -> list[str]:
        """The addresses and networks of trusted proxies."""
        return _listed(self.trusted_proxies)

    @property
    def loopback_is_limited(self) -> bool:
        """Whether limits per address refuse what comes straight from loopback."""
        return self.is_production if self.limit_loopback is None else self.limit_loopback

    @property
    def loopback_signups_are_limited(self) -> bool:
        """Whether the signup limit holds for loopback, too: always if it was set explicitly."""
        return self.loopback_is_limited or self.signups_per_ip_per_hour is not None

    @property
    def older_secrets(self) -> list[str]:
        """The previous secret keys, newest first."""
        return _listed(self.previous_secret_keys)

    @property
    def database(self) -> str:
        """The database's URL."""
        return self.database_url or f"sqlite:///{self.data_dir.absolute() / 'recibo.db'}"

    @property
    def is_embedded(self) -> bool:
        """Whether the database is SQLite, which only this process uses."""
        return self.database.startswith("sqlite")

    @property
    def has_database(self) -> bool:
        """Whether the embedded database exists."""
        return Path(self.database.removeprefix("sqlite:///")).is_file()

    @property
    def has_secret(self) -> bool:
        """Whether a secret was generated already."""
        return (self.data_dir / _SECRET_FILE).is_file()

    @property
    def files_dir(self) -> Path:
        """Where uploaded files are kept."""
        return self.data_dir / "files"

    @property
    def spool_dir(self) -> Path:
        """The folder of uploads in progress."""
        return self.data_dir / "spool"

    @property
    def pages_dir(self) -> Path:
        """The folder of drawn pages, which may be deleted at any time."""
        return self.data_dir / "pages"

    @property
    def outbox_dir(self) -> Path:
        """The folder that mails are written to while no mail server is configured."""
        return self.data_dir / "outbox"

    @property
    def private_paths(self) -> list[Path]:
        """The files and folders that only the service's own user may read."""
        database = Path(self.database.removeprefix("sqlite:///"))
        of_database = [Path(f"{database}{end}") for end in ("", "-wal", "-shm")]
        return [
            self.data_dir,
            *(of_database if self.is_embedded else ()),
            *(self.files_dir, self.spool_dir, self.pages_dir, self.outbox_dir),
            *sorted(self.files_dir.glob("??")),
            self.data_dir / _SECRET_FILE,
        ]

    @field_validator("base_url")
    @classmethod
    def _drop_final_slash(cls, value: str) -> str:
        return value.rstrip("/") or value

    @field_validator("trusted_proxies")
    @classmethod
    def _name_networks(cls, value: str) -> str:
        # Refuse a typo here: a bad network would be ignored without a message.
        for one in _listed(value):
            ipaddress.ip_network(one)
        return value

    @model_validator(mode="after")
    def _fit(self) -> Self:
        # Report all problems at once, not one per start.
        problems = self._problems() if self.is_production else []
        problems += [
            problem
            for problem in (self._address_problem, self._inbox_problem, self._stripe_problem)
            if problem
        ]
        if problems:
            heading = ["production needs other settings:"] if self.is_production else []
            raise ValueError("\n  ".join(heading + problems))
        return self

    @property
    def _address_problem(self) -> str | None:
        # Production has a stricter check; without a base URL the served address is used.
        if self.is_production or not self.base_url or _is_address(self.base_url, "http", "https"):
            return None
        return "RECIBO_BASE_URL must begin with http:// or https:// and name a host"

    @property
    def _inbox_problem(self) -> str | None:
        if not self.inbox_url or re.fullmatch(r"[^@+\s]+@[^@\s]+", self.inbox_address):
            return None
        return "RECIBO_INBOX_URL needs RECIBO_INBOX_ADDRESS, an email address without a +"

    @property
    def _stripe_problem(self) -> str | None:
        needed = {
            "RECIBO_STRIPE_API_KEY": self.stripe_api_key,
            "RECIBO_STRIPE_WEBHOOK_SECRET": self.stripe_webhook_secret,
            "RECIBO_STRIPE_API_BASE": self.stripe_api_base,
            "RECIBO_STRIPE_PRICE_INDIE": self.stripe_price_indie,
            "RECIBO_STRIPE_PRICE_STARTUP": self.stripe_price_startup,
            "RECIBO_STRIPE_PRICE_SCALE": self.stripe_price_scale,
        }
        missing = ", ".join(name for name, value in needed.items() if not value.strip())
        is_whole = not missing or self.payments is not PaymentProvider.STRIPE
        return None if is_whole else f"RECIBO_PAYMENTS=stripe needs {missing}, too"

    def _problems(self) -> list[str]:
        too_short = f"has fewer than {_SHORTEST_SECRET} characters, which can be guessed"
        found = {
            "RECIBO_SECRET_KEY is not set": not self.secret_key.strip(),
            f"RECIBO_SECRET_KEY {too_short}": 0 < len(self.secret_key.strip()) < _SHORTEST_SECRET,
            f"RECIBO_PREVIOUS_SECRET_KEYS holds one that {too_short}": any(
                len(one) < _SHORTEST_SECRET for one in self.older_secrets
            ),
            "RECIBO_BASE_URL must be an https address": not _is_address(self.base_url, "https"),
            "RECIBO_EMAIL_URL is not set: mails would only be written into a folder": (
                self.email_url in ("", "outbox")
            ),
            "RECIBO_PAYMENTS is the sandbox, in which no money moves": (
                self.payments is PaymentProvider.SANDBOX
            ),
            "RECIBO_INBOX_URL must be imaps://, for a server on another machine": (
                _is_clear_mailbox(self.inbox_url)
            ),
            "RECIBO_WEBHOOK_ALLOW_PRIVATE allows private webhooks": self.private_webhooks_allowed,
        }
        return [problem for problem, holds in found.items() if holds]


def _listed(value: str) -> list[str]:
    return [one.strip() for one in value.split(",") if one.strip()]


def _is_address(value: str, *schemes: str) -> bool:
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return parts.scheme in schemes and bool(parts.hostname)


def _is_clear_mailbox(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme == "imap" and not ip_addresses.is_loopback(parts.hostname or "")


def secret_key(settings: Settings) -> str:
    """Return the signing key; the first call in development makes one in the data folder."""
    if settings.secret_key:
        return settings.secret_key
    path = settings.data_dir / _SECRET_FILE
    if not path.exists():
        keep_secret(settings, secrets.token_urlsafe(48))
    return path.read_text(encoding="ascii").strip()


def keep_secret(settings: Settings, secret: str) -> None:
    """Write the generated secret and sync it to disk before its first use."""
    folders.make(settings.data_dir)
    folders.write(settings.data_dir / _SECRET_FILE, secret.encode("ascii"))
