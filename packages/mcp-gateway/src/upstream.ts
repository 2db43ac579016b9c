import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Client,
  type ProgressCallback,
  SdkHttpError,
  type ServerCapabilities,
  type Tool,
} from '@modelcontextprotocol/client';
import type { Result, StandardSchemaV1 } from '@modelcontextprotocol/server';
import type { UpstreamConfig } from './config.js';
import { GatewayError, type Log, messageOf } from './errors.js';
import { listedPages } from './listed-pages.js';
import { sessionAfter } from './lost-session.js';
import type { GatewayMetrics } from './metrics.js';
import { paramHeaders } from './param-headers.js';
import { foldedInResult } from './protocol-names.js';
import { createReconnecting, type UpstreamState } from './reconnecting.js';
import { createUpstreamClient, createUpstreamErrors, type ListKind } from './upstream-client.js';

/** A request to an upstream. */
export interface UpstreamRequest {
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly signal: AbortSignal;
  /** Given if the caller asks for progress. */
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
  /** Whether it uses version 2026-07-28. */
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
/** Changes of a list within this time are told once. */
const CHANGES_MS = 50;

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
  const errors = createUpstreamErrors(name, maxBytes);
  const { silent } = errors;
  let isClosed = false;
  /** Ends with the gateway, though it may not be open yet. */
  let opening: (() => Promise<void>) | undefined;
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
    if (isClosed) return Promise.reject(new GatewayError('upstreamFailed', 'the gateway is stopping'));
    return connection.get();
  }

  async function open(): Promise<Client> {
    const {
      client: opened,
      connect,
      end,
    } = createUpstreamClient(config, version, errors, {
      onListChanged: tellChanged,
      onLog: (params) => logs.getStore()?.(params),
      onClose() {
        if (connection.current !== opened) return;
        connection.drop(opened);
        if (!isClosed) log('warn', `upstream ${name}: its connection ended; the next call opens it again`);
      },
    });
    opened.onerror = (error) => log('info', `upstream ${name}: ${error.message}`);
    opening = end;
    try {
      await connect(limits.timeout);
      return opened;
    } catch (error) {
      await opened.close().catch(() => {});
      await end().catch(() => {});
      // What a server answers is shown to callers only if it is checked, which this is not.
      log('warn', `the server "${name}" cannot be reached: ${messageOf(error)}`);
      throw new GatewayError('upstreamFailed', `the server "${name}" cannot be reached`, { upstream: name });
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
    if (found !== undefined) throw errors.inOtherCase(found);
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
      const failure = errors.failureOf(error, signal);
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
        throw new GatewayError('upstreamFailed', `the server "${name}" does not tell its ${member}`, {
          upstream: name,
        });
      }
    },
    async close() {
      isClosed = true;
      const pending = connection.close();
      await opening?.().catch(() => {});
      const opened = await pending;
      await opened?.close().catch(() => {});
    },
  };
}
