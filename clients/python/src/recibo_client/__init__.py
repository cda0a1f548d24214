"""The client of Recibo, which reads receipts."""

from recibo_client import errors, models, webhooks
from recibo_client._async.client import AsyncRecibo
from recibo_client._sync.client import Recibo
from recibo_client._version import __version__
from recibo_client.errors import APIError, ReciboError
from recibo_client.folders import FileResult, FolderResult
from recibo_client.models import Receipt
from recibo_client.params import Correction, Filters

__all__ = [
    "APIError",
    "AsyncRecibo",
    "Correction",
    "FileResult",
    "Filters",
    "FolderResult",
    "Receipt",
    "Recibo",
    "ReciboError",
    "__version__",
    "errors",
    "models",
    "webhooks",
]
