import { type Client, SdkHttpError, type ServerCapabilities } from '@modelcontextprotocol/client';
import type { Result } from '@modelcontextprotocol/server';
import type { UpstreamConfig } from './config.js';
import { GatewayError, type Log, messageOf } from './errors.js';
import { listedPages } from './listed-pages.js';
import type { GatewayMetrics } from './metrics.js';
import { createReconnecting, type UpstreamState } from './reconnecting.js';
import { createUpstreamClient, createUpstreamErrors, type ListKind } from './upstream-client.js';
import { createRequests, isSessionLost, type UpstreamRequest } from './upstream-requests.js';

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
  const limits = {
    timeout: timeout_seconds * 1_000,
    maxTotalTimeout: max_seconds * 1_000,
    resetTimeoutOnProgress: true,
  };
  const answerMs = Math.min(answer_seconds * 1_000, limits.timeout);
  const errors = createUpstreamErrors(name, maxBytes);
  const { silent } = errors;
  const requests = createRequests(limits, errors);
  const changes = createChanges(onListChanged);
  let isClosed = false;
  /** Ends with the gateway, though it may not be open yet. */
  let opening: (() => Promise<void>) | undefined;

  /** `fetch` begins a stream that outlives the call that opened the connection, so that call is forgotten in it. */
  const connection = createReconnecting<Client>({
    open: () => requests.outside(open),
    limitMs: answerMs,
    silent,
    onState(state) {
      metrics.upstreamState(name, state);
      if (state === 'silent')
        log('warn', `the server "${name}" does not answer; it is asked again in the background`);
    },
    onBack: changes.tellAll,
  });

  function connect(): Promise<Client> {
    if (isClosed) return Promise.reject(new GatewayError('upstreamFailed', 'the gateway is stopping'));
    return connection.get();
  }

  async function open(): Promise<Client> {
    const own = createUpstreamClient(config, version, errors, {
      onListChanged: changes.tell,
      onLog: requests.onLog,
      onClose() {
        if (connection.current !== own.client) return;
        connection.drop(own.client);
        if (!isClosed) log('warn', `upstream ${name}: its connection ended; the next call opens it again`);
      },
    });
    const { client: opened, end } = own;
    opened.onerror = (error) => log('info', `upstream ${name}: ${error.message}`);
    opening = end;
    try {
      await own.connect(limits.timeout);
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
    changes.tellAll();
    setTimeout(() => void old.close().catch(() => {}), limits.maxTotalTimeout).unref();
  }

  async function request(asked: UpstreamRequest): Promise<Result> {
    const { signal } = asked;
    let connected: Client | undefined;
    try {
      connected = connection.current ?? (await connect());
      try {
        return await requests.send(connected, asked);
      } catch (error) {
        if (signal.aborted || !(await isSessionLost(connected, error, answerMs))) throw error;
        log('info', `upstream ${name}: it does not know the session any more; a new one is opened`);
        forget(connected);
        // Once: what a new session refuses is not due to the old one.
        connected = await connect();
        return await requests.send(connected, asked);
      }
    } catch (error) {
      if (connected !== undefined && error instanceof SdkHttpError && error.status === 404) forget(connected);
      const failure = errors.failureOf(error, signal);
      const reason = failure instanceof GatewayError ? failure.reason : 'answered';
      if (!signal.aborted) metrics.upstreamError(name, reason);
      throw failure;
    }
  }

  const isModern = (): boolean => connection.current?.getProtocolEra() === 'modern';

  const list = (method: string, member: string): Promise<unknown[]> => {
    const asked = (params: Record<string, unknown>) =>
      request({ method, params, signal: AbortSignal.timeout(limits.maxTotalTimeout) });
    return wholeList(asked, member, name, log);
  };

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
    list,
    async close() {
      isClosed = true;
      const pending = connection.close();
      await opening?.().catch(() => {});
      const opened = await pending;
      await opened?.close().catch(() => {});
    },
  };
}

/** Tells of changed lists: changes that come within a short time are one. */
function createChanges(onListChanged: (kind: ListKind) => void) {
  const telling = new Set<ListKind>();

  function tell(kind: ListKind): void {
    if (telling.has(kind)) return;
    telling.add(kind);
    setTimeout(() => {
      telling.delete(kind);
      onListChanged(kind);
    }, CHANGES_MS).unref();
  }

  const tellAll = (): void => {
    for (const kind of ['tools', 'resources', 'prompts'] as const) tell(kind);
  };

  return { tell, tellAll };
}

/** All pages of a list. Rejects with an error of the gateway if the server does not tell it. */
async function wholeList(
  asked: (params: Record<string, unknown>) => Promise<Result>,
  member: string,
  name: string,
  log: Log,
): Promise<unknown[]> {
  try {
    return await listedPages(
      async (cursor) => asked(cursor === undefined ? {} : { cursor }),
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
}
