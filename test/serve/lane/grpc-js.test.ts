import { once } from 'node:events';
import { type Client, Metadata, type ServiceError } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grpcJsClient } from '../../support/grpc-js-client.js';
import type { TestService } from '../../support/service.js';
import { AGENT, KEY } from './conformance-cases.js';
import { startConforming } from './conforming-service.js';

type Rpcs = Client & Record<string, (...parameters: unknown[]) => unknown>;

interface Outcome {
  readonly code: number;
  readonly details: string;
  readonly reply: unknown;
  readonly initial: Record<string, unknown>;
  readonly trailing: Record<string, unknown>;
}

const step = (input: unknown) => Buffer.from(JSON.stringify({ type: 'llm', name: 'answer', input }));
const request = (input: unknown, more: object = {}) => ({
  agent_name: AGENT,
  stage: 'STAGE_PRE',
  step_json: step(input),
  ...more,
});
const metadata = (entries: Record<string, string> = {}): Metadata => {
  const made = new Metadata();
  for (const [name, value] of Object.entries({ 'x-api-key': KEY, ...entries })) made.set(name, value);
  return made;
};

function unary(
  client: Rpcs,
  rpc: string,
  message: object,
  sent = metadata(),
  options = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    let initial: Record<string, unknown> = {};
    let outcome: Pick<Outcome, 'code' | 'details' | 'reply'> | undefined;
    let trailing: Metadata | undefined;
    const done = () => {
      if (outcome !== undefined && trailing !== undefined) {
        resolve({ ...outcome, initial, trailing: shown(trailing) });
      }
    };
    const call = client[rpc]?.(message, sent, options, (error: ServiceError | null, reply: unknown) => {
      outcome = { code: error?.code ?? 0, details: error?.details ?? '', reply: withoutIds(reply) };
      done();
    }) as NodeJS.EventEmitter;
    call.on('metadata', (found: Metadata) => {
      initial = shown(found);
    });
    call.on('status', (status: { metadata: Metadata }) => {
      trailing = status.metadata;
      done();
    });
  });
}

async function stream(
  client: Rpcs,
  messages: readonly object[],
): Promise<{ code: number; replies: unknown[] }> {
  const call = client.EvaluateStream?.(metadata()) as NodeJS.ReadWriteStream;
  const code = statusOf(call);
  const replies: unknown[] = [];
  call.on('data', (reply) => replies.push(withoutIds(reply)));
  for (const message of messages) call.write(message as never);
  call.end();
  return { code: await code, replies };
}

/** The status of a stream; a bad one is an error event, too. */
function statusOf(call: NodeJS.EventEmitter): Promise<number> {
  call.on('error', () => {});
  return new Promise((resolve) => call.once('status', ({ code }: { code: number }) => resolve(code)));
}

function shown(found: Metadata): Record<string, unknown> {
  const { date: _, ...rest } = found.getMap();
  const id = rest['x-request-id'];
  if (typeof id === 'string' && id.length === 36) rest['x-request-id'] = 'an id';
  return rest;
}

function withoutIds(reply: unknown): unknown {
  return JSON.parse(JSON.stringify(reply ?? null), (key, value: unknown) =>
    key === 'control_execution_id' || key === 'decision_id' ? 'an id' : value,
  );
}

const BIG = 'x'.repeat(200_000);
/** What is done with a client, and the status it ends with. */
const CASES: readonly [string, number, (client: Rpcs) => Promise<{ code: number }>][] = [
  ['a safe step', 0, (client) => unary(client, 'Evaluate', request('hello'))],
  [
    'an unsafe step, in full',
    0,
    (client) => unary(client, 'Evaluate', request('bad', { detail: 'DETAIL_FULL' })),
  ],
  [
    'an unknown agent',
    5,
    (client) => unary(client, 'Evaluate', request('x', { agent_name: 'nobody-at-all' })),
  ],
  ['an empty request', 3, (client) => unary(client, 'Evaluate', {})],
  [
    'an unknown key',
    16,
    (client) => unary(client, 'Evaluate', request('x'), metadata({ 'x-api-key': 'other' })),
  ],
  [
    'a request id',
    0,
    (client) => unary(client, 'Evaluate', request('x'), metadata({ 'x-request-id': 'mine' })),
  ],
  ['a large request', 8, (client) => unary(client, 'Evaluate', request(BIG))],
  [
    'a deadline',
    0,
    (client) => unary(client, 'Evaluate', request('x'), metadata(), { deadline: Date.now() + 20_000 }),
  ],
  [
    'a batch',
    0,
    (client) =>
      unary(client, 'EvaluateBatch', { evaluations: [request('x'), request('bad'), {}, request('y')] }),
  ],
  ['an empty batch', 3, (client) => unary(client, 'EvaluateBatch', {})],
  [
    'a stream',
    0,
    (client) =>
      stream(client, [
        { id: 'a', evaluations: [request('x')] },
        { id: 'b', evaluations: [request('bad'), {}] },
        { id: 'c' },
      ]),
  ],
  [
    'a long stream',
    0,
    (client) =>
      stream(
        client,
        Array.from({ length: 500 }, (_, at) => ({ id: `${at}`, evaluations: [request('x')] })),
      ),
  ],
  ['a stream without messages', 0, (client) => stream(client, [])],
  [
    'a stream with a large message',
    8,
    (client) => stream(client, [{ id: 'a', evaluations: [request(BIG)] }]),
  ],
];

describe('a grpc-js client', () => {
  let services: TestService[];
  let clients: Rpcs[];
  beforeAll(async () => {
    services = await Promise.all([startConforming(true), startConforming(false)]);
    clients = services.map((service) =>
      grpcJsClient(service, 'enforcement/v1/evaluation_service.proto', 'enforcement.v1.EvaluationService'),
    );
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    await Promise.all(services.map((service) => service.stop()));
  });

  it.each(CASES)('sees the same of %s with the lane and without', async (_what, code, act) => {
    const [seen, reference] = await Promise.all(clients.map(act));
    expect(seen?.code).toBe(code);
    expect(seen).toEqual(reference);
  });

  it('may cancel a stream at any time', async () => {
    for (const client of clients) {
      const call = client.EvaluateStream?.(metadata()) as NodeJS.ReadWriteStream & { cancel(): void };
      const code = statusOf(call);
      call.write({ id: 'a', evaluations: [request('x')] } as never);
      await once(call, 'data');
      call.cancel();
      expect(await code).toBe(1);
      expect((await unary(client, 'Evaluate', request('x'))).code).toBe(0);
    }
  });
});
