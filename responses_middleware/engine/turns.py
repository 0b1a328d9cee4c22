"""One response: its history, its chat call, the upstream's answer, and what happens when one of them goes wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from .. import _json
from ..dialects.lessons import changes
from ..errors import ResponsesError, UpstreamError, WrappedAppError
from ..protocol.chat import ChatRequest
from ..protocol.items import Item
from ..state import StoreError
from ..stream.machine import ResponseStream
from ..stream.transcoder import Transcoder
from ..translate.echo import to_response
from ..translate.formats import wants_logprobs
from ..translate.history import CALLS, call_id_of
from ..translate.left_out import LeftOut
from ..translate.request import ChatCall, input_items, to_chat
from ..upstream.base import UpstreamCall
from .answers import Answer, StreamedAnswer, WholeAnswer
from .context import history_of, refers, resolved_input, store_response
from .runtime import RunInfo, Runtime, logger
from .supervisor import Supervisor
from .watch import Watch

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from ..stream import Event


_STORE_PATIENCE = 5.0  # seconds; a store that hangs must not hold the answer back
_FAREWELL_OF_APP = 0.3  # seconds; an app that got http.disconnect may end its own way


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """The client's side of one request."""

    scope: Scope
    receive: Receive
    send: Send
    chat_path: str  # of the wrapped app, root_path included


