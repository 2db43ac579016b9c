import { AsyncLocalStorage } from 'node:async_hooks';
import {
  Client,
  type ProgressCallback,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type ServerCapabilities,
  type Tool,
} from '@modelcontextprotocol/client';
import type { JSONRPCMessage, Result, StandardSchemaV1 } from '@modelcontextprotocol/server';
import { createBoundedFetch, ResultTooLargeError } from './bounded-fetch.js';
import type { UpstreamConfig } from './config.js';
import { GatewayError, gatewayError, type Log, messageOf } from './errors.js';
import { listedPages } from './listed-pages.js';
import { sessionAfter } from './lost-session.js';
import type { GatewayMetrics } from './metrics.js';
import { paramHeaders } from './param-headers.js';
import { foldedInResult, inOtherCase } from './protocol-names.js';
import { createReconnecting, type UpstreamState } from './reconnecting.js';
import { transportOf } from './upstream-transport.js';

/** Kinds of lists of an upstream. */
export type ListKind = 'tools' | 'resources' | 'prompts';

/** A request to an upstream. */
export interface UpstreamRequest {
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly signal: AbortSignal;
  /** Given if the caller wants to be told of progress. */
  readonly onProgress?: ProgressCallback | undefined;
  /** Is told what the upstream logs while it works on this request, if its connection tells which request it is about. */
  readonly onLog?: ((params: Record<string, unknown>) => void) | undefined;
  /** The definition of the tool that is called: some of its arguments may have to be repeated in headers. */
  readonly tool?: Tool | undefined;
}

/** A server behind the gateway. All callers share its connection, which is opened on demand, and again after it broke. */
export interface Upstream {
  readonly name: string;
  /** What it can do; throws a ProtocolError if it cannot be reached. */
  capabilities(signal?: AbortSignal): Promise<ServerCapabilities>;
  /** Its instructions for models; undefined if there are none, or it is not connected. */
  instructions(): string | undefined;
  /** Whether it speaks version 2026-07-28. */
  isModern(): boolean;
  /** Rejects with the ProtocolError of the upstream, or one of the gateway if it cannot be reached or does not answer in time. */
  request(request: UpstreamRequest): Promise<Result>;
  /** How long callers wait for its connection and its lists, in milliseconds. */
  readonly answerMs: number;
  state(): UpstreamState;
  /** The error of a caller that has waited so long. */
  silent(): Error;
  /** All pages of a list, as `listedPages` ends it. */
  list(method: string, member: string): Promise<unknown[]>;
  close(): Promise<void>;
}

/** Results are passed on as they are. */
const AS_IT_IS: StandardSchemaV1<unknown, Result> = {
  '~standard': {
    version: 1,
    vendor: 'control-enforcement',
    validate: (value) => ({ value: value as Result }),
  },
};
/** Nothing of the gateway is validated by JSON Schema: a validator would be made for each connection. */
export const NO_VALIDATOR = {
  getValidator: () => (input: unknown) => ({
    valid: true as const,
    data: input as never,
    errorMessage: undefined,
  }),
};
/** Changes of a list within this time are told once. */
const CHANGES_MS = 50;

