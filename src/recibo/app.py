"""All wiring: settings in, an ASGI app or a worker out."""

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import structlog
from fastapi import FastAPI
from sqlalchemy.exc import SQLAlchemyError

from recibo.adapters import mail, resolver
from recibo.adapters.payments import Sandbox
from recibo.adapters.reader import PoolReader, Reader
from recibo.adapters.resolver import Resolver
from recibo.adapters.stripe_payments import Account, Stripe
from recibo.adapters.webhook_client import CheckedWebhookClient, WebhookClient
from recibo.api import application
from recibo.lib import ids, webhook_urls
from recibo.lib.keyring import Keyring
from recibo.lib.moving_average import MovingAverage
from recibo.portal.application import Pages
from recibo.portal.sandbox import SandboxPages
from recibo.schemas.plans import PlanName, Plans
from recibo.schemas.states import PaymentProvider
from recibo.services import installation, mail_templates, orphans
from recibo.services.billing.billing import Billing
from recibo.services.identity import demo_org
from recibo.services.identity.demo_org import Demo
from recibo.services.identity.identity import Identity
from recibo.services.identity.passwords import Passwords
from recibo.services.installation import ForeignFilesError
from recibo.services.reading.extraction import Capacity, Extraction
from recibo.services.reading.upload_limits import Arrivals
from recibo.settings import ADDRESS, Settings, secret_key
from recibo.startup import StartError
from recibo.store import (
    folder_lock,
    folders,
    limits,
    pubsub,
    redis_client,
    semaphores,
    spool,
    storage,
    worker_registry,
)
from recibo.store.blobs import Blobs
from recibo.store.db import Database, migrate
from recibo.store.limits import Limits
from recibo.store.pubsub import PubSub
from recibo.store.semaphores import Semaphores
from recibo.store.worker_registry import NO_WORKERS, WorkerRegistry
from recibo.web.proxies import Proxies
from recibo.web.services import Probe, Services
from recibo.worker import heartbeat, key_uses
from recibo.worker import task_queue as engines
from recibo.worker.mail_worker import MailWorker
from recibo.worker.periodic_tasks import PeriodicTasks
from recibo.worker.shares import ReaderShares
from recibo.worker.task_queue import TaskQueue
from recibo.worker.tasks import Tasks
from recibo.worker.usage_reporter import UsageReporter
from recibo.worker.webhook_dispatcher import WebhookDispatcher

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class AppContext:
    """What every process of the service holds open."""

    settings: Settings
    database: Database
    blobs: Blobs
    signals: PubSub
    engine: TaskQueue
    reader: Reader
    pace: MovingAverage
    identity: Identity
    billing: Billing
    post: MailWorker
    limits: Limits
    slots: Semaphores
    crews: WorkerRegistry

    @property
    def readers(self) -> int:
        """How many documents this process reads at once."""
        return self.settings.readers or len(os.sched_getaffinity(0))

    @property
    def meter(self) -> UsageReporter | None:
        """What tells the payment provider of credits, where it is to be told."""
        payments = self.billing.payments
        if not isinstance(payments, Stripe) or not self.settings.stripe_meter.strip():
            return None
        return UsageReporter(self.database, payments)


@asynccontextmanager
async def lifespan(
    settings: Settings,
    *,
    works: bool = True,
    reader: Reader | None = None,
    callbacks: WebhookClient | None = None,
    address: str = ADDRESS,
    greet: Callable[[Demo], None] = lambda _: None,
) -> AsyncIterator[FastAPI]:
    """Open the house and build its ASGI app; with `works` it reads what is uploaded, too.

    Args:
        settings: How to run.
        works: Whether this process reads documents.
        reader: What reads them; child processes when None.
        callbacks: What posts webhooks; over HTTP, to addresses that are allowed, when None.
        address: Where it is served, which links lead to unless the settings say another.
        greet: Told of the demo org on a first start in development.
    """
    async with _house(settings, reader, address) as house, AsyncExitStack() as stack:
        uses = house.identity.key_uses
        await stack.enter_async_context(key_uses.written_down(uses, house.database))
        await stack.enter_async_context(house.signals.listening())
        await stack.enter_async_context(_alone(house))
        if works:
            await stack.enter_async_context(_working(house, callbacks))
        else:
            clockwork = _clockwork(house)
            await stack.enter_async_context(clockwork.watching())
        # Last, so that no start that fails tells the secret.
        if not settings.is_production:
            made = await demo_org.seed(house.database, house.identity.passwords)
            if made is not None:
                greet(made)
        services = _services(house, works=works)
        asgi = application.create_app(services)
        asgi.router.routes.append(Pages(services))
        if services.billing.sandbox is not None:
            asgi.router.routes.append(SandboxPages(services))
        asgi.add_middleware(
            Proxies, trusted=settings.proxies, limits_loopback=settings.loopback_is_limited
        )
        yield asgi