class Run:
    """The execution of one response in the foreground."""

    __slots__ = (
        "_connection",
        "_created_at",
        "_dialect",
        "_history",
        "_model",
        "_owner",
        "_request",
        "_response_id",
        "_retried",
        "_runtime",
        "_stores",
    )

    def __init__(self, runtime: Runtime, connection: Connection, request: Mapping[str, Any]) -> None:
        self._runtime = runtime
        self._connection = connection
        self._request = request
        self._response_id = runtime.new_id("resp_")
        self._created_at = int(runtime.now())
        self._owner = runtime.owner(connection.scope)
        self._model = runtime.upstream_model(request["model"])
        self._stores = request.get("store") is not False and runtime.store is not None
        self._history: Sequence[Item] = ()
        self._dialect = runtime.dialect(self._model)
        # The refusal that has taught how to ask again, and what is new then; nothing is ever asked a third time.
        self._retried: tuple[UpstreamError, Mapping[str, Any]] | None = None

    # -- the request
    @property
    def refers(self) -> bool:
        """Whether the request points to anything that must be looked up."""
        return refers(self._request)

    async def look_up(self) -> None:
        """Find what the request points to."""
        try:
            with anyio.fail_after(_STORE_PATIENCE):
                self._history = await history_of(self._runtime, self._owner, self._request)
                resolved = await resolved_input(self._runtime, self._owner, self._request)
                self._request = {**self._request, "input": resolved}
        except TimeoutError as error:
            raise StoreError("The store did not answer in time.") from error

    def _translate(self) -> ChatCall:
        runtime = self._runtime
        unsupported = LeftOut(runtime.options.unsupported)
        runtime.note_lost(self._request, self._dialect, unsupported)
        call = to_chat(
            self._request,
            self._history,
            model=self._model,
            dialect=self._dialect,
            unsupported=unsupported,
            unseal=runtime.unseal,
        )
        if call.left_out:
            logger.info("not carried: %s", ", ".join(call.left_out))
        return call

    def _echo(self) -> dict[str, Any]:
        """The Response before anything is known of the answer."""
        return to_response(
            self._request, response_id=self._response_id, created_at=self._created_at, stores=self._stores
        )

    def _new_stream(self, call: ChatCall) -> ResponseStream:
        runtime, request = self._runtime, self._request
        return ResponseStream(
            self._echo,
            new_id=runtime.new_id,
            now=runtime.now,
            names=call.names,
            reasoning=runtime.options.reasoning,
            think_tags=self._dialect.think_tags,
            logprobs=wants_logprobs(request),
            obfuscate=bool((request.get("stream_options") or {}).get("include_obfuscation")),
            expects_finish=runtime.expects_finish,
            taken_call_ids=_call_ids([*self._history, *input_items(request)]),
            seal=runtime.seal,
            max_output=runtime.options.limits.max_output_bytes,
        )

    # -- the answer
    def ask(self) -> Awaitable[bool]:
        """Answer the client, by one upstream call; whether its refusal has taught how to ask again.

        Raises ResponsesError for what can still be told as an HTTP status. What the wrapped app raised is raised on,
        after the client got its answer, so that the server logs it once.
        """
        supervisor = self._runtime.supervisor
        return self._ask(supervisor) if supervisor.is_running else self._ask_alone()

    async def _ask_alone(self) -> bool:
        """Ask where no lifespan runs a supervisor, under one of our own."""
        async with Supervisor(self._runtime.options.limits).running() as supervisor:
            return await self._ask(supervisor)

    async def _ask(self, supervisor: Supervisor) -> bool:
        call = self._translate()
        self._runtime.refuse_when_stopping()
        answer = self._new_answer(call)
        raised: Exception | None = None  # by the wrapped app, or by the way to the upstream
        with anyio.CancelScope() as scope:
            watch = self._watch(answer, scope)
            supervisor.hold(watch, answer)
            try:
                sending = self._runtime.upstream.send(self._upstream_call(call, watch), answer)
                del call  # it holds the whole history, and the answer may take long
                await sending
            except Exception as error:  # the app may raise anything; raised on when the client has its answer
                raised = error
            finally:
                supervisor.release(watch)
        if watch.client_left and not answer.finished:
            return self._is_asked_again(answer)
        await self._settle(answer, watch, raised)
        if raised is not None and not isinstance(raised, ResponsesError):
            if answer.error is None or answer.begun:
                try:
                    raise raised
                finally:
                    del raised  # a traceback that holds this frame would keep what the app left open alive
            answer.error.exception = raised
        return self._is_asked_again(answer)

    def _is_asked_again(self, answer: Answer) -> bool:
        """Whether there is another try; raises the error that the client has not been told."""
        if answer.error and not answer.begun and not answer.is_asked_again:
            raise answer.error
        if answer.transcoder.stream.finish_reason:
            self._runtime.saw_finish()
        if self._retried and answer.is_answered:
            self._runtime.keep_lesson(self._model, self._retried[1])
        return answer.is_asked_again

    def _watch(self, answer: Answer, scope: anyio.CancelScope) -> Watch:
        options = self._runtime.options
        farewell = _FAREWELL_OF_APP if options.same_origin else 0
        return Watch(self._connection.receive, answer, options.limits, farewell=farewell, scope=scope)

    def _upstream_call(self, call: ChatCall, watch: Watch) -> UpstreamCall:
        return UpstreamCall(
            # Apps keep it as long as they answer; the bytes that orjson makes have up to 4 KiB to spare at their end.
            body=bytes(memoryview(_json.dumps(call.payload))),
            stream=bool(self._request.get("stream")),
            scope=self._connection.scope,
            receive=watch.inner_receive,
            path=self._connection.chat_path,
        )

    async def _settle(self, answer: Answer, watch: Watch, raised: Exception | None) -> None:
        """Tell the client how it ended, if it does not know yet."""
        if answer.finished or answer.client_gone:
            return
        if answer.is_refused:
            await answer.refuse()
            return
        error = watch.verdict or _as_error(raised)
        if isinstance(error, UpstreamError):
            logger.warning("the upstream failed: %s", error.message)
        try:
            await answer.conclude(error)
        except UpstreamError as failure:
            answer.error = failure
        except ResponsesError as failure:
            raise failure from raised

    def _new_answer(self, call: ChatCall) -> Answer:
        runtime, stream = self._runtime, bool(self._request.get("stream"))
        options = runtime.options
        transcoder = Transcoder(
            self._new_stream(call),
            max_frame=options.limits.max_frame_bytes,
            max_document=options.limits.max_answer_bytes,
            done_sentinel=options.done_sentinel,
            observe=self._observer(),
            silent=not stream,
        )
        headers = ((b"x-responses-unsupported", ", ".join(call.left_out).encode()),) if call.left_out else ()
        return (StreamedAnswer if stream else WholeAnswer)(
            transcoder,
            self._connection.send,
            headers=headers,
            same_origin=options.same_origin,
            limits=options.limits,
            keeper=self,
            judge=partial(self._judge, call.payload),
        )

    def _judge(self, payload: ChatRequest, error: UpstreamError) -> UpstreamError | None:
        """What the client is told of a refusal; None: it has taught how to ask otherwise, once."""
        learnt = self._runtime.learn(self._dialect, error, payload)
        news = changes(self._dialect, learnt or self._dialect)
        if self._retried:
            first, tried = self._retried
            return first if tried.keys() & news.keys() else error  # of our own try the client can mend nothing
        if learnt is None:
            return error
        self._dialect, self._retried = learnt, (error, news)
        return None

    async def keep(self, response: dict[str, Any]) -> None:
        """Store a response; what is ready to be sent must not be lost, so a client that leaves cannot end this."""
        if not self._stores:
            return
        kept = False
        try:
            with anyio.move_on_after(_STORE_PATIENCE, shield=True):
                await store_response(
                    self._runtime, self._owner, response, list(self._history), input_items(self._request)
                )
                kept = True
        except StoreError as error:
            logger.error("the store failed: %s", error.message)
        except Exception as error:  # a store of the operator's: the answer is good, whatever is wrong with it
            logger.error("the store failed: %s", type(error).__name__)
        if not kept:
            logger.error("response %s is not kept", response["id"])
            response["store"] = False

    def _observer(self) -> Any:
        on_event = self._runtime.options.on_event
        if on_event is None:
            return None
        request = self._request
        info = RunInfo(response_id=self._response_id, model=request["model"], stream=bool(request.get("stream")))

        def observe(event: Event) -> None:
            try:
                on_event(event, info)
            except Exception:  # the observer's own fault must not become the client's
                logger.exception("on_event raised for %s", event["type"])

        return observe


def _call_ids(items: Iterable[Item]) -> Collection[str]:
    return {call_id_of(item) for item in items if item.get("type") in CALLS} or ()


def _as_error(raised: Exception | None) -> ResponsesError | None:
    """What the client is told of an exception: an upstream's own words, never an app's."""
    if raised is None:
        return None
    if isinstance(raised, ResponsesError):
        return raised
    return WrappedAppError(raised)
