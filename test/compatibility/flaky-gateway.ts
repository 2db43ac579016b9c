import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** What happens to one request on its way. */
export type Mishap =
  /** The gateway answers by itself. */
  | { readonly answer: number }
  /** The service answers, and the answer is lost. */
  | 'lost answer'
  /** The connection breaks before the request gets through. */
  | 'lost request';

export interface FlakyGateway {
  readonly url: string;
  /** What happens to the next requests, one after another; those after them get through. */
  plan(...mishaps: readonly Mishap[]): void;
  stop(): Promise<void>;
}

/** A gateway in front of a service that fails as planned. */
export async function startFlakyGateway(serviceUrl: string): Promise<FlakyGateway> {
  const planned: Mishap[] = [];
  const { hostname, port } = new URL(serviceUrl);
  const server = http.createServer((request, response) => {
    const mishap = planned.shift();
    if (mishap === 'lost request') return void request.socket.destroy();
    if (mishap !== undefined && mishap !== 'lost answer') {
      request.resume();
      return void response.writeHead(mishap.answer, { 'content-type': 'text/plain' }).end('gateway');
    }
    const { method, url: path, headers } = request;
    const onward = http.request({ hostname, port, method, path, headers, agent: false }, (answer) => {
      if (mishap === 'lost answer') {
        // The whole answer has arrived here: whatever the service does is done.
        answer.resume().once('end', () => request.socket.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.once('error', () => request.socket.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    plan: (...mishaps) => void planned.push(...mishaps),
    stop() {
      server.closeAllConnections();
      return new Promise<void>((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
      });
    },
  };
}
