"""All wiring: settings in, an ASGI app or a worker out."""

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog
from fastapi import FastAPI
from sqlalchemy.exc import SQLAlchemyError

from recibo.adapters import mail, mailbox, resolver
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
from recibo.services.reading.exports import Exports
from recibo.services.reading.extraction import Capacity, Extraction
from recibo.services.reading.page_images import PageImages
from recibo.services.reading.upload_limits import Arrivals
from recibo.services.receipt_mail import intake
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
from recibo.store.page_cache import PageCache
from recibo.store.pubsub import PubSub
from recibo.store.semaphores import Semaphores
from recibo.store.worker_registry import NO_WORKERS, WorkerRegistry
from recibo.web.proxies import Proxies
from recibo.web.services import Probe, Services
from recibo.worker import heartbeat, loops, task_queue
from recibo.worker.jobs import Job
from recibo.worker.mail_reader import MailReader
from recibo.worker.mail_worker import MailWorker
from recibo.worker.periodic_tasks import PeriodicTasks
from recibo.worker.shares import ReaderShares
from recibo.worker.task_queue import BackgroundWork, TaskQueue
from recibo.worker.tasks import Tasks
from recibo.worker.usage_reporter import UsageReporter
from recibo.worker.webhook_dispatcher import WebhookDispatcher

log = structlog.get_logger(__name__)

_KEY_USES_SECONDS = 30
_PRUNE_PAGES_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class AppContext:
    """The open resources and services of one process."""

    settings: Settings
    database: Database
    blobs: Blobs
    pubsub: PubSub
    queue_url: str
    task_queue: TaskQueue
    reader: Reader
    reading_time: MovingAverage
    identity: Identity
    billing: Billing
    mail_worker: MailWorker
    periodic_tasks: PeriodicTasks
    limits: Limits
    upload_slots: Semaphores
    worker_registry: WorkerRegistry
    page_cache: PageCache

    @property
    def readers(self) -> int:
        """The number of documents that this process reads at once."""
        return self.settings.readers or len(os.sched_getaffinity(0))

    @property
    def usage_reporter(self) -> UsageReporter | None:
        """Reports used credits to Stripe; None unless a Stripe meter is configured."""
        payments = self.billing.payments
        if not isinstance(payments, Stripe) or not self.settings.stripe_meter.strip():
            return None
        return UsageReporter(self.database, payments)


@asynccontextmanager
async def lifespan(
    settings: Settings,
    *,
    with_worker: bool = True,
    reader: Reader | None = None,
    webhook_client: WebhookClient | None = None,
    address: str = ADDRESS,
    on_first_start: Callable[[Demo], None] = lambda _: None,
) -> AsyncIterator[FastAPI]:
    """Open all resources and yield the ASGI app; by default, run a worker, too.

    Args:
        settings: The settings of this installation.
        with_worker: Whether this process runs a worker, too.
        reader: Reads documents; a pool of child processes when None.
        webhook_client: Sends webhooks; when None, over HTTP and only to permitted addresses.
        address: The URL of the server: links point to it unless `base_url` is set.
        on_first_start: Called with the new demo org at the first start in development.
    """
    async with _open_context(settings, reader, address) as context, AsyncExitStack() as stack:
        uses = context.identity.key_uses
        flush = partial(uses.flush, context.database)
        # Uses that could not be saved stay in memory and are flushed again.
        await stack.enter_async_context(
            loops.repeating(flush, _KEY_USES_SECONDS, is_run_at_end=True)
        )
        prune = context.page_cache.prune
        await stack.enter_async_context(loops.repeating(prune, _PRUNE_PAGES_SECONDS))
        await stack.enter_async_context(context.pubsub.listen())
        await stack.enter_async_context(_warn_of_second_server(context))
        if with_worker:
            await stack.enter_async_context(_run_worker(context, webhook_client))
        else:
            watchdog = context.periodic_tasks.watchdog
            await stack.enter_async_context(watchdog.repeating(context.database))
        # Last, so that a failed start does not print the secret.
        if not settings.is_production:
            demo = await demo_org.seed(context.database, context.identity.passwords)
            if demo is not None:
                on_first_start(demo)
        services = _services(context, with_worker=with_worker)
        pages = Pages(services)
        asgi = application.create_app(services, page_of=pages.refused)
        asgi.router.routes.append(pages)
        if services.billing.sandbox is not None:
            asgi.router.routes.append(SandboxPages(services))
        asgi.add_middleware(
            Proxies, trusted=settings.proxies, limits_loopback=settings.loopback_is_limited
        )
        yield asgi


