"""The connection of a client, and its calls."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, AsyncIterator, Callable, Dict, List, Optional, Tuple

import grpc

from . import v1
from ._background import note_connection
from ._failures import service_error
from ._keys import KeySource
from .errors import ServiceError

#: A connection in use and silent for so many milliseconds is pinged ...
_PING_INTERVAL = 10_000
#: ... and closed after so many without an answer.
_PING_TIMEOUT = 5_000
#: Replies of the service have the size that it gives them; requests are bounded by it.
_OPTIONS: List[Tuple[str, int]] = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.keepalive_time_ms", _PING_INTERVAL),
    ("grpc.keepalive_timeout_ms", _PING_TIMEOUT),
    # Evaluations are sent again by the client, which knows what they are; other calls are not.
    ("grpc.enable_retries", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    # The time of one attempt, which is not the pause after it.
    ("grpc.min_reconnect_backoff_ms", 5_000),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    # Clients of one process do not share connections: each has its certificates and its streams.
    ("grpc.use_local_subchannel_pool", 1),
]

#: It is tried to connect for so many seconds after a failed call.
_CONNECTING = 10.0
#: Messages of a stream that are read before the first of them is taken.
_READ_AHEAD = 16


class Certificates:
    """What is trusted, and the certificate of the client, in PEM form."""

    def __init__(self, ca: Any, cert: Any, key: Any) -> None:
        if (cert is None) != (key is None):
            raise ValueError("cert and key need each other: give both")
        self.ca, self.cert, self.key = (_bytes(one) for one in (ca, cert, key))

    @property
    def are_given(self) -> bool:
        return self.ca is not None or self.cert is not None


def _bytes(text: Any) -> Optional[bytes]:
    return text.encode() if isinstance(text, str) else text


class Channel:
    """Calls with the key. It opens no connection until the first call.

    The calls are those of gRPC with threads, not of ``grpc.aio``: that reads the events of all event loops of a process from
    one socket, and loses events of one loop when another has been closed.
    """

    def __init__(self, is_tls: bool, target: str, certificates: Certificates, keys: KeySource) -> None:
        self._keys = keys
        self._loop = asyncio.get_running_loop()
        if is_tls:
            credentials = grpc.ssl_channel_credentials(certificates.ca, certificates.key, certificates.cert)
            self._channel = grpc.secure_channel(target, credentials, options=_OPTIONS)
        else:
            self._channel = grpc.insecure_channel(target, options=_OPTIONS)
        note_connection()
        self._methods: Dict[Tuple[str, str], Any] = {}
        self._connecting: Optional[asyncio.TimerHandle] = None
        self._is_closed = False

    def failed(self, error: grpc.RpcError) -> ServiceError:
        """The error of a call. May be called in any thread."""
        told = service_error(error)
        if told.code is grpc.StatusCode.UNAVAILABLE and not told.reasons:
            self._loop.call_soon_threadsafe(self._keep_connecting)
        return told

    def _keep_connecting(self) -> None:
        """Lets gRPC connect while no call is open. By itself it reads from sockets only while calls wait: with a pause between
        calls that fail, a connection would not be ready until its time is over, and so never."""
        if self._is_closed:
            return
        if self._connecting is None:
            self._channel.subscribe(self._seen, try_to_connect=True)
        else:
            self._connecting.cancel()
        self._connecting = self._loop.call_later(_CONNECTING, self._rest)

    def _seen(self, state: grpc.ChannelConnectivity) -> None:
        if state is grpc.ChannelConnectivity.READY:
            self._loop.call_soon_threadsafe(self._rest)

    def _rest(self) -> None:
        if self._connecting is not None:
            self._connecting.cancel()
            self._connecting = None
            self._channel.unsubscribe(self._seen)

    def close(self) -> None:
        self._is_closed = True
        self._rest()
        self._channel.close()

    async def unary(self, service: str, name: str, request: Any, timeout: Optional[float], renews: bool = False) -> Any:
        """A unary call. With ``renews``, one whose key is refused is made again once, with the key that is then current.
        Raises a ServiceError."""
        method = self.method(service, name)
        try:
            return await self._called(method, request, timeout)
        except ServiceError as error:
            if not (renews and self._keys.is_renewable and error.code is grpc.StatusCode.UNAUTHENTICATED):
                raise
        await self._keys.renew()
        return await self._called(method, request, timeout)

    async def _called(self, method: Any, request: Any, timeout: Optional[float]) -> Any:
        metadata = await self._keys.for_call()
        call = method.future(request, timeout=timeout, metadata=metadata)
        ended: "asyncio.Future[None]" = self._loop.create_future()
        call.add_done_callback(lambda _: self._loop.call_soon_threadsafe(_set, ended))
        try:
            await ended
        except asyncio.CancelledError:
            call.cancel()
            raise
        try:
            return call.result()
        except grpc.RpcError as error:
            raise self.failed(error) from None
        except grpc.FutureCancelledError:
            raise ServiceError(grpc.StatusCode.CANCELLED, "the call was cancelled", is_local=True) from None

    async def stream(self, service: str, name: str, request: Any, timeout: Optional[float]) -> "Replies":
        """A call that is answered with a stream; the request may be an iterator, which runs in a thread."""
        metadata = await self._keys.for_stream()
        return Replies(self.method(service, name)(request, timeout=timeout, metadata=metadata), self.failed)

    async def messages(self, service: str, name: str, request: Any, timeout: Optional[float] = None) -> AsyncIterator[Any]:
        """The messages of a server stream. One whose key is refused at its beginning is opened again once, with the key
        that is then current. Raises a ServiceError."""
        for is_last in (not self._keys.is_renewable, True):
            has_begun = False
            replies = await self.stream(service, name, request, timeout)
            try:
                async for message in replies:
                    has_begun = True
                    yield message
                return
            except ServiceError as error:
                if is_last or has_begun or error.code is not grpc.StatusCode.UNAUTHENTICATED:
                    raise
            finally:
                replies.cancel()
            await self._keys.renew()

    def method(self, service: str, name: str) -> Any:
        known = self._methods.get((service, name))
        if known is None:
            known = self._methods[service, name] = self._made(service, name)
        return known

    def _made(self, service: str, name: str) -> Any:
        method = descriptor_of(service).methods_by_name[name]
        is_server, is_client = is_streaming(method)
        make = {
            (False, False): self._channel.unary_unary,
            (True, False): self._channel.unary_stream,
            (True, True): self._channel.stream_stream,
            (False, True): self._channel.stream_unary,
        }[is_server, is_client]
        return make(
            f"/enforcement.v1.{service}/{name}",
            request_serializer=v1.message_class(method.input_type.full_name).SerializeToString,
            response_deserializer=v1.message_class(method.output_type.full_name).FromString,
        )


def descriptor_of(service: str) -> Any:
    return v1.POOL.FindServiceByName(f"enforcement.v1.{service}")


def is_streaming(method: Any) -> Tuple[bool, bool]:
    """Whether the server, and whether the client, sends a stream. Older runtimes tell it only in the descriptor's message."""
    if hasattr(method, "server_streaming"):
        return method.server_streaming, method.client_streaming
    from google.protobuf import descriptor_pb2

    proto = descriptor_pb2.MethodDescriptorProto()
    method.CopyToProto(proto)
    return proto.server_streaming, proto.client_streaming


