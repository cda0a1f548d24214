"""What the workers count; no label names an org."""

from prometheus_client import Counter, Gauge, Histogram

READINGS = Counter("recibo_readings_total", "Readings ended.", ["accuracy", "outcome"])
READING_SECONDS = Histogram(
    "recibo_reading_seconds",
    "Time of a reading in its process.",
    ["accuracy"],
    buckets=(0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 240),
)
PENDING_READINGS = Gauge("recibo_owed_readings", "Readings owed when the clockwork last looked.")
MAILS = Counter("recibo_mails_total", "Tries at owed mails.", ["kind", "outcome"])
METER_EVENTS = Counter(
    "recibo_meter_events_total", "Tries to tell the payment provider of credits.", ["outcome"]
)
DELIVERIES = Counter("recibo_deliveries_total", "Tries at owed webhooks.", ["outcome"])
JOB_SECONDS = Histogram(
    "recibo_job_seconds",
    "Time of a run of a periodic job.",
    ["job"],
    buckets=(0.01, 0.1, 0.5, 1, 2, 5, 10, 20, 60),
)
JOB_SUCCESS = Gauge(
    "recibo_job_last_success_timestamp_seconds", "When a periodic job last ended well.", ["job"]
)
JOB_FAILURES = Counter("recibo_job_failures_total", "Runs of a periodic job that failed.", ["job"])
PENDING_DELIVERIES = Gauge(
    "recibo_owed_deliveries", "Webhooks owed when the clockwork last looked."
)
TRASHED_FILES = Counter(
    "recibo_trashed_files_total", "Files without a receipt that were moved to the trash."
)
ABORTED_SWEEPS = Counter(
    "recibo_aborted_sweeps_total", "Sweeps that would have moved too many files."
)