/** The id of a message that is a request or an answer, of those that the gateway gives. */
function idOf(text: string | undefined): number | string | undefined {
  try {
    const { id } = JSON.parse(text ?? '') as { readonly id?: unknown };
    return typeof id === 'number' || typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}

interface UpstreamOptions {
  readonly log: Log;
  readonly metrics: Pick<GatewayMetrics, 'upstreamError' | 'upstreamState'>;
  readonly onListChanged: (kind: ListKind) => void;
}

export function createUpstream(
  config: UpstreamConfig,
  version: string,
  { log, metrics, onListChanged }: UpstreamOptions,
): Upstream {
  const { name, timeout_seconds, max_seconds, answer_seconds, max_result_bytes: maxBytes } = config;
  /** Told what arrives in the course of a request. Used by requests that want it only: it makes every promise slower. */
  const logs = new AsyncLocalStorage<UpstreamRequest['onLog']>();
  const limits = {
    timeout: timeout_seconds * 1_000,
    maxTotalTimeout: max_seconds * 1_000,
    resetTimeoutOnProgress: true,
  };
  const answerMs = Math.min(answer_seconds * 1_000, limits.timeout);
  let isClosed = false;
  /** Ends with the gateway, though it may not be open yet. */
  let opening: Client | undefined;
  const telling = new Set<ListKind>();

  /** Notifications that come within a short time are one. */
  function tellChanged(kind: ListKind): void {
    if (telling.has(kind)) return;
    telling.add(kind);
    setTimeout(() => {
      telling.delete(kind);
      onListChanged(kind);
    }, CHANGES_MS).unref();
  }

  const tellAllChanged = (): void => {
    for (const kind of ['tools', 'resources', 'prompts'] as const) tellChanged(kind);
  };

  const silent = (): GatewayError =>
    gatewayError(
      'upstreamTimeout',
      `the server "${name}" does not answer; it is asked again in the background`,
      {
        upstream: name,
      },
    );

  /** `fetch` begins a stream that outlives the call that opened the connection, so that call is forgotten in it. */
  const connection = createReconnecting<Client>({
    open: () => logs.exit(open),
    limitMs: answerMs,
    silent,
    onState(state) {
      metrics.upstreamState(name, state);
      if (state === 'silent')
        log('warn', `the server "${name}" does not answer; it is asked again in the background`);
    },
    onBack: tellAllChanged,
  });

  function connect(): Promise<Client> {
    if (isClosed) return Promise.reject(gatewayError('upstreamFailed', 'the gateway is stopping'));
    return connection.get();
  }

  async function open(): Promise<Client> {
    const changed = (kind: ListKind) => ({
      autoRefresh: false,
      // Delayed here: the delay of the SDK begins again with each notification, so that many of them would be told never.
      debounceMs: 0,
      onChanged: () => tellChanged(kind),
    });
    const opened = new Client(
      { name: 'control-enforcement-mcp-gateway', version },
      {
        versionNegotiation: { mode: 'auto' },
        jsonSchemaValidator: NO_VALIDATOR,
        inputRequired: { autoFulfill: false },
        listChanged: {
          tools: changed('tools'),
          resources: changed('resources'),
          prompts: changed('prompts'),
        },
      },
    );
    /** The answer to a request with this body, in place of one that cannot be passed on. */
    const answer = (
      body: string | undefined,
      { code, message, data }: ProtocolError,
    ): JSONRPCMessage | undefined => {
      const id = idOf(body);
      return id === undefined ? undefined : { jsonrpc: '2.0', id, error: { code, message, data } };
    };
    const bounded = createBoundedFetch(
      maxBytes,
      (body) => {
        const message = answer(String(body), tooLarge());
        if (message !== undefined) transport.onmessage?.(message);
      },
      (body, data, error) => {
        const message = answer(idOf(data) === undefined ? body : data, unreadable(error));
        return message && JSON.stringify(message);
      },
      (body, last) => {
        if (body === undefined || (last !== undefined && idOf(last) === idOf(body))) return undefined;
        const message = answer(body, unanswered());
        return message && JSON.stringify(message);
      },
    );
    const transport = transportOf(config, bounded.fetch, (line, error) => answer(line, unreadable(error)));
    opened.setNotificationHandler('notifications/message', ({ params }) =>
      logs.getStore()?.(params as Record<string, unknown>),
    );
    opened.onerror = (error) => log('info', `upstream ${name}: ${error.message}`);
    opened.onclose = () => {
      bounded.close();
      if (connection.current !== opened) return;
      connection.drop(opened);
      if (!isClosed) log('warn', `upstream ${name}: its connection ended; the next call opens it again`);
    };
    opening = opened;
    try {
      await opened.connect(transport, { timeout: limits.timeout });
      return opened;
    } catch (error) {
      await opened.close().catch(() => {});
      // What a server answers is shown to callers only if it is checked, which this is not.
      log('warn', `the server "${name}" cannot be reached: ${messageOf(error)}`);
      throw gatewayError('upstreamFailed', `the server "${name}" cannot be reached`, { upstream: name });
    }
  }

  /** A server that was started again knows the session no more. Requests that still run on the connection may end. */
  function forget(old: Client): void {
    if (connection.current !== old) return;
    connection.drop(old);
    tellAllChanged();
    setTimeout(() => void old.close().catch(() => {}), limits.maxTotalTimeout).unref();
  }

  /** Whether a request was refused because the server does not know the session, before it ran. */
  async function isSessionLost(old: Client, error: unknown): Promise<boolean> {
    const after = old.transport?.sessionId === undefined ? undefined : sessionAfter(error);
    if (after !== 'suspected') return after === 'lost';
    // A tool may say so of another session: then this one is known.
    return old.request({ method: 'ping' }, AS_IT_IS, { timeout: answerMs }).then(
      () => false,
      (refused) => sessionAfter(refused) !== undefined,
    );
  }

  const tooLarge = (): ProtocolError =>
    gatewayError(
      'resultTooLarge',
      `the server "${name}" answered with more than ${maxBytes} bytes; ask for less`,
      {
        upstream: name,
        maxBytes,
      },
    );

  const unreadable = (error: Error): ProtocolError =>
    gatewayError('upstreamFailed', `the server "${name}" sent what cannot be checked: ${error.message}`, {
      upstream: name,
    });

  const unanswered = (): ProtocolError =>
    gatewayError('upstreamFailed', `the server "${name}" ended its answer before it was complete`, {
      upstream: name,
    });

  /** What is thrown for a failed request. */
  function failureOf(error: unknown, signal: AbortSignal): unknown {
    if (error instanceof ResultTooLargeError) return tooLarge();
    if (signal.aborted) return signal.reason;
    if (error instanceof ProtocolError) return error;
    if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
      return gatewayError('upstreamTimeout', `the server "${name}" did not answer in time`, {
        upstream: name,
      });
    return gatewayError('upstreamFailed', `the server "${name}" failed: ${messageOf(error)}`, {
      upstream: name,
    });
  }

  async function send(
    connected: Client,
    { method, params, signal, onProgress, onLog, tool }: UpstreamRequest,
  ): Promise<Result> {
    signal.throwIfAborted();
    const headers = tool !== undefined && isModern() ? paramHeaders(tool, params.arguments) : undefined;
    const sent = (): Promise<Result> =>
      connected.request({ method, params }, AS_IT_IS, {
        ...limits,
        signal,
        allowInputRequired: true,
        ...(onProgress === undefined ? {} : { onprogress: onProgress }),
        ...(headers === undefined ? {} : { headers }),
      });
    const result = await (onLog === undefined ? sent() : logs.run(onLog, sent));
    const found = foldedInResult(result);
    if (found !== undefined) throw unreadable(new Error(inOtherCase(found)));
    return result;
  }

  async function request(asked: UpstreamRequest): Promise<Result> {
    const { signal } = asked;
    let connected: Client | undefined;
    try {
      connected = connection.current ?? (await connect());
      try {
        return await send(connected, asked);
      } catch (error) {
        if (signal.aborted || !(await isSessionLost(connected, error))) throw error;
        log('info', `upstream ${name}: it does not know the session any more; a new one is opened`);
        forget(connected);
        // Once: what a new session refuses is not due to the old one.
        connected = await connect();
        return await send(connected, asked);
      }
    } catch (error) {
      if (connected !== undefined && error instanceof SdkHttpError && error.status === 404) forget(connected);
      const failure = failureOf(error, signal);
      const reason = failure instanceof GatewayError ? failure.reason : 'answered';
      if (!signal.aborted) metrics.upstreamError(name, reason);
      throw failure;
    }
  }

  function isModern(): boolean {
    return connection.current?.getProtocolEra() === 'modern';
  }

  return {
    name,
    isModern,
    request,
    instructions: () => connection.current?.getInstructions(),
    answerMs,
    state: () => connection.state,
    silent,
    async capabilities() {
      return (await connect()).getServerCapabilities() ?? {};
    },
    async list(method, member) {
      try {
        return await listedPages(
          async (cursor) =>
            request({
              method,
              params: cursor === undefined ? {} : { cursor },
              signal: AbortSignal.timeout(limits.maxTotalTimeout),
            }),
          member,
          (message) => log('warn', `upstream ${name}: ${message}`),
        );
      } catch (error) {
        log('warn', `the server "${name}" does not tell its ${member}: ${messageOf(error)}`);
        if (error instanceof GatewayError && error.reason === 'upstreamTimeout') throw error;
        throw gatewayError('upstreamFailed', `the server "${name}" does not tell its ${member}`, {
          upstream: name,
        });
      }
    },
    async close() {
      isClosed = true;
      const pending = connection.close();
      await opening?.close().catch(() => {});
      const opened = await pending;
      await opened?.close().catch(() => {});
    },
  };
}
