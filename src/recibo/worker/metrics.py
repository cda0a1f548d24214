"""Prometheus metrics of background work; no label identifies an org."""

from prometheus_client import Counter, Gauge, Histogram

READINGS = Counter("recibo_readings_total", "Finished readings.", ["accuracy", "outcome"])
READING_SECONDS = Histogram(
    "recibo_reading_seconds",
    "Time that the reader takes for a document.",
    ["accuracy"],
    buckets=(0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 240),
)
PENDING_READINGS = Gauge("recibo_pending_readings", "Pending readings at the last count.")
MAILS = Counter("recibo_mails_total", "Attempts to send a mail.", ["kind", "outcome"])
RECEIVED_MAILS = Counter("recibo_received_mails_total", "Mails with receipts.", ["outcome"])
METER_EVENTS = Counter(
    "recibo_meter_events_total",
    "Attempts to report credits to the payment provider.",
    ["outcome"],
)
DELIVERIES = Counter("recibo_deliveries_total", "Attempts to deliver a webhook.", ["outcome"])
JOB_SECONDS = Histogram(
    "recibo_job_seconds",
    "Duration of a run of a periodic job.",
    ["job"],
    buckets=(0.01, 0.1, 0.5, 1, 2, 5, 10, 20, 60),
)
JOB_SUCCESS = Gauge(
    "recibo_job_last_success_timestamp_seconds", "When a periodic job last succeeded.", ["job"]
)
JOB_FAILURES = Counter("recibo_job_failures_total", "Failed runs of a periodic job.", ["job"])
PENDING_DELIVERIES = Gauge("recibo_pending_deliveries", "Pending webhooks at the last count.")
TRASHED_FILES = Counter(
    "recibo_trashed_files_total", "Files without a receipt that were moved to the trash."
)
ABORTED_SWEEPS = Counter(
    "recibo_aborted_sweeps_total", "Sweeps stopped because they would have moved too many files."
)
