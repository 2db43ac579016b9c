import { Code, ConnectError } from '@connectrpc/connect';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AddressOptions, type Client, createClient } from '../../packages/client/src/node.js';
import { until } from '../support/until.js';
import { asking, PATIENT_MS } from './client-harness.js';
import { drainingError, type ScriptedService, startScriptedService } from './scripted-service.js';

let service: ScriptedService;
const clients: Client[] = [];
beforeEach(async () => {
  service = await startScriptedService();
});
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
  service.close();
});

function connect(options: Partial<AddressOptions> = {}): Client {
  const client = createClient({ baseUrl: service.url, timeoutMs: PATIENT_MS, maxBatch: 1, ...options });
  clients.push(client);
  return client;
}

const waitFor = (condition: () => boolean) => until(condition, (holds) => holds);
/** Texts of the evaluations received. */
const received = () =>
  service.evaluations.map(
    ({ stepForm }) => JSON.parse(Buffer.from(stepForm.value as Uint8Array).toString()).input.text,
  );

describe('a client with several connections', () => {
  it('spreads its evaluations over all of them', async () => {
    const client = connect({ connections: 3 });
    for (let round = 0; round < 30; round += 1) {
      await Promise.all([client.evaluate(asking('good')), client.evaluate(asking('bad'))]);
    }
    expect(service.connections.length).toBe(3);
    expect(new Set(service.streams.map(({ connection }) => connection)).size).toBe(3);
  });

  it('opens them one after the other', async () => {
    service.answers = false;
    const client = connect({ connections: 3 });
    const waiting = Promise.all(Array.from({ length: 20 }, () => client.evaluate(asking('good'))));
    await waitFor(() => service.evaluations.length === 20);
    // None has answered, so that no second one is opened.
    expect(service.connections.length).toBe(1);
    service.answers = true;
    for (const stream of service.streams) stream.answer();
    await waiting;
  });

  it('continues over the others at once when one breaks', async () => {
    const client = connect({ connections: 2 });
    await until(
      async () => {
        await client.evaluate(asking('good'));
        return service.connections.length;
      },
      (count) => count === 2,
    );
    service.connections[0]?.destroy();
    const results = await Promise.all(Array.from({ length: 50 }, () => client.evaluate(asking('bad'))));
    expect(results.every(({ evaluated, isSafe }) => evaluated && !isSafe)).toBe(true);
  });

  it.each([0, 101, 1.5, Number.NaN])('refuses the number %s', (connections) => {
    expect(() => connect({ connections })).toThrow('connections must be a whole number from 1 to 100');
  });
});

describe('a client whose service drains', () => {
  /** An evaluation that is open on the first stream. */
  async function openEvaluation(client: Client) {
    service.answers = false;
    const pending = client.evaluate(asking('first'));
    await waitFor(() => service.streams[0]?.open.size === 1);
    service.answers = true;
    return pending;
  }

  it.each([
    ['a notice on the stream', () => service.streams[0]?.notice(10_000)],
    ['GOAWAY', () => service.connections[0]?.close()],
  ])(
    'sends what follows over another connection after %s, and waits for open answers',
    async (_what, drain) => {
      const client = connect();
      await client.evaluate(asking('warm'));
      service.answers = false;
      const pending = client.evaluate(asking('first'));
      await waitFor(() => service.streams[0]?.open.size === 1);
      service.answers = true;
      drain();
      await waitFor(() => service.streams[0]?.isHalfClosed === true);
      expect(await client.evaluate(asking('second'))).toMatchObject({ evaluated: true, isSafe: true });
      expect(service.connections.length).toBe(2);
      expect(service.streams.map(({ connection }) => connection)).toEqual([0, 1]);
      service.streams[0]?.answer();
      expect(await pending).toMatchObject({ evaluated: true, isSafe: true });
      // Nothing was sent twice.
      expect(received()).toEqual(['warm', 'first', 'second']);
      await waitFor(
        () => service.connections[0]?.destroyed === true || service.connections[0]?.closed === true,
      );
    },
  );

  it('sends again what is left open at the end of the stream, and delivers each result once', async () => {
    const client = connect();
    await client.evaluate(asking('warm'));
    service.answers = false;
    let delivered = 0;
    const pending = client.evaluate(asking('bad')).then((evaluation) => {
      delivered += 1;
      return evaluation;
    });
    await waitFor(() => service.streams[0]?.open.size === 1);
    service.answers = true;
    service.streams[0]?.fail(drainingError());
    expect(await pending).toMatchObject({ evaluated: true, isSafe: false });
    expect(received()).toEqual(['warm', 'bad', 'bad']);
    expect(delivered).toBe(1);
    expect(service.connections.length).toBe(2);
  });

  it('loses and doubles nothing while connections are ended again and again', async () => {
    const client = connect({ connections: 3 });
    const count = 3_000;
    const requests = Array.from({ length: count }, (_, index) => asking(index % 3 === 0 ? 'bad' : 'good'));
    const seen = new Map<number, boolean>();
    let turn = 0;
    for await (const result of client.evaluateStream(requests)) {
      if (!('evaluation' in result)) throw result.error;
      expect(seen.has(result.index)).toBe(false);
      seen.set(result.index, result.evaluation.isSafe);
      if (seen.size % 100 !== 0) continue;
      const stream = service.streams.at(-1);
      const ends = [
        () => stream?.notice(1_000),
        () => service.connections.at(-1)?.close(),
        () => stream?.fail(drainingError()),
        () => service.connections.at(-1)?.destroy(),
        () => stream?.fail(new ConnectError('gone', Code.Unavailable)),
      ];
      ends[turn++ % ends.length]?.();
    }
    expect(seen.size).toBe(count);
    expect([...seen].filter(([index, isSafe]) => isSafe === (index % 3 === 0))).toEqual([]);
  });

  it('takes no notice for an answer', async () => {
    const client = connect();
    const pending = openEvaluation(client);
    await waitFor(() => service.streams[0]?.open.size === 1);
    service.streams[0]?.notice(10_000);
    await waitFor(() => service.streams[0]?.isHalfClosed === true);
    service.streams[0]?.answer();
    expect(await pending).toMatchObject({ evaluated: true, isSafe: true });
    expect(received()).toEqual(['first']);
  });
});

describe('a client whose service can cancel', () => {
  it('tells it when nobody waits for a message any more', async () => {
    const client = connect();
    await client.serverInfo();
    service.answers = false;
    const leaving = new AbortController();
    const pending = client.evaluate(asking('first'), { signal: leaving.signal });
    await waitFor(() => service.streams[0]?.open.size === 1);
    leaving.abort(new Error('no longer needed'));
    await expect(pending).rejects.toThrow('no longer needed');
    await waitFor(() => service.streams[0]?.cancelled.length === 1);
    expect([...(service.streams[0]?.open ?? [])]).toEqual(service.streams[0]?.cancelled);
    service.answers = true;
    expect(await client.evaluate(asking('second'))).toMatchObject({ evaluated: true, isSafe: true });
  });
});
