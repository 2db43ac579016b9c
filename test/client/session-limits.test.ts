import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, createClient, DeniedError } from '../../packages/client/src/node.js';
import { createClient as createWebClient } from '../../packages/client/src/web.js';
import { suiteService } from '../support/service-suite.js';
import { until } from '../support/until.js';
import { PATIENT_MS } from './client-harness.js';

const CLIENTS: Record<string, (baseUrl: string, agent: string) => Client> = {
  gRPC: (baseUrl, agent) => createClient({ baseUrl, agent, timeoutMs: PATIENT_MS }),
  'gRPC-Web': (baseUrl, agent) => createWebClient({ baseUrl, agent, timeoutMs: PATIENT_MS }),
};
const limit = (stages: string[], name: string, config: object) => ({
  execution: 'server',
  scope: { stages },
  condition: { selector: { path: '*' }, evaluator: { name, config } },
  action: { decision: 'deny' },
});
const key = ['session'];
const CONTROLS = {
  tokens: limit(['pre'], 'budget', {
    ...{ limit: 10, reserve: 4, settle: 'output.tokens', window: { rolling: '24h' }, key },
  }),
  failures: limit(['pre', 'post'], 'loop', { pattern: 'error', repeat: 3, within: { time: '1h' }, key }),
  slots: limit(['pre'], 'concurrency', { limit: 1, lease: '1h', key }),
  pace: limit(['pre'], 'rate', { limit: 1, period: '1s', key }),
};

describe.each(Object.keys(CLIENTS))('a session with limits of a service, over %s', (protocol) => {
  const service = suiteService({ SERVICE_MEMORY_TIMEOUT_SECONDS: '60' });
  const clients: Client[] = [];
  const sessionWith = (name: keyof typeof CONTROLS) => {
    const client = CLIENTS[protocol]?.(service.url, `bot-with-${name}`);
    if (client === undefined) throw new Error(`no client for ${protocol}`);
    clients.push(client);
    return client.session();
  };
  beforeAll(async () => {
    for (const [name, data] of Object.entries(CONTROLS)) {
      await service.seed.linked(`bot-with-${name}`, name, data);
    }
  });
  afterAll(() => {
    for (const client of clients) client.close();
  });

  it('settles a budget with what the output says', async () => {
    const ask = sessionWith('tokens').guard(async ({ tokens }: { tokens: number }) => ({ tokens }), {
      step: 'ask',
    });
    // 6 are left, 4 of which the next step reserves; it costs 1, so a third one fits, and no fourth.
    for (const tokens of [4, 1, 3]) expect(await ask({ tokens })).toEqual({ tokens });
    const error = await ask({ tokens: 1 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DeniedError);
    expect((error as DeniedError).limits).toMatchObject([{ evaluator: 'budget', limit: 10, remaining: 2 }]);
  });

  it('tells why tools fail, so that the third failure is the last', async () => {
    let calls = 0;
    const failing = () => {
      calls += 1;
      throw new Error('no route to host');
    };
    const tool = sessionWith('failures').guard(failing, { step: 'connect' });
    await expect(tool()).rejects.toThrow('no route to host');
    await expect(tool()).rejects.toThrow('no route to host');
    await expect(tool()).rejects.toMatchObject({ name: 'DeniedError', stage: 'post' });
    await expect(tool()).rejects.toMatchObject({ name: 'DeniedError', stage: 'pre' });
    expect(calls).toBe(3);
  });

  it('frees the slot of a step that has ended, also when its tool throws', async () => {
    const session = sessionWith('slots');
    let end = (_result: string): void => {};
    let isRunning = (): void => {};
    const started = new Promise<void>((resolve) => {
      isRunning = resolve;
    });
    const ending = new Promise<string>((resolve) => {
      end = resolve;
    });
    const run = () => {
      isRunning();
      return ending;
    };
    const slow = session.guard(run, { step: 'export' });
    const quick = session.guard(() => 'quick', { step: 'export' });
    const running = slow();
    await started;
    await expect(quick()).rejects.toBeInstanceOf(DeniedError);
    end('slow');
    expect(await running).toBe('slow');
    expect(await quick()).toBe('quick');
    const broken = session.guard(() => Promise.reject(new Error('boom')), {
      step: 'export',
      stages: ['pre'],
    });
    await expect(broken()).rejects.toThrow('boom');
    expect(await quick()).toBe('quick');
  });

  it('waits for a rate by option, and evaluates the step again', async () => {
    const session = sessionWith('pace');
    const step = { name: 'send_mail', input: {} };
    // Both go in one message: one after the other may take a busy machine longer than the period.
    const pair = await until(
      () => Promise.all([1, 2].map(() => session.evaluate({ stage: 'pre', step }))),
      (both) => both.some(({ isSafe }) => isSafe) && both.some(({ isSafe }) => !isSafe),
    );
    const [refused] = pair.filter(({ isSafe }) => !isSafe);
    expect(refused?.evaluated && refused.retryAfterMs).toBeGreaterThan(0);
    const waitForLimits = { maxWaitMs: 60_000, maxRetries: 20 };
    expect(await session.evaluate({ stage: 'pre', step }, { waitForLimits })).toMatchObject({ isSafe: true });
    const send = session.guard(() => 'sent', { step: 'send_mail', waitForLimits });
    expect(await send()).toBe('sent');
  });
});
