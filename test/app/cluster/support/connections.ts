import { once } from 'node:events';
import http from 'node:http';

export interface Reply {
  readonly status: number | undefined;
  readonly headers: http.IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  readonly body: any;
}

type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Reply>;

/** Calls over one connection that stays open, and so to one process. */
export function onConnection(url: string): Call & { readonly closed: Promise<void>; close(): void } {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  let onClosed: () => void;
  const closed = new Promise<void>((resolve) => {
    onClosed = resolve;
  });
  const call: Call = async (...words) => {
    const reply = await send(agent, url, ...words);
    reply.socket?.once('close', () => onClosed());
    return reply;
  };
  return Object.assign(call, { closed, close: () => agent.destroy() });
}

/** One call on a connection of its own. */
export function request(url: string, ...words: Parameters<Call>): Promise<Reply> {
  return send(false, url, ...words);
}

async function send(
  agent: http.Agent | false,
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply & { readonly socket: NodeJS.EventEmitter | null }> {
  const call = http.request(url + path, {
    method,
    agent,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
  });
  call.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(call, 'response')) as [http.IncomingMessage];
  const { socket } = response;
  let text = '';
  for await (const chunk of response) text += chunk;
  const isJson = response.headers['content-type']?.startsWith('application/json') === true;
  const read = isJson ? JSON.parse(text) : text;
  return { status: response.statusCode, headers: response.headers, body: read, socket };
}