@asynccontextmanager
async def worker(settings: Settings) -> AsyncIterator[None]:
    """Read what other processes take in, while the block lasts."""
    if settings.is_embedded or not settings.redis_url:
        message = "recibo worker needs RECIBO_DATABASE_URL (PostgreSQL) and RECIBO_REDIS_URL."
        raise StartError(message)
    async with _house(settings, None, ADDRESS) as house, _working(house, None):
        yield


@asynccontextmanager
async def _house(
    settings: Settings, reader: Reader | None, address: str
) -> AsyncIterator[AppContext]:
    # Receipts are nobody else's business.
    folders.restrict(settings.private_paths)
    for folder in (settings.data_dir, settings.spool_dir):
        folders.make(folder)
    async with AsyncExitStack() as stack:
        if settings.is_embedded:
            stack.enter_context(folder_lock.hold_lock(settings.data_dir))
            await migrate(settings.database)
            folders.sync(settings.data_dir)
        spool.clear(settings.spool_dir, is_shared=not settings.is_embedded)
        database = Database(settings.database)
        stack.push_async_callback(database.close)
        await _check(database)
        # A name of its own: two apps in one process would share one memory.
        queue = settings.redis_url or f"memory://{ids.new('queue')}"
        engine = await stack.enter_async_context(engines.open_queue(queue))
        redis = await stack.enter_async_context(redis_client.open_redis(settings.redis_url))
        if reader is None:
            reader = PoolReader(
                processes=settings.readers or None,
                spare=1,
                runtime=settings.recognition_runtime,
            )
            stack.push_async_callback(reader.aclose)
        blobs = _blobs(settings)
        await _agree(database, blobs)
        pace = MovingAverage(NO_WORKERS.mean_seconds)
        identity = _identity(settings, database)
        stack.callback(identity.passwords.close)
        billing = _billing(settings, identity, address)
        if isinstance(billing.payments, Stripe):
            stack.callback(billing.payments.close)
        post = _post(settings, database, address)
        held = semaphores.of(redis)
        await stack.enter_async_context(held.renewing())
        yield AppContext(
            settings=settings,
            database=database,
            blobs=blobs,
            signals=pubsub.of(redis),
            engine=engine,
            reader=reader,
            pace=pace,
            identity=identity,
            billing=billing,
            post=post,
            limits=limits.of(redis),
            slots=held,
            crews=worker_registry.of(redis),
        )


def _blobs(settings: Settings) -> Blobs:
    try:
        return storage.of(
            settings.storage_url.strip(), folder=settings.files_dir, spool=settings.spool_dir
        )
    except ValueError as e:
        raise StartError(str(e)) from e


async def _agree(database: Database, blobs: Blobs) -> None:
    try:
        await installation.agree(database, blobs)
    except ForeignFilesError as e:
        raise StartError(str(e)) from e
    await orphans.postpone(database)


def _post(settings: Settings, database: Database, address: str) -> MailWorker:
    base_url = base_url_of(settings, address)
    try:
        mailer = mail.of(settings.email_url, outbox=settings.outbox_dir)
        sender = mail_templates.sender(settings.email_from, base_url)
    except ValueError as e:
        raise StartError(str(e)) from e
    return MailWorker(database, mailer, mail_templates.MailSettings(base_url, sender))


def _plans(settings: Settings) -> Plans:
    return Plans(are_sold=settings.payments is not PaymentProvider.NONE)


def _billing(settings: Settings, identity: Identity, address: str) -> Billing:
    if settings.payments is PaymentProvider.NONE:
        return Billing(identity.database, None)
    if settings.payments is PaymentProvider.SANDBOX:
        sandbox = Sandbox(identity.keyring, base_url_of(settings, address))
        return Billing(identity.database, sandbox)
    account = Account(
        api_key=settings.stripe_api_key.strip(),
        webhook_secret=settings.stripe_webhook_secret.strip(),
        api_base=settings.stripe_api_base.strip(),
        prices={
            PlanName.INDIE: settings.stripe_price_indie.strip(),
            PlanName.STARTUP: settings.stripe_price_startup.strip(),
            PlanName.SCALE: settings.stripe_price_scale.strip(),
        },
        meter=settings.stripe_meter.strip(),
    )
    stripe = Stripe(account)
    return Billing(identity.database, stripe, stripe)


def base_url_of(settings: Settings, address: str) -> str:
    """Return where links lead to: the public address, else the one that is served."""
    return (settings.base_url or address).rstrip("/")


def inbox_of(settings: Settings) -> Path | None:
    """Return the folder of mails that people may read in the portal: in development alone."""
    is_shown = mail.is_outbox(settings.email_url) and not settings.is_production
    return settings.outbox_dir if is_shown else None


