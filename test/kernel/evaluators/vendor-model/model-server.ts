import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request that the model got. */
export interface ModelRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
}

/** Answers a request, or leaves it alone. */
export type Behaviour = (response: http.ServerResponse, request: ModelRequest) => void;

/** A model behind a real HTTP server. */
export interface ModelServer {
  readonly url: string;
  readonly requests: ModelRequest[];
  /** Requests that were not answered yet and whose connection is open. */
  open(): number;
  /** What it does from now on. */
  behave(behaviour: Behaviour): void;
  /** Ends all connections. */
  hangUp(): void;
  stop(): Promise<void>;
}

/** Answers with JSON. */
export function json(value: unknown, status = 200, headers: http.OutgoingHttpHeaders = {}): Behaviour {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof value === 'string' ? value : JSON.stringify(value));
  };
}

/** Never answers. */
export const silent: Behaviour = () => undefined;

/** Starts a model; it goes with the test. */
export async function startModel(behaviour: Behaviour): Promise<ModelServer> {
  const model = await openModel(behaviour);
  onTestFinished(model.stop);
  return model;
}

/** Starts a model, which the caller stops. */
export async function openModel(behaviour: Behaviour): Promise<ModelServer> {
  let current = behaviour;
  let open = 0;
  const requests: ModelRequest[] = [];
  const server = http.createServer((request, response) => {
    open += 1;
    response.once('close', () => {
      open -= 1;
    });
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const seen = { method, url, headers, body: JSON.parse(Buffer.concat(chunks).toString()) };
      requests.push(seen);
      current(response, seen);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    open: () => open,
    behave(next) {
      current = next;
    },
    hangUp: () => server.closeAllConnections(),
    stop,
  };
}