@asynccontextmanager
async def worker(settings: Settings) -> AsyncIterator[None]:
    """Run a worker without a server while the block lasts."""
    if settings.is_embedded or not settings.redis_url:
        message = "recibo worker needs RECIBO_DATABASE_URL (PostgreSQL) and RECIBO_REDIS_URL."
        raise StartError(message)
    async with _open_context(settings, None, ADDRESS) as context, _run_worker(context, None):
        yield


@asynccontextmanager
async def _open_context(
    settings: Settings, reader: Reader | None, address: str
) -> AsyncIterator[AppContext]:
    # Receipts are private: only the service's own user may read them.
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
        await _check_database(database)
        # A unique name, because apps in one process would share a queue of the same name.
        queue_url = settings.redis_url or f"memory://{ids.new('queue')}"
        queue = await stack.enter_async_context(task_queue.open_queue(queue_url))
        redis = await stack.enter_async_context(redis_client.open_redis(settings.redis_url))
        if reader is None:
            reader = PoolReader(
                processes=settings.readers or None,
                spare=1,
                runtime=settings.recognition_runtime,
            )
            stack.push_async_callback(reader.aclose)
        blobs = _blobs(settings)
        await _check_storage_mark(database, blobs)
        identity = _identity(settings, database)
        stack.callback(identity.passwords.close)
        billing = _billing(settings, identity, address)
        if isinstance(billing.payments, Stripe):
            stack.callback(billing.payments.close)
        upload_slots = semaphores.create(redis)
        await stack.enter_async_context(upload_slots.renewing())
        yield AppContext(
            settings=settings,
            database=database,
            blobs=blobs,
            pubsub=pubsub.create(redis),
            queue_url=queue_url,
            task_queue=queue,
            reader=reader,
            reading_time=MovingAverage(NO_WORKERS.mean_seconds),
            identity=identity,
            billing=billing,
            mail_worker=_mail_worker(settings, database, address),
            periodic_tasks=PeriodicTasks(database, blobs, queue, identity.plans),
            limits=limits.create(redis),
            upload_slots=upload_slots,
            worker_registry=worker_registry.create(redis),
            page_cache=PageCache(settings.pages_dir),
        )


def _blobs(settings: Settings) -> Blobs:
    try:
        return storage.open_storage(
            settings.storage_url.strip(), folder=settings.files_dir, spool=settings.spool_dir
        )
    except ValueError as e:
        raise StartError(str(e)) from e


async def _check_storage_mark(database: Database, blobs: Blobs) -> None:
    try:
        await installation.agree(database, blobs)
    except ForeignFilesError as e:
        raise StartError(str(e)) from e
    await orphans.postpone(database)


def _mail_worker(settings: Settings, database: Database, address: str) -> MailWorker:
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
    """Return the URL that links point to: the public address if set, else the served one."""
    return (settings.base_url or address).rstrip("/")


def inbox_of(settings: Settings) -> Path | None:
    """Return the folder of mails that the portal shows; None outside development."""
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


async def _check_database(database: Database) -> None:
    try:
        is_migrated = await database.is_migrated()
    except (OSError, SQLAlchemyError) as e:
        message = f"the database does not answer: {e}"
        raise StartError(message) from e
    if not is_migrated:
        message = "the database is of another version; run `recibo migrate` first."
        raise StartError(message)


@asynccontextmanager
async def _warn_of_second_server(context: AppContext) -> AsyncIterator[None]:
    """Log a warning if another server uses this database and there is no Redis."""
    if context.settings.is_embedded or context.settings.redis_url:
        yield
        return
    async with context.database.advisory_lock("serving without Redis") as is_acquired:
        if not is_acquired:
            log.warning("another server shares this database; set RECIBO_REDIS_URL for both")
        yield


