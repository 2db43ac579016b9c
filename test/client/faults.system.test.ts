import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Client, createClient } from '../../packages/client/src/node.js';
import { withGrowingTime } from '../support/growing-time.js';
import { compiled, spawnService } from '../support/service-process.js';
import { suiteService } from '../support/service-suite.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { asking, PATIENT_MS, seedAgent, watchedTransport } from './client-harness.js';
import { keepAsking } from './keep-asking.js';
import { startTcpBalancer } from './tcp-balancer.js';

describe('a client whose network fails', () => {
  let proxy: TcpProxy;
  let client: Client;
  const service = suiteService();
  beforeAll(async () => {
    await seedAgent(service.url);
  });
  beforeEach(async () => {
    proxy = await startTcpProxy(service.url);
    client = createClient({ baseUrl: proxy.url, timeoutMs: PATIENT_MS });
  });
  afterEach(async () => {
    client.close();
    await proxy.close();
  });

  it('fails closed at its deadline, or open if configured so', async () => {
    await client.evaluate(asking('good'));
    await proxy.set('pause');
    const [closed, open] = await Promise.all([
      client.evaluate(asking('good'), { timeoutMs: 150 }),
      client.evaluate(asking('bad'), { timeoutMs: 150, onUnavailable: 'allow' }),
    ]);
    expect(closed).toMatchObject({ evaluated: false, isSafe: false });
    expect(closed.reason).toContain('150 ms');
    expect(open).toMatchObject({ evaluated: false, isSafe: true });
    await proxy.set('clear');
    expect(await client.evaluate(asking('bad'))).toMatchObject({ evaluated: true, isSafe: false });
  });

  it('sends again what a broken connection took with it', async () => {
    const asked = keepAsking(client, 50);
    for (let cut = 1; cut <= 5; cut += 1) {
      const before = asked.answers.length;
      await until(
        () => asked.answers.length,
        (count) => count > before + 50,
      );
      proxy.cut();
    }
    const last = asked.answers.length;
    await until(
      () => asked.answers.length,
      (count) => count > last + 50,
    );
    expect(await asked.stop()).toEqual({ failures: [], wrong: [] });
  });

  it('retries while connections are refused', async () => {
    await client.evaluate(asking('good'));
    await proxy.set('refuse');
    proxy.cut();
    const waiting = Promise.all(Array.from({ length: 100 }, () => client.evaluate(asking('bad'))));
    await withGrowingTime(200, async (timeoutMs) => {
      const impatient = await client.evaluate(asking('good'), { timeoutMs });
      expect(impatient).toMatchObject({ evaluated: false, isSafe: false });
      expect(impatient.reason).toMatch(/ECONNREFUSED|last because/);
    });
    await proxy.set('clear');
    for (const one of await waiting) expect(one).toMatchObject({ evaluated: true, isSafe: false });
  });

  it('detects a dead connection that was not closed', async () => {
    const network = await startTcpBalancer();
    network.setTargets([service.url]);
    const patient = createClient({ baseUrl: network.url, timeoutMs: PATIENT_MS });
    await patient.evaluate(asking('good'));
    network.freeze();
    expect(await patient.evaluate(asking('bad'))).toMatchObject({ evaluated: true, isSafe: false });
    expect(network.taken.get(service.url)).toBe(2);
    patient.close();
    network.close();
  });

  it('keeps to a deadline inside the window for gathering, and does not send what is no longer awaited', async () => {
    const { transport, traffic } = watchedTransport(proxy.url);
    const gathering = createClient({
      transport,
      streaming: true,
      batchWindowMs: 60_000,
      timeoutMs: PATIENT_MS,
    });
    await gathering.evaluate(asking('good'));
    await proxy.set('pause');
    const first = gathering.evaluate(asking('bad'));
    await until(
      () => traffic.messages.length,
      (count) => count === 2,
    );
    const late = await gathering.evaluate(asking('good'), { timeoutMs: 50 });
    expect(late).toMatchObject({ evaluated: false, isSafe: false });
    expect(late.reason).toContain('50 ms');
    await proxy.set('clear');
    expect(await first).toMatchObject({ evaluated: true, isSafe: false });
    expect(await gathering.evaluate(asking('good'))).toMatchObject({ evaluated: true, isSafe: true });
    expect(traffic.messages).toEqual([1, 1, 1]);
    gathering.close();
  });

  it('resumes a stream of results whose connection breaks', async () => {
    const count = 600;
    const requests = Array.from({ length: count }, (_, index) => asking(index % 3 === 0 ? 'bad' : 'good'));
    const seen = new Map<number, boolean>();
    for await (const result of client.evaluateStream(requests)) {
      if (!('evaluation' in result)) throw result.error;
      expect(result.evaluation.evaluated).toBe(true);
      expect(seen.has(result.index)).toBe(false);
      seen.set(result.index, result.evaluation.isSafe);
      if (seen.size % 150 === 0) proxy.cut();
    }
    expect(seen.size).toBe(count);
    for (const [index, isSafe] of seen) expect(isSafe).toBe(index % 3 !== 0);
  });

  it('ends its connection when it is closed', async () => {
    await client.evaluate(asking('good'));
    expect(proxy.connections).toBe(1);
    client.close();
    await until(
      () => proxy.connections,
      (count) => count === 0,
    );
  });
});

describe('a client whose service is killed', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'client-faults-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('continues with the next one, and nothing is lost', async () => {
    const start = (port: string) =>
      spawnService(compiled, {
        environment: { SERVICE_PORT: port, DATABASE_URL: `file:${path.join(directory, 'service.db')}` },
      });
    let service = await start('0');
    const url = await service.listening();
    await seedAgent(url);
    const client = createClient({ baseUrl: url, timeoutMs: PATIENT_MS });
    const asked = keepAsking(client, 20);
    await until(
      () => asked.answers.length,
      (count) => count > 100,
    );
    service.process.kill('SIGKILL');
    await service.dispose();
    const before = asked.answers.length;
    service = await start(new URL(url).port);
    await service.listening();
    await until(
      () => asked.answers.length,
      (count) => count > before + 100,
    );
    expect(await asked.stop()).toEqual({ failures: [], wrong: [] });
    client.close();
    await service.dispose();
  });
});
