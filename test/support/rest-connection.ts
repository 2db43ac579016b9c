import { once } from 'node:events';
import http from 'node:http';
import { connect } from 'node:net';
import type { RestClient } from './rest-client.js';

/** One HTTP/1.1 connection, and so calls at one process. It carries one call at a time, and is never opened again. */
export interface RestConnection {
  /** Rejects when the connection breaks. */
  readonly call: RestClient;
  /** The port of this end. */
  readonly localPort: number | undefined;
  close(): void;
}

export async function openRestConnection(url: string): Promise<RestConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const { localPort } = socket;
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  let isTaken = false;
  Object.assign(agent, {
    createConnection() {
      if (isTaken) throw new Error('the connection is closed');
      isTaken = true;
      return socket;
    },
  });
  return {
    async call(method, path, body, headers = {}) {
      const request = http.request(url + path, {
        method,
        agent,
        headers: { 'content-type': 'application/json', ...headers },
      });
      request.end(body === undefined ? undefined : JSON.stringify(body));
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      let text = '';
      for await (const chunk of response) text += chunk;
      const received = new Headers();
      for (const [name, value] of Object.entries(response.headers)) received.set(name, String(value));
      const isJson = received.get('content-type')?.startsWith('application/json') === true;
      return {
        status: response.statusCode ?? 0,
        headers: received,
        body: isJson ? JSON.parse(text) : text,
      };
    },
    localPort,
    close: () => agent.destroy(),
  };
}
