import type { DescMessage, DescMethodStreaming, DescMethodUnary, MessageInitShape } from '@bufbuild/protobuf';
import {
  Code,
  type ConnectError,
  type ContextValues,
  type StreamResponse,
  type Transport,
  type UnaryResponse,
} from '@connectrpc/connect';
import { explainedError } from './connection-mistakes.js';
import type { KeySource } from './key-source.js';
import type { HeaderValues } from './types.js';

/**
 * A transport that sends the key with every call, in addition to the headers of the call, and explains mistakes in
 * the address. With `renews`, a call whose key is refused is made again once with the key that is then current.
 */
export function withKey(inner: Transport, keys: KeySource, renews: boolean): Transport {
  const mayRenew = (error: ConnectError): boolean =>
    renews && keys.isRenewable && error.code === Code.Unauthenticated;

  return {
    async unary<I extends DescMessage, O extends DescMessage>(
      method: DescMethodUnary<I, O>,
      signal: AbortSignal | undefined,
      timeoutMs: number | undefined,
      header: HeaderValues | undefined,
      input: MessageInitShape<I>,
      contextValues?: ContextValues,
    ): Promise<UnaryResponse<I, O>> {
      const call = async () =>
        inner.unary(method, signal, timeoutMs, merged(await keys.forCall(), header), input, contextValues);
      try {
        return await call();
      } catch (reason) {
        const error = explainedError(reason);
        if (!mayRenew(error)) throw error;
      }
      await keys.renew();
      return call().catch(rethrown);
    },

    async stream<I extends DescMessage, O extends DescMessage>(
      method: DescMethodStreaming<I, O>,
      signal: AbortSignal | undefined,
      timeoutMs: number | undefined,
      header: HeaderValues | undefined,
      input: AsyncIterable<MessageInitShape<I>>,
      contextValues?: ContextValues,
    ): Promise<StreamResponse<I, O>> {
      const open = async (messages: AsyncIterable<MessageInitShape<I>>) => {
        const headers = merged(await keys.forStream(), header);
        const response = await inner.stream(method, signal, timeoutMs, headers, messages, contextValues);
        return { ...response, message: explained(response.message) };
      };
      if (!renews || method.methodKind !== 'server_streaming') return open(input).catch(rethrown);
      // The only request of a server stream is kept, so that it can be sent again.
      const requests: MessageInitShape<I>[] = [];
      for await (const request of input) requests.push(request);
      const again = async () => {
        await keys.renew();
        return open(each(requests)).catch(rethrown);
      };
      let response: StreamResponse<I, O>;
      try {
        response = await open(each(requests));
      } catch (reason) {
        const error = explainedError(reason);
        if (mayRenew(error)) return again();
        throw error;
      }
      return { ...response, message: orElse(response.message, mayRenew, again) };
    },
  };
}

/** The messages of a stream; those of another one when it fails before its first message. */
async function* orElse<T>(
  messages: AsyncIterable<T>,
  mayRenew: (error: ConnectError) => boolean,
  again: () => Promise<{ readonly message: AsyncIterable<T> }>,
): AsyncGenerator<T> {
  let hasBegun = false;
  try {
    for await (const message of messages) {
      hasBegun = true;
      yield message;
    }
    return;
  } catch (reason) {
    if (hasBegun || !mayRenew(explainedError(reason))) throw reason;
  }
  yield* (await again()).message;
}

async function* explained<T>(messages: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (reason) {
    throw explainedError(reason);
  }
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

function rethrown(reason: unknown): never {
  throw explainedError(reason);
}

/** The headers of a call and the key; a key among the headers of the call wins. */
function merged(key: Record<string, string>, header: HeaderValues | undefined): Headers {
  const headers = new Headers(key);
  new Headers(header).forEach((value, name) => {
    headers.set(name, value);
  });
  return headers;
}

/** Distributes calls and streams over transports in turn. */
export function inTurns(transports: readonly [Transport, ...Transport[]]): Transport {
  const [only, ...others] = transports;
  if (others.length === 0) return only;
  let turn = 0;
  const next = (): Transport => transports[turn++ % transports.length] ?? only;
  return {
    unary: (...call) => next().unary(...call),
    stream: (...call) => next().stream(...call),
  };
}
