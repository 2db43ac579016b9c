import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';

/** A request that a receiver has got. */
export interface Received {
  readonly id: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Answers a request; `received` is complete. */
export type Answer = (received: Received, reply: ServerResponse) => void;

/** A real HTTP server that receives notifications. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  answer: Answer;
  close(): Promise<void>;
}

export const ok: Answer = (_received, reply) => {
  reply.writeHead(204).end();
};

export async function openReceiver(answer: Answer = ok): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, reply) => {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    reply.on('error', () => {});
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = {
        id: String(request.headers['webhook-id'] ?? ''),
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      received.push(one);
      receiver.answer(one, reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}

/** The signatures of a request that a secret has made, as a receiver of Standard Webhooks verifies them. */
export function verified({ headers, body }: Received, secret: string): string[] {
  expect(secret.startsWith('whsec_')).toBe(true);
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const wanted = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  return String(headers['webhook-signature'])
    .split(' ')
    .filter((one) => one === wanted);
}
