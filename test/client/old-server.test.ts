import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Http2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createFileRegistry, type DescService, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import type { ServiceImpl } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, createClient, DeniedError } from '../../packages/client/src/node.js';
import { openedInTest } from '../support/opened.js';
import { until } from '../support/until.js';
import { asking, PATIENT_MS } from './client-harness.js';

const IMAGE = readFileSync(path.resolve(import.meta.dirname, '../../proto/landed.binpb'));
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, IMAGE));

function landedService(name: string): DescService {
  const service = registry.getService(`enforcement.v1.${name}`);
  if (service === undefined) throw new Error(`the last release has no ${name}`);
  return service;
}

interface LandedMessage {
  readonly id: string;
  readonly evaluations: readonly { readonly stepForm: { readonly value: Uint8Array } }[];
}

/** A service that knows the proto of the last release and nothing later, over HTTP/2. */
async function startOldService() {
  const sessions = new Set<Http2Session>();
  const received: LandedMessage[] = [];
  const resultsOf = ({ evaluations }: LandedMessage) =>
    evaluations.map(({ stepForm }) => {
      const text = Buffer.from(stepForm.value).toString();
      const isSafe = !text.includes('"bad"') && !text.includes('"vague"');
      const action = text.includes('"bad"') ? 1 : 2;
      const matches = isSafe ? [] : [{ controlName: 'old', action, result: { matched: true } }];
      return { outcome: { case: 'verdict', value: { isSafe, confidence: 1, matches } } };
    });
  /** Texts that the service answers only when told to. */
  let isHeld = false;
  let release: () => void = () => {};
  const evaluations = {
    evaluateBatch: (request: LandedMessage) => ({ results: resultsOf(request) }),
    async *evaluateStream(requests: AsyncIterable<LandedMessage>) {
      for await (const request of requests) {
        received.push(request);
        if (isHeld) await new Promise<void>((resolve) => (release = resolve));
        yield { id: request.id, results: resultsOf(request) };
      }
    },
  };
  const server = createServer(
    connectNodeAdapter({
      routes: (router) => {
        router.service(
          landedService('EvaluationService'),
          evaluations as unknown as ServiceImpl<DescService>,
        );
        router.service(landedService('AgentService'), {});
      },
    }),
  );
  server.on('session', (session) => sessions.add(session));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    hold() {
      isHeld = true;
    },
    release() {
      isHeld = false;
      release();
    },
    close() {
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
}

describe('a client whose service is of the last release', () => {
  let service: Awaited<ReturnType<typeof startOldService>>;
  const clients = openedInTest<Client>((one) => one.close());
  beforeAll(async () => {
    service = await startOldService();
  });
  afterAll(() => service.close());
  function connect(): Client {
    const client = createClient({ baseUrl: service.url, timeoutMs: PATIENT_MS, connections: 2 });
    clients.push(client);
    return client;
  }

  it('takes its verdicts, which have no outcome', async () => {
    const client = connect();
    const outcomes = await Promise.all(['good', 'bad', 'vague'].map((text) => client.evaluate(asking(text))));
    expect(outcomes).toMatchObject([
      { isSafe: true, outcome: 'allow' },
      { isSafe: false, outcome: 'deny' },
      { isSafe: false, outcome: 'steer' },
    ]);
    const tool = client.guard(async (mail: { text: string }) => mail.text, {
      agent: 'some-agent-1',
      step: 'send',
    });
    expect(await tool({ text: 'good' })).toBe('good');
    await expect(tool({ text: 'bad' })).rejects.toBeInstanceOf(DeniedError);
  });

  it('sends what the service does not know, and is answered', async () => {
    const more = { sessionId: 's', stepId: 't', timeoutMs: PATIENT_MS, accepts: ['ask'] as const };
    const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };
    for (const headers of [undefined, { 'x-tenant': 'blue' }]) {
      const options = { ...more, ...trace, headers };
      expect(await connect().evaluate(asking('good'), options)).toMatchObject({
        isSafe: true,
        decisionId: '',
      });
      expect(await connect().evaluate(asking('bad'), options)).toMatchObject({ isSafe: false });
    }
  });

  it('learns that it has no features', async () => {
    const info = await connect().serverInfo();
    expect(info).toEqual({ version: undefined, features: new Set(), maxMessageBytes: undefined });
  });

  it('does not send it that an evaluation is cancelled', async () => {
    const client = connect();
    service.received.length = 0;
    service.hold();
    const leaving = new AbortController();
    const pending = client.evaluate(asking('good'), { signal: leaving.signal });
    await until(
      () => service.received.length,
      (count) => count === 1,
    );
    leaving.abort(new Error('no longer needed'));
    await expect(pending).rejects.toThrow('no longer needed');
    await client.serverInfo();
    service.release();
    expect(await client.evaluate(asking('bad'))).toMatchObject({ isSafe: false });
    expect(service.received.every(({ evaluations }) => evaluations.length > 0)).toBe(true);
  });
});