@asynccontextmanager
async def _run_worker(
    context: AppContext, webhook_client: WebhookClient | None
) -> AsyncIterator[None]:
    if isinstance(context.reader, PoolReader) and (failure := await context.reader.start()):
        raise StartError(failure.message)
    usage_reporter = context.usage_reporter
    tasks = Tasks(
        context.database,
        context.blobs,
        context.pubsub,
        context.reader,
        context.reading_time,
        context.task_queue,
        is_metered=usage_reporter is not None,
        plans=context.identity.plans,
        shares=ReaderShares(context.readers),
    )
    kinds: list[BackgroundWork] = [context.mail_worker]
    if usage_reporter is not None:
        kinds.append(usage_reporter)
    periodic_tasks = context.periodic_tasks
    jobs = [*periodic_tasks.upkeep, *_mail_jobs(context)]
    if context.settings.is_embedded:
        await periodic_tasks.release_readings()
        await periodic_tasks.release_deliveries()
    async with (
        periodic_tasks.watchdog.repeating(context.database),
        periodic_tasks.enqueuing.repeating(context.database, is_run_at_start=True),
        task_queue.open_background_queue(context.queue_url) as background_queue,
        background_queue.working_in_background(kinds, jobs, context.database),
        resolver.open_resolver() as names,
        _webhook_dispatcher(context, webhook_client, names).running() as webhook_dispatcher,
        heartbeat.sending_heartbeats(
            context.worker_registry, readers=context.readers, reading_time=context.reading_time
        ),
        # Ends first, so that other workers can start the jobs that it releases.
        # One reader is kept for other orgs: see `worker.shares`.
        context.task_queue.working(
            webhook_dispatcher.yielding_to(tasks.read), concurrency=context.readers + 1
        ),
    ):
        yield


def _mail_jobs(context: AppContext) -> Sequence[Job]:
    """Return the jobs of receipts by email; none if it is off."""
    settings = context.settings
    if not settings.inbox_url:
        return ()
    try:
        imap = mailbox.of(settings.inbox_url)
    except ValueError as e:
        raise StartError(str(e)) from e
    policy = intake.Policy(settings.inbox_address.lower(), settings.inbox_auth_server.strip())
    extraction, plans = _extraction(context), context.identity.plans
    mails = intake.Intake(extraction, policy, settings.spool_dir, plans)
    return MailReader(context.database, imap, mails).jobs


def _webhook_dispatcher(
    context: AppContext, webhook_client: WebhookClient | None, names: Resolver
) -> WebhookDispatcher:
    webhook_client = webhook_client or CheckedWebhookClient(_webhook_policy(context), names)
    return WebhookDispatcher(context.database, webhook_client, context.identity.keyring)


def _webhook_policy(context: AppContext) -> webhook_urls.Policy:
    return webhook_urls.Policy(
        https_only=context.settings.is_production,
        private_allowed=context.settings.private_webhooks_allowed,
    )


def _extraction(context: AppContext) -> Extraction:
    return Extraction(
        database=context.database,
        blobs=context.blobs,
        pubsub=context.pubsub,
        reader=context.reader,
        carrier=context.task_queue,
        capacity=Capacity(context.worker_registry, context.settings.max_queue_seconds),
        slots=context.upload_slots,
        arrivals=Arrivals(context.upload_slots),
        wait_seconds=context.settings.extract_wait_seconds,
        plans=context.identity.plans,
    )


def _services(context: AppContext, *, with_worker: bool) -> Services:
    settings = context.settings
    return Services(
        database=context.database,
        blobs=context.blobs,
        extraction=_extraction(context),
        exports=Exports(context.database, context.blobs, settings.spool_dir, secret_key(settings)),
        page_images=PageImages(context.database, context.blobs, context.reader, context.page_cache),
        spool=settings.spool_dir,
        cursor_key=secret_key(settings),
        extract_wait_seconds=settings.extract_wait_seconds,
        https_webhooks_only=settings.is_production,
        private_webhooks_allowed=settings.private_webhooks_allowed,
        metrics_token=settings.metrics_token,
        is_production=settings.is_production,
        probes=_probes(context, with_worker=with_worker),
        dispensable=_optional_probes(context),
        refresh_metrics=context.periodic_tasks.refresh_counts,
        limits=context.limits,
        identity=context.identity,
        billing=context.billing,
        base_url=settings.base_url,
        outbox=inbox_of(settings),
        receipt_address=settings.inbox_address.lower() if settings.inbox_url else "",
    )


def _probes(context: AppContext, *, with_worker: bool) -> Mapping[str, Probe]:
    async def reader_is_ready() -> bool:
        return context.reader.is_ready()

    probes: dict[str, Probe] = {
        "database": context.database.is_alive,
        "storage": context.blobs.is_writable,
    }
    if not context.settings.redis_url:
        probes["queue"] = context.task_queue.is_alive
    return probes | ({"reader": reader_is_ready} if with_worker else {})


def _optional_probes(context: AppContext) -> Mapping[str, Probe]:
    # Without Redis, uploads stay pending and are enqueued when it returns.
    if not context.settings.redis_url:
        return {}
    return {"queue": context.task_queue.is_alive, "limits": context.limits.is_alive}
