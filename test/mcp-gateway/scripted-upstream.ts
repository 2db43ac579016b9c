import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A message of the gateway to a server of a test. */
export interface Asked {
  readonly method: string;
  readonly id: unknown;
  /** As it came. */
  readonly text: string;
  readonly params: { readonly name?: string; readonly cursor?: string };
  readonly request: IncomingMessage;
}

/** What a server answers: members of its answer as JSON text; undefined for the usual, null if the script has answered itself. */
export type Script = (asked: Asked, response: ServerResponse) => string | undefined | null;

export interface Scripted {
  readonly url: string;
  readonly asked: Asked[];
  /** How many requests there were of a method. */
  count(method: string): number;
  /** Ends it; it can be started again on the same port. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

const TOOL = '{"name":"run","inputSchema":{"type":"object","properties":{"n":{"minimum":0.0}}}}';
const USUAL: { readonly [method: string]: string } = {
  initialize:
    '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"logging":{}},"serverInfo":{"name":"s","version":"1"}}',
  'tools/list': `"result":{"tools":[${TOOL}]}`,
  'tools/call': '"result":{"content":[{"type":"text","text":"ran"}]}',
  'prompts/list': '"result":{"prompts":[{"name":"ask"}]}',
};

/** A server over HTTP that answers as a test says, with the texts that it gives. It ends with the test, or the suite. */
export async function startScripted(
  script: Script = () => undefined,
  framing: 'json' | 'sse' = 'json',
  ends: (end: () => Promise<void>) => void = onTestFinished,
): Promise<Scripted> {
  const asked: Asked[] = [];
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += chunk;
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method, params = {} } = JSON.parse(text);
    const one: Asked = { method, id, text, params, request };
    asked.push(one);
    const answer = script(one, response);
    if (answer === null) return;
    if (id === undefined) return void response.writeHead(202).end();
    const members = answer ?? USUAL[method] ?? '"error":{"code":-32601,"message":"there is no such method"}';
    const message = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${members}}`;
    response.writeHead(200, {
      'content-type': framing === 'json' ? 'application/json' : 'text/event-stream',
      ...(method === 'initialize' ? { 'mcp-session-id': `session-${asked.length}` } : {}),
    });
    // In two lines of data, which are one text.
    response.end(
      framing === 'json' ? message : `event: message\r\ndata: ${message.replace(',', ',\ndata:')}\r\n\r\n`,
    );
  }
  const open = () =>
    createServer((request, response) => void serve(request, response).catch(() => response.destroy()));
  let http = open();
  async function start(port = 0): Promise<number> {
    http = open();
    http.listen(port, '127.0.0.1');
    await once(http, 'listening');
    return (http.address() as AddressInfo).port;
  }
  const port = await start();
  async function stop(): Promise<void> {
    http.close();
    http.closeAllConnections();
  }
  ends(stop);
  return {
    url: `http://127.0.0.1:${port}/`,
    asked,
    count: (method) => asked.filter((one) => one.method === method).length,
    stop,
    start: async () => void (await start(port)),
  };
}