class Replies:
    """The messages of a stream, which a thread reads: a few ahead, as the flow control of gRPC does."""

    def __init__(self, call: Any, failed: Callable[[grpc.RpcError], ServiceError]) -> None:
        self._call = call
        self._failed = failed
        self._loop = asyncio.get_running_loop()
        self._room = threading.Semaphore(_READ_AHEAD)
        self._read: "asyncio.Queue[Any]" = asyncio.Queue()
        threading.Thread(target=self._reading, name="control-enforcement-stream", daemon=True).start()

    def __aiter__(self) -> "Replies":
        return self

    async def __anext__(self) -> Any:
        one = await self._read.get()
        self._room.release()
        if isinstance(one, BaseException):
            raise one
        return one

    def cancel(self) -> None:
        self._call.cancel()
        self._room.release()

    def _reading(self) -> None:
        end: BaseException = StopAsyncIteration()
        try:
            for message in self._call:
                self._loop.call_soon_threadsafe(self._read.put_nowait, message)
                self._room.acquire()
        except grpc.RpcError as error:
            end = self._failed(error)
        except Exception as error:  # of the runtime, such as a message that it cannot read
            end = ServiceError(grpc.StatusCode.INTERNAL, f"the stream cannot be read: {error}")
        self._loop.call_soon_threadsafe(self._read.put_nowait, end)


def _set(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
