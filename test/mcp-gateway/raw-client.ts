import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { Version } from './gateway.support.js';

/** What came of a request that was sent as it is. */
export interface RawReply {
  readonly status: number;
  /** The text of the answer; of a stream of events, that of the last one. */
  readonly text: string;
  /** All texts of a stream of events. */
  readonly texts: readonly string[];
}

export interface RawClient {
  /** Sends params, and further members of the message, as JSON texts. */
  ask(method: string, params: string, id?: string): Promise<RawReply>;
  /** Sends a body as it is. */
  post(body: string | Buffer, headers?: Record<string, string>): Promise<RawReply>;
}

/** A client that sends texts as they are given. */
export async function rawClient(url: string, version: Version): Promise<RawClient> {
  const isModern = version === '2026-07-28';
  let session: string | undefined;
  async function post(body: string | Buffer, headers: Record<string, string> = {}): Promise<RawReply> {
    const sent = httpRequest(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
        ...headers,
      },
    });
    sent.end(body);
    const [reply] = await once(sent, 'response');
    session ??= reply.headers['mcp-session-id'];
    let text = '';
    for await (const chunk of reply) text += chunk;
    const events = [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => data);
    return { status: reply.statusCode, text: events.at(-1) ?? text, texts: events };
  }
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
    'io.modelcontextprotocol/logLevel': 'debug',
  };
  const client: RawClient = {
    post,
    ask(method, params, id = '7') {
      const name = /"name":"([^"]+)"/.exec(params)?.[1];
      const own = isModern
        ? `"_meta":${JSON.stringify({ ...meta, progressToken: 3 })}`
        : '"_meta":{"progressToken":3}';
      const whole = params === '{}' ? `{${own}}` : `${params.slice(0, -1)},${own}}`;
      return post(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${whole}}`, {
        'mcp-protocol-version': version,
        ...(isModern ? { 'mcp-method': method } : {}),
        ...(isModern && name !== undefined ? { 'mcp-name': name } : {}),
      });
    },
  };
  if (!isModern) {
    const info = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: info }));
  }
  return client;
}
