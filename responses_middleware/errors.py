"""What can go wrong, and whose fault it is.

ResponsesError
├── InvalidRequestError             the client's: 400, nothing was asked upstream
│   ├── MissingParameterError
│   ├── InvalidTypeError
│   ├── InvalidValueError
│   ├── UnknownParameterError
│   ├── UnsupportedParameterError   no chat completion can honour it
│   ├── UnsupportedValueError       likewise one of its values
│   ├── PreviousResponseNotFoundError
│   ├── InvalidEncryptedContentError
│   ├── NotFoundError               404
│   ├── MethodNotAllowedError       405
│   ├── RequestTimeoutError         408
│   ├── RequestTooLargeError        413
│   ├── UnsupportedEncodingError    415
│   └── UpgradeRequiredError        426
├── UpstreamError                   theirs: the chat server's status and words, or 502
│   ├── UpstreamConnectionError     not reachable, or cut
│   ├── UpstreamProtocolError       an answer that no chat completion is
│   ├── WrappedAppError             500: the app that is asked in process raised an exception
│   └── UpstreamTimeoutError        504
├── OverloadedError                 ours for now: 503 with Retry-After
├── StoreError                      the store's: 500, its words for the operator alone
└── ConfigurationError              the operator's, raised at construction; also a ValueError

Classes carry `status`, `type` and `code`; instances the `message` and the `param`. `body()` is the error object of
OpenAI's API with its four keys; the HTTP statuses are those that OpenAI uses, since the SDKs decide on retries by them.
"""

from __future__ import annotations

from typing import Any, ClassVar


class ResponsesError(Exception):
    """The root: an error that can be told to a client as an OpenAI error object."""

    status: int = 500
    type: str = "server_error"
    code: str | None = None

    def __init__(self, message: str, *, param: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param

    def fields(self) -> dict[str, Any]:
        """The error object: always message, type, param and code."""
        return {"message": self.message, "type": self.type, "param": self.param, "code": self.code}

    def body(self) -> dict[str, Any]:
        """The JSON body of an HTTP error."""
        return {"error": self.fields()}


class InvalidRequestError(ResponsesError):
    """The request can't be served as it is; `param` names the exact place, `input[2].content[0].type`."""

    status = 400
    type = "invalid_request_error"


class MissingParameterError(InvalidRequestError):
    code = "missing_required_parameter"

    def __init__(self, param: str) -> None:
        super().__init__(f"Missing required parameter: '{param}'.", param=param)


class InvalidTypeError(InvalidRequestError):
    code = "invalid_type"

    def __init__(self, param: str, *, expected: str, value: object) -> None:
        super().__init__(
            f"Invalid type for '{param}': expected {expected}, but got {_type_name(value)} instead.", param=param
        )


class InvalidValueError(InvalidRequestError):
    code = "invalid_value"

    def __init__(self, message: str, *, param: str | None, code: str | None = None) -> None:
        super().__init__(message, param=param)
        self.code = code or self.code


class UnknownParameterError(InvalidRequestError):
    code = "unknown_parameter"

    def __init__(self, param: str, *, hint: str = "") -> None:
        super().__init__(f"Unknown parameter: '{param}'.{hint}", param=param)


class UnsupportedParameterError(InvalidRequestError):
    """No chat completion can honour this parameter."""

    code = "unsupported_parameter"


class UnsupportedValueError(InvalidRequestError):
    """The parameter is served, this value of it is not."""

    code = "unsupported_value"


class PreviousResponseNotFoundError(InvalidRequestError):
    """Unknown, deleted, expired, not stored, or another owner's: clients can't tell which."""

    code = "previous_response_not_found"

    def __init__(self, response_id: str) -> None:
        super().__init__(f"Previous response with id '{response_id}' not found.", param="previous_response_id")


class InvalidEncryptedContentError(InvalidRequestError):
    """An `encrypted_content` that was not sealed here, or that was changed on its way."""

    code = "invalid_encrypted_content"


class NotFoundError(InvalidRequestError):
    status = 404


class MethodNotAllowedError(InvalidRequestError):
    status = 405

    def __init__(self, method: str, path: str, *, allowed: str) -> None:
        super().__init__(f"Method {method} is not allowed for {path}; use {allowed}.")
        self.allowed = allowed


class RequestTimeoutError(InvalidRequestError):
    status = 408


class RequestTooLargeError(InvalidRequestError):
    status = 413

    def __init__(self, max_bytes: int) -> None:
        super().__init__(f"The request body is larger than {max_bytes} bytes, the limit of this server.")


class UnsupportedEncodingError(InvalidRequestError):
    status = 415


class UpgradeRequiredError(InvalidRequestError):
    """Responses over a WebSocket are not served; Codex then goes on over HTTP at once."""

    status = 426


class UpstreamError(ResponsesError):
    """What the chat server answered instead of a completion, with its status, its words and the headers that clients
    act on."""

    status = 502

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        type: str | None = None,
        code: str | None = None,
        param: str | None = None,
        headers: list[tuple[bytes, bytes]] | None = None,
    ) -> None:
        super().__init__(message, param=param)
        self.status = status or self.status
        self.type = type or self.type
        self.code = code or self.code
        self.headers = headers or []
        self.words = message  # what the upstream said of its own; what it refuses is read from it, nobody is told it
        self.exception: Exception | None = None  # what the wrapped app raised beside it; for the server's log


class UpstreamConnectionError(UpstreamError):
    """No connection, or it broke."""


class UpstreamProtocolError(UpstreamError):
    """An answer that no chat completions server gives."""


class WrappedAppError(UpstreamError):
    """The wrapped app raised; the client is told no more than that, `exception` is raised on to the server's log."""

    status = 500

    def __init__(self, exception: Exception) -> None:
        super().__init__("the app failed while it answered")
        self.exception = exception


class UpstreamTimeoutError(UpstreamError):
    """No connection, or no byte of the answer, in time."""

    status = 504
    code = "timeout"


class OverloadedError(ResponsesError):
    """Too many requests are under way, or the server is stopping; Retry-After says when to come back."""

    status = 503
    code = "server_is_overloaded"
    retry_after: ClassVar[int] = 1  # seconds


class StoreError(ResponsesError):
    """The store itself failed: not reachable, disk full, a row that can't be read. Live answers go on without it."""


class ConfigurationError(ResponsesError, ValueError):
    """An option is wrong; raised when the middleware is made, never while serving."""


def _type_name(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float():
            return "a decimal"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"
