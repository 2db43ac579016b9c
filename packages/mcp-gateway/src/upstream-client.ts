import { Client } from '@modelcontextprotocol/client';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { createBoundedFetch } from './bounded-fetch.js';
import type { UpstreamConfig } from './config.js';
import type { GatewayError } from './errors.js';
import type { UpstreamErrors } from './upstream-errors.js';
import { transportOf } from './upstream-transport.js';

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
