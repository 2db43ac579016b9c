import { Code, ConnectError } from '@connectrpc/connect';
import { createGrpcWebTransport } from '@connectrpc/connect-web';
import { beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../packages/client/src/node.js';
import { createClient as createBrowserClient } from '../../packages/client/src/web.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { suiteService, testService } from '../support/service-suite.js';
import { AGENT, asking, PATIENT_MS, seedAgent, watchedClient } from './client-harness.js';

describe('a client', () => {
  const service = suiteService({ SERVICE_MAX_BODY_BYTES: '4000000' });
  beforeAll(async () => {
    await seedAgent(service.url);
  });

  it('reports whether a step is safe, and why not', async () => {
    const client = createClient({ baseUrl: service.url, agent: AGENT, timeoutMs: PATIENT_MS });
    const { stage, step } = asking('a bad word');
    const denied = await client.evaluate({ stage, step });
    expect(denied).toMatchObject({ evaluated: true, isSafe: false, verdict: { isSafe: false } });
    expect(denied.reason).toContain('no-bad');
    expect(await client.evaluate(asking('fine'))).toMatchObject({
      evaluated: true,
      isSafe: true,
      reason: undefined,
    });
    client.close();
  });

  it.each(RPC_PROTOCOLS)('works over a given transport: %s', async (protocol) => {
    const client = createBrowserClient({
      transport: rpcTransport(protocol, service.url),
      timeoutMs: PATIENT_MS,
    });
    const texts = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? 'bad' : 'good'));
    const results = await Promise.all(texts.map((text) => client.evaluate(asking(text))));
    expect(results.map((one) => one.isSafe)).toEqual(texts.map((text) => text === 'good'));
    client.close();
  });

  it('works over the gRPC-Web transport of browsers', async () => {
    const transport = createGrpcWebTransport({ baseUrl: service.url });
    const client = createBrowserClient({ transport, agent: AGENT, timeoutMs: PATIENT_MS });
    const texts = ['bad', 'good', 'bad'];
    const results = await Promise.all(texts.map((text) => client.evaluate(asking(text))));
    expect(results.map((one) => one.isSafe)).toEqual([false, true, false]);
    client.close();
    const away = createBrowserClient({
      transport: createGrpcWebTransport({ baseUrl: 'http://127.0.0.1:1' }),
      timeoutMs: 200,
    });
    expect(await away.evaluate(asking('good'))).toMatchObject({ evaluated: false, isSafe: false });
    away.close();
  });

  it('gathers what is requested at the same time into messages of one stream', async () => {
    const { client, traffic } = watchedClient(service.url);
    await Promise.all(Array.from({ length: 100 }, (_, index) => client.evaluate(asking(`${index}`))));
    expect(traffic.calls).toEqual(['EvaluateStream']);
    expect(traffic.messages).toEqual([32, 32, 32, 4]);
    await client.evaluate(asking('alone'));
    expect(traffic.calls).toEqual(['EvaluateStream']);
    expect(traffic.messages.at(-1)).toBe(1);
    client.close();
  });

  it('gathers over calls of EvaluateBatch where a transport cannot stream', async () => {
    const { client, traffic } = watchedClient(service.url, { streaming: false } as object);
    await Promise.all(Array.from({ length: 40 }, (_, index) => client.evaluate(asking(`${index}`))));
    expect(traffic.calls).toEqual(['EvaluateBatch', 'EvaluateBatch']);
    expect(traffic.messages).toEqual([32, 8]);
    client.close();
  });

  it('makes many calls at the same time without a warning', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    const calling = createClient({
      transport: rpcTransport('gRPC', service.url),
      maxBatch: 1,
      timeoutMs: PATIENT_MS,
    });
    const all = Array.from({ length: 50 }, () => calling.evaluate(asking('good')));
    for (const one of await Promise.all(all)) expect(one).toMatchObject({ evaluated: true, isSafe: true });
    calling.close();
    process.off('warning', onWarning);
    expect(warnings.map(({ name }) => name)).not.toContain('MaxListenersExceededWarning');
  });

  it('has no more in flight than it may', async () => {
    const { client, traffic } = watchedClient(service.url, { maxInFlight: 3, maxBatch: 2 });
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) => client.evaluate(asking(`${index}`))),
    );
    expect(results.every((one) => one.isSafe)).toBe(true);
    expect(traffic.messages.slice(0, 2)).toEqual([2, 1]);
    expect(Math.max(...traffic.messages)).toBe(2);
    client.close();
  });

  it('lets one refused evaluation fail and answers the others of its message', async () => {
    const { client, traffic } = watchedClient(service.url);
    const [unknown, invalid, fine] = await Promise.allSettled([
      client.evaluate(asking('x', 'nobody-knows-me')),
      client.evaluate({ ...asking('x'), step: { name: 'send_mail', input: 'no object' } }),
      client.evaluate(asking('x')),
    ]);
    expect(unknown).toMatchObject({ status: 'rejected', reason: { code: Code.NotFound } });
    expect(invalid).toMatchObject({ status: 'rejected', reason: { code: Code.InvalidArgument } });
    expect(fine).toMatchObject({ status: 'fulfilled', value: { isSafe: true } });
    expect(traffic.messages).toEqual([3]);
    client.close();
  });

  it('lets a step that is too large fail by itself, whatever it was sent with', async () => {
    const client = createClient({ baseUrl: service.url, onUnavailable: 'allow', timeoutMs: PATIENT_MS });
    const evaluations = [
      ...Array.from({ length: 20 }, (_, index) => client.evaluate(asking(`${index} ${'x'.repeat(400_000)}`))),
      client.evaluate(asking('x'.repeat(5_000_000))),
    ];
    const results = await Promise.allSettled(evaluations);
    expect(results.pop()).toMatchObject({ status: 'rejected', reason: { code: Code.ResourceExhausted } });
    expect(results.every((one) => one.status === 'fulfilled' && one.value.isSafe)).toBe(true);
    client.close();
  });

  it('finds out which evaluation of a message is the one that the service does not take', async () => {
    const small = await testService({ SERVICE_MAX_BODY_BYTES: '2000' });
    await seedAgent(small.url);
    const client = createClient({ baseUrl: small.url, timeoutMs: PATIENT_MS });
    const texts = ['a', 'bad', 'x'.repeat(3_000), 'b'];
    const results = await Promise.allSettled(texts.map((text) => client.evaluate(asking(text))));
    expect(results).toMatchObject([
      { value: { isSafe: true } },
      { value: { isSafe: false } },
      { reason: { code: Code.ResourceExhausted } },
      { value: { isSafe: true } },
    ]);
    client.close();
  });

  it('sends integers beyond 2^53 with all digits', async () => {
    const client = createClient({ baseUrl: service.url, timeoutMs: PATIENT_MS });
    const step = { name: 'pay', input: { account: 12345678901234567890n, when: new Date(0) } };
    expect(await client.evaluate({ agent: AGENT, stage: 'pre', step })).toMatchObject({ isSafe: true });
    client.close();
  });

  it.each([
    ['a Map', { holder: new Map([['text', 'bad']]) }, 'input.holder'],
    ['a promise', { list: [Promise.resolve('bad')] }, 'input.list[0]'],
  ])('refuses %s, of which controls would see nothing', async (_what, input, path) => {
    const client = createClient({ baseUrl: service.url, timeoutMs: PATIENT_MS });
    const evaluation = client.evaluate({ agent: AGENT, stage: 'pre', step: { name: 'n', input } });
    await expect(evaluation).rejects.toThrow(path);
    await expect(evaluation).rejects.toBeInstanceOf(TypeError);
    client.close();
  });

  it('refuses a step that contains itself', async () => {
    const client = createClient({ baseUrl: service.url, timeoutMs: PATIENT_MS });
    const input: Record<string, unknown> = {};
    input.self = input;
    await expect(client.evaluate({ agent: AGENT, stage: 'pre', step: { name: 'n', input } })).rejects.toThrow(
      /deeper than 200/,
    );
    client.close();
  });

  it('requires a revision: per call, and from then on', async () => {
    const client = createClient({ baseUrl: service.url, timeoutMs: 400 });
    const patient = { timeoutMs: PATIENT_MS };
    const now = await client.evaluate(asking('x'), patient);
    const revision = now.evaluated ? now.verdict.revision : -1n;
    expect(await client.evaluate(asking('x'), { ...patient, minRevision: revision })).toMatchObject({
      isSafe: true,
    });
    const ahead = await client.evaluate(asking('x'), { minRevision: revision + 1_000n });
    expect(ahead).toMatchObject({ evaluated: false, isSafe: false });
    client.atLeast(revision + 1_000n);
    client.atLeast(1);
    expect(await client.evaluate(asking('x'))).toMatchObject({ evaluated: false, isSafe: false });
    await expect(client.evaluate(asking('x'), { minRevision: -1 })).rejects.toBeInstanceOf(RangeError);
    client.close();
  });

  it('abandons an evaluation when its signal aborts', async () => {
    const client = createClient({ baseUrl: service.url, timeoutMs: PATIENT_MS });
    const reason = new Error('the user left');
    await expect(client.evaluate(asking('x'), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const aborting = new AbortController();
    const waiting = client.evaluate(asking('x'), { signal: aborting.signal, minRevision: 1_000_000 });
    aborting.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    client.close();
  });

  it('rejects what waits when it is closed, also when it fails open', async () => {
    const client = createClient({ baseUrl: service.url, onUnavailable: 'allow', timeoutMs: PATIENT_MS });
    const waiting = client.evaluate(asking('x'), { minRevision: 1_000_000 });
    client.close();
    client.close();
    await expect(waiting).rejects.toMatchObject({ code: Code.Canceled });
    await expect(client.evaluate(asking('x'))).rejects.toBeInstanceOf(ConnectError);
  });

  it('reports at once what is wrong with its settings', () => {
    const baseUrl = service.url;
    expect(() => createClient({ baseUrl, maxBatch: 1_001 })).toThrow(/maxBatch/);
    expect(() => createClient({ baseUrl, maxInFlight: 0 })).toThrow(/maxInFlight/);
    expect(() => createClient({ baseUrl, timeoutMs: Number.NaN })).toThrow(/timeoutMs/);
    expect(() => createClient({ baseUrl, onUnavailable: 'open' as 'allow' })).toThrow(/onUnavailable/);
  });

  it('sends its key, and does not try again with a wrong one', async () => {
    const locked = await testService({ SERVICE_API_KEY_ENABLED: 'true', SERVICE_API_KEYS: 'the-key' });
    const right = createClient({ baseUrl: locked.url, apiKey: 'the-key', timeoutMs: PATIENT_MS });
    await expect(right.evaluate(asking('x'))).rejects.toMatchObject({ code: Code.NotFound });
    const wrong = createClient({
      baseUrl: locked.url,
      apiKey: 'another',
      onUnavailable: 'allow',
      timeoutMs: PATIENT_MS,
    });
    const results = await Promise.allSettled([wrong.evaluate(asking('x')), wrong.evaluate(asking('y'))]);
    for (const one of results) {
      expect(one).toMatchObject({ status: 'rejected', reason: { code: Code.Unauthenticated } });
    }
    right.close();
    wrong.close();
  });
});
