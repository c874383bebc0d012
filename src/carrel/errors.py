"""Every failure Carrel reports, each with its exit code and HTTP status.

CarrelError                     1  500  INTERNAL_ERROR
├── InvalidInput                1  400  VALIDATION_ERROR
│   ├── UnknownSetting          1  400  UNKNOWN_SETTING
│   ├── UnknownComponent        1  400  UNKNOWN_COMPONENT
│   ├── InvalidSource           1  400  INVALID_SOURCE
│   ├── InvalidJobId            1  400  INVALID_JOB_ID
│   └── DimensionMismatchError  1  409  DIMENSION_MISMATCH
├── MissingExtra                1  501  MISSING_EXTRA
├── NotFound                    1  404  NOT_FOUND
│   ├── PaperNotFound           1  404  PAPER_NOT_FOUND
│   ├── DocumentNotFound        1  404  DOCUMENT_NOT_FOUND
│   ├── JobNotFound             1  404  JOB_NOT_FOUND
│   ├── QueryNotFound           1  404  QUERY_NOT_FOUND
│   ├── LibraryNotFound         2  404  LIBRARY_NOT_FOUND
│   └── IndexNotFound           2  404  INDEX_NOT_FOUND
├── Exists                      1  409  EXISTS
│   ├── DocumentExists          1  409  DOCUMENT_EXISTS
│   └── FeedbackExists          1  409  FEEDBACK_EXISTS
├── Unauthorized                1  401  UNAUTHORIZED
├── Forbidden                   1  403  FORBIDDEN
├── TooManyRequests             1  429  TOO_MANY_REQUESTS
├── SlowRequest                 1  408  REQUEST_TIMEOUT
├── Unavailable                 1  503  UNAVAILABLE
│   ├── QueueFull               1  503  QUEUE_FULL
│   └── ShuttingDown            1  503  SHUTTING_DOWN
├── OutOfTime                   1  504  OUT_OF_TIME
│   ├── QueueTimeout            1  504  QUEUE_TIMEOUT
│   └── QueryTimeout            1  504  QUERY_TIMEOUT
├── SourceError                 1  422  UNREADABLE_SOURCE
│   ├── UnsupportedFormat       1  400  UNSUPPORTED_FORMAT
│   ├── EmptyDocument           1  422  EMPTY_DOCUMENT
│   ├── NoTextLayer             1  422  NO_TEXT_LAYER
│   ├── TooLarge                1  413  TOO_LARGE
│   ├── ParserCrashed           1  422  PARSER_CRASHED
│   └── BudgetExceeded          1  422  BUDGET_EXCEEDED
├── WorkerUnavailable           1  503  WORKER_UNAVAILABLE
├── NoUsableAbstract            4  422  NO_USABLE_ABSTRACT
├── StoreUnavailable            1  503  STORE_UNAVAILABLE
│   ├── LibraryBusy             1  503  LIBRARY_BUSY
│   ├── LibraryTooNew           1  500  LIBRARY_TOO_NEW
│   ├── ReadOnlyLibrary         1  403  READ_ONLY
│   └── StorageFull             1  507  STORAGE_FULL
├── ModelNotInstalled           5  503  MODEL_NOT_INSTALLED
│   └── ModelDamaged            5  503  MODEL_DAMAGED
├── ModelServerUnavailable      3  503  MODEL_SERVER_UNAVAILABLE
│   ├── ModelRefused            3  503  MODEL_REFUSED
│   └── ModelBusy               3  503  MODEL_BUSY
├── ModelTooSlow                1  504  MODEL_TOO_SLOW
├── ContextTooLong              1  413  CONTEXT_TOO_LONG
├── IndexStale                  6  409  INDEX_STALE
└── Damaged                     7  409  DAMAGED

A message names the thing and the value; the hint names the next step.
"""

from __future__ import annotations

from typing import ClassVar


class CarrelError(Exception):
    """The root: whatever Carrel raises on purpose."""

    code: ClassVar[str] = "INTERNAL_ERROR"
    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InvalidInput(CarrelError):
    """A value the caller gave cannot be used."""

    code = "VALIDATION_ERROR"
    http_status = 400


class UnknownSetting(InvalidInput):
    code = "UNKNOWN_SETTING"


class UnknownComponent(InvalidInput):
    """A setting names an embedder, store … that nothing provides."""

    code = "UNKNOWN_COMPONENT"


class InvalidSource(InvalidInput):
    """The service may not, or cannot, take a document from there."""

    code = "INVALID_SOURCE"


class InvalidJobId(InvalidInput):
    """What is named is not the id of a job."""

    code = "INVALID_JOB_ID"


class DimensionMismatchError(InvalidInput):
    """A vector does not fit the index it is asked of."""

    code = "DIMENSION_MISMATCH"
    http_status = 409


class MissingExtra(CarrelError):
    """A component is known but its optional dependency is not installed."""

    code = "MISSING_EXTRA"
    http_status = 501


class NotFound(CarrelError):
    code = "NOT_FOUND"
    http_status = 404


class PaperNotFound(NotFound):
    code = "PAPER_NOT_FOUND"


class DocumentNotFound(NotFound):
    code = "DOCUMENT_NOT_FOUND"


class JobNotFound(NotFound):
    code = "JOB_NOT_FOUND"


