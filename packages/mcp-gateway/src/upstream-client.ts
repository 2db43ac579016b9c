import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { type FoldedName, inOtherCase } from '../../exact-json/src/index.js';
import { type BoundedFetch, createBoundedFetch, ResultTooLargeError } from './bounded-fetch.js';
import type { UpstreamConfig } from './config.js';
import { GatewayError, messageOf } from './errors.js';
import { exactMessages, exactStdio, type Unreadable } from './exact-transport.js';

/** Kinds of lists of an upstream. */
export type ListKind = 'tools' | 'resources' | 'prompts';

/** Nothing of the gateway is validated by JSON Schema: a validator would be made for each connection. */
export const NO_VALIDATOR = {
  getValidator: () => (input: unknown) => ({
    valid: true as const,
    data: input as never,
    errorMessage: undefined,
  }),
};

/** What callers are told of a server that fails. */
export type UpstreamErrors = ReturnType<typeof createUpstreamErrors>;

export function createUpstreamErrors(upstream: string, maxBytes: number) {
  const told = (reason: GatewayError['reason'], what: string, more = {}): GatewayError =>
    new GatewayError(reason, `the server "${upstream}" ${what}`, { upstream, ...more });
  const failed = (what: string): GatewayError => told('upstreamFailed', what);
  const tooLarge = (): GatewayError =>
    told('resultTooLarge', `answered with more than ${maxBytes} bytes; ask for less`, { maxBytes });
  return {
    tooLarge,
    /** It is not asked, because it did not answer in time before. */
    silent: () => told('upstreamTimeout', 'does not answer; it is asked again in the background'),
    /** Readers could differ in what it sent. Other errors quote it, which is not checked. */
    unreadable: ({ name, message }: Error) =>
      failed(`sent what cannot be checked${/^(?:Json|SyntaxError)/.test(name) ? `: ${message}` : ''}`),
    inOtherCase: (found: FoldedName) =>
      failed(`sent what cannot be checked: ${found.path} ${inOtherCase(found)}`),
    unanswered: () => failed('ended its answer before it was complete'),
    /** What is thrown for a failed request. */
    failureOf(error: unknown, signal: AbortSignal): unknown {
      if (error instanceof ResultTooLargeError) return tooLarge();
      if (signal.aborted) return signal.reason;
      if (error instanceof ProtocolError) return error;
      if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
        return told('upstreamTimeout', 'did not answer in time');
      return failed(`failed: ${messageOf(error)}`);
    },
  };
}

/** The way to an upstream: its address, or a process that is started with little of the environment of the gateway. */
function transportOf(
  { url, headers, command = '', args, env, cwd, max_result_bytes: maxBytes }: UpstreamConfig,
  fetch: BoundedFetch['fetch'],
  unreadable: Unreadable,
): StreamableHTTPClientTransport | StdioClientTransport {
  if (url === undefined) {
    const inherited = ['PATH', 'HOME', 'USER', 'LANG', 'TMPDIR'].flatMap((name): [string, string][] => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    });
    const transport = new StdioClientTransport({
      command,
      args,
      env: { ...Object.fromEntries(inherited), ...env },
      ...(cwd === undefined ? {} : { cwd }),
      stderr: 'inherit',
      maxBufferSize: maxBytes,
    });
    return exactStdio(transport, maxBytes, unreadable);
  }
  return exactMessages(
    new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers },
      fetch,
    }),
  );
}

/** The id of a message that is a request or an answer, of those that the gateway gives. */
function idOf(text: string | undefined): number | string | undefined {
  try {
    const { id } = JSON.parse(text ?? '') as { readonly id?: unknown };
    return typeof id === 'number' || typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}

/** The answer to a request with this body, in place of one that cannot be passed on. */
function answerTo(
  body: string | undefined,
  { code, message, data }: GatewayError,
): JSONRPCMessage | undefined {
  const id = idOf(body);
  return id === undefined ? undefined : { jsonrpc: '2.0', id, error: { code, message, data } };
}

interface UpstreamEvents {
  onListChanged(kind: ListKind): void;
  onLog(params: Record<string, unknown>): void;
  onClose(): void;
}

/** A client of the SDK for one connection to a server, which is not open yet. */
export function createUpstreamClient(
  config: UpstreamConfig,
  version: string,
  { tooLarge, unreadable, unanswered }: UpstreamErrors,
  { onListChanged, onLog, onClose }: UpstreamEvents,
) {
  const changed = (kind: ListKind) => ({
    autoRefresh: false,
    // Delayed here: the delay of the SDK begins again with each notification, so that many of them would be told never.
    debounceMs: 0,
    onChanged: () => onListChanged(kind),
  });
  const client = new Client(
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
  const bounded = createBoundedFetch(
    config.max_result_bytes,
    (body) => {
      const message = answerTo(String(body), tooLarge());
      if (message !== undefined) transport.onmessage?.(message);
    },
    (body, data, error) => {
      const message = answerTo(idOf(data) === undefined ? body : data, unreadable(error));
      return message && JSON.stringify(message);
    },
    (body, last) => {
      if (body === undefined || (last !== undefined && idOf(last) === idOf(body))) return undefined;
      const message = answerTo(body, unanswered());
      return message && JSON.stringify(message);
    },
  );
  const transport = transportOf(config, bounded.fetch, (line, error) => answerTo(line, unreadable(error)));
  client.setNotificationHandler('notifications/message', ({ params }) =>
    onLog(params as Record<string, unknown>),
  );
  client.onclose = () => {
    bounded.close();
    onClose();
  };
  return {
    client,
    connect: (timeoutMs: number): Promise<void> => client.connect(transport, { timeout: timeoutMs }),
    /** Ends it while it connects, too: until then the client does not know its connection. */
    async end(): Promise<void> {
      await transport.close();
      bounded.close();
    },
  };
}