def _identity(settings: Settings, database: Database) -> Identity:
    return Identity(
        database=database,
        keyring=Keyring(secret_key(settings), previous=settings.older_secrets),
        passwords=Passwords(),
        is_production=settings.is_production,
        signups_per_ip_per_hour=settings.max_signups,
        signup=settings.signup,
        plans=_plans(settings),
        loopback_signups_are_limited=settings.loopback_signups_are_limited,
    )


async def _check(database: Database) -> None:
    try:
        is_migrated = await database.is_migrated()
    except (OSError, SQLAlchemyError) as e:
        message = f"the database does not answer: {e}"
        raise StartError(message) from e
    if not is_migrated:
        message = "the database is of another version; run `recibo migrate` first."
        raise StartError(message)


@asynccontextmanager
async def _alone(house: AppContext) -> AsyncIterator[None]:
    """Say so when another server shares the database, and no Redis the limits."""
    if house.settings.is_embedded or house.settings.redis_url:
        yield
        return
    async with house.database.alone("serving without Redis") as is_alone:
        if not is_alone:
            log.warning("another server shares this database; set RECIBO_REDIS_URL for both")
        yield


@asynccontextmanager
async def _working(house: AppContext, callbacks: WebhookClient | None) -> AsyncIterator[None]:
    if isinstance(house.reader, PoolReader) and (failure := await house.reader.start()):
        raise StartError(failure.message)
    meter = house.meter
    tasks = Tasks(
        house.database,
        house.blobs,
        house.signals,
        house.reader,
        house.pace,
        house.engine,
        is_metered=meter is not None,
        plans=house.identity.plans,
        shares=ReaderShares(house.readers),
    )
    clockwork = _clockwork(house)
    if house.settings.is_embedded:
        await clockwork.free_readings()
        await clockwork.free_deliveries()
    async with (
        clockwork.running(),
        house.post.running(),
        meter.running() if meter else nullcontext(),
        resolver.open_resolver() as known_names,
        _courier(house, callbacks, known_names).running() as courier,
        heartbeat.sending_heartbeats(house.crews, readers=house.readers, pace=house.pace),
        # The first to end, so that others can take up what it hands back.
        # One more than its org may take: see `worker.shares`.
        house.engine.working(courier.beside(tasks.read), concurrency=house.readers + 1),
    ):
        yield


def _clockwork(house: AppContext) -> PeriodicTasks:
    return PeriodicTasks(house.database, house.blobs, house.engine, house.identity.plans)


def _courier(
    house: AppContext, callbacks: WebhookClient | None, known_names: Resolver
) -> WebhookDispatcher:
    callbacks = callbacks or CheckedWebhookClient(_webhook_policy(house), known_names)
    return WebhookDispatcher(house.database, callbacks, house.identity.keyring)


def _webhook_policy(house: AppContext) -> webhook_urls.Policy:
    return webhook_urls.Policy(
        https_only=house.settings.is_production,
        private_allowed=house.settings.private_webhooks_allowed,
    )


def _services(house: AppContext, *, works: bool) -> Services:
    settings = house.settings
    return Services(
        database=house.database,
        blobs=house.blobs,
        extraction=Extraction(
            database=house.database,
            blobs=house.blobs,
            signals=house.signals,
            reader=house.reader,
            carrier=house.engine,
            capacity=Capacity(house.crews, settings.max_queue_seconds),
            slots=house.slots,
            arrivals=Arrivals(house.slots),
            wait_seconds=settings.extract_wait_seconds,
            plans=house.identity.plans,
        ),
        spool=settings.spool_dir,
        cursor_key=secret_key(settings),
        extract_wait_seconds=settings.extract_wait_seconds,
        https_webhooks_only=settings.is_production,
        private_webhooks_allowed=settings.private_webhooks_allowed,
        metrics_token=settings.metrics_token,
        is_production=settings.is_production,
        probes=_probes(house, works=works),
        dispensable=_dispensable(house),
        limits=house.limits,
        identity=house.identity,
        billing=house.billing,
        base_url=settings.base_url,
        outbox=inbox_of(settings),
    )


def _probes(house: AppContext, *, works: bool) -> Mapping[str, Probe]:
    async def reader_is_ready() -> bool:
        return house.reader.is_ready()

    probes: dict[str, Probe] = {
        "database": house.database.is_alive,
        "storage": house.blobs.is_writable,
    }
    if not house.settings.redis_url:
        probes["queue"] = house.engine.is_alive
    return probes | ({"reader": reader_is_ready} if works else {})


def _dispensable(house: AppContext) -> Mapping[str, Probe]:
    # Without Redis uploads are owed all the same, and carried when it is back.
    if not house.settings.redis_url:
        return {}
    return {"queue": house.engine.is_alive, "limits": house.limits.is_alive}
