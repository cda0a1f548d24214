"""The metrics of requests; no label names an org."""

from prometheus_client import Histogram

REQUESTS = Histogram(
    "recibo_request_seconds",
    "Time to answer a request.",
    ["method", "route", "status"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