class QueryNotFound(NotFound):
    code = "QUERY_NOT_FOUND"


class LibraryNotFound(NotFound):
    code = "LIBRARY_NOT_FOUND"
    exit_code = 2


class IndexNotFound(NotFound):
    code = "INDEX_NOT_FOUND"
    exit_code = 2


class Exists(CarrelError):
    """What is to be made is there already."""

    code = "EXISTS"
    http_status = 409


class DocumentExists(Exists):
    code = "DOCUMENT_EXISTS"


class FeedbackExists(Exists):
    code = "FEEDBACK_EXISTS"


class Unauthorized(CarrelError):
    """The service wants a token, and this is none."""

    code = "UNAUTHORIZED"
    http_status = 401


class Forbidden(CarrelError):
    """Who asks may not."""

    code = "FORBIDDEN"
    http_status = 403


class TooManyRequests(CarrelError):
    code = "TOO_MANY_REQUESTS"
    http_status = 429


class SlowRequest(CarrelError):
    """A client took too long to say what it wants."""

    code = "REQUEST_TIMEOUT"
    http_status = 408


class Unavailable(CarrelError):
    """The service cannot take this on now; later it might."""

    code = "UNAVAILABLE"
    http_status = 503


class QueueFull(Unavailable):
    code = "QUEUE_FULL"


class ShuttingDown(Unavailable):
    code = "SHUTTING_DOWN"


class OutOfTime(CarrelError):
    """The service was still at it when the time was over."""

    code = "OUT_OF_TIME"
    http_status = 504


class QueueTimeout(OutOfTime):
    code = "QUEUE_TIMEOUT"


class QueryTimeout(OutOfTime):
    code = "QUERY_TIMEOUT"


class SourceError(CarrelError):
    """A file cannot be taken in; the others of its batch can."""

    code = "UNREADABLE_SOURCE"
    http_status = 422


class UnsupportedFormat(SourceError):
    code = "UNSUPPORTED_FORMAT"
    http_status = 400


class EmptyDocument(SourceError):
    code = "EMPTY_DOCUMENT"


class NoTextLayer(SourceError):
    """A document of pictures only."""

    code = "NO_TEXT_LAYER"


class TooLarge(SourceError):
    code = "TOO_LARGE"
    http_status = 413


class ParserCrashed(SourceError):
    """What reads such files died of this one, or made no sense of it."""

    code = "PARSER_CRASHED"


class BudgetExceeded(SourceError):
    """Reading a file takes more time or memory than it may."""

    code = "BUDGET_EXCEEDED"


class WorkerUnavailable(CarrelError):
    """The process that files are read in cannot be started."""

    code = "WORKER_UNAVAILABLE"
    http_status = 503


class NoUsableAbstract(CarrelError):
    """A paper has nothing that could be compared with other papers."""

    code = "NO_USABLE_ABSTRACT"
    exit_code = 4
    http_status = 422


class StoreUnavailable(CarrelError):
    """A store failed. Never reported as an empty result."""

    code = "STORE_UNAVAILABLE"
    http_status = 503


class LibraryBusy(StoreUnavailable):
    """Another process is writing."""

    code = "LIBRARY_BUSY"


class LibraryTooNew(StoreUnavailable):
    """A newer Carrel wrote this library."""

    code = "LIBRARY_TOO_NEW"
    http_status = 500


class ReadOnlyLibrary(StoreUnavailable):
    code = "READ_ONLY"
    http_status = 403


class StorageFull(StoreUnavailable):
    code = "STORAGE_FULL"
    http_status = 507


class ModelNotInstalled(CarrelError):
    code = "MODEL_NOT_INSTALLED"
    exit_code = 5
    http_status = 503


class ModelDamaged(ModelNotInstalled):
    """The model's files are there but are not the ones that were published."""

    code = "MODEL_DAMAGED"


class ModelServerUnavailable(CarrelError):
    """A server that runs a model cannot be reached, or does not answer as it should."""

    code = "MODEL_SERVER_UNAVAILABLE"
    exit_code = 3
    http_status = 503


class ModelRefused(ModelServerUnavailable):
    """A server answered that it will not; of another text it might."""

    code = "MODEL_REFUSED"


class ModelBusy(ModelServerUnavailable):
    """A server has too much to do, or has done enough for this user; later it might answer."""

    code = "MODEL_BUSY"


class ModelTooSlow(CarrelError):
    """A model was still at work when its time was over."""

    code = "MODEL_TOO_SLOW"
    http_status = 504


class ContextTooLong(CarrelError):
    """A prompt is longer than a model can read; a shorter one it would."""

    code = "CONTEXT_TOO_LONG"
    http_status = 413


class IndexStale(CarrelError):
    code = "INDEX_STALE"
    exit_code = 6
    http_status = 409


class Damaged(CarrelError):
    """The stores of a library do not agree, or its papers no longer say what an answer quotes."""

    code = "DAMAGED"
    exit_code = 7
    http_status = 409


def password_hint(setting: str, what: str = "that user's password") -> str:
    """Where a server's password belongs, and why it may not have been given although it is there."""
    return (
        f"Set {setting}_password, or CARREL_{setting.upper()}_PASSWORD, to {what}. It is given to no server that only "
        f"the library's config names: name that in your own config, or in CARREL_{setting.upper()}."
    )
