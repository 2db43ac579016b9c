import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import type { Client as ServiceClient } from '../../packages/client/src/index.js';
import { createClient } from '../../packages/client/src/node.js';
import {
  type Gateway,
  type Log,
  readGatewayConfig,
  startGateway,
} from '../../packages/mcp-gateway/src/index.js';

/** Versions that clients of the tests speak. */
export const VERSIONS = ['2026-07-28', '2025-11-25'] as const;
export type Version = (typeof VERSIONS)[number];

export interface TestGateway extends Gateway {
  readonly url: string;
  /** What it has told, as `level message`. */
  readonly lines: string[];
}

/** Starts a gateway for a file of settings, as members of an object. It ends with the test, or with the file. */
export async function startTestGateway(
  service: ServiceClient | string,
  settings: Record<string, unknown>,
  stateKey?: string,
): Promise<TestGateway> {
  const listen = { port: 0, ...(settings.listen as object | undefined) };
  // A busy machine is no matter of the tests that do not ask for it.
  const limits = { timeout_seconds: 300, ...(settings.service as object | undefined) };
  const upstreams = (settings.upstreams as object[]).map((one) => ({ answer_seconds: 300, ...one }));
  const text = JSON.stringify({ ...settings, listen, service: limits, upstreams });
  const config = readGatewayConfig(text, 'gateway.yaml', {});
  const client = typeof service === 'string' ? createClient({ baseUrl: service }) : service;
  const lines: string[] = [];
  const log: Log = (level, message) => void lines.push(`${level} ${message}`);
  const gateway = await startGateway({ config, client, version: '1.0.0', log, stateKey });
  const { url = '' } = gateway;
  return {
    ...gateway,
    url,
    lines,
    async close() {
      await gateway.close();
      if (typeof service === 'string') client.close();
    },
  };
}

/** A client of the official SDK that speaks one version; it is closed with the test. */
export async function mcpClient(
  url: string,
  version: Version,
  { headers = {}, ...options }: ClientOptions & { headers?: Record<string, string> } = {},
): Promise<Client> {
  const client = new Client(
    { name: 'test-client', version: '1.0.0' },
    {
      versionNegotiation: { mode: version === '2026-07-28' ? { pin: version } : 'legacy' },
      inputRequired: { autoFulfill: false },
      ...options,
    },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  onTestFinished(() => client.close());
  return client;
}

/** The first text of the result of a tool. */
export function textOf(result: unknown): string {
  const { content } = result as { readonly content?: readonly { readonly text?: string }[] };
  return content?.[0]?.text ?? '';
}
