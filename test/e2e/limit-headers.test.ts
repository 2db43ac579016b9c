import { beforeAll, describe, expect, it } from 'vitest';
import { suiteService } from '../support/service-suite.js';
import { botOf, budget, control, type Kit, leaf, rate } from './memory/semantics.support.js';

const TOLD = ['ratelimit-policy', 'ratelimit', 'retry-after'] as const;
const DAY_S = 86_400;

/** What replies to evaluations over REST say of limits. */
function headersOf(url: string, agent_name: string) {
  return async (input: object = {}, isInSession = true) => {
    const session_id = isInSession ? 's' : undefined;
    const step = { type: 'tool', name: 'act', input };
    const reply = await fetch(`${url}/api/v1/evaluation`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ agent_name, stage: 'pre', session_id, accepts: ['deny'], step }),
    });
    const body = (await reply.json()) as { is_safe: boolean; limits: { degraded: string }[] };
    expect({ status: reply.status, body }).toMatchObject({ status: 200 });
    return { told: TOLD.map((name) => reply.headers.get(name)), body };
  };
}

/** Seconds of a header, which begins with `start`. */
function secondsIn(header: string | null | undefined, start: string): number {
  expect(header).toMatch(start);
  return Number(String(header).slice(start.length));
}

describe('over REST, headers', () => {
  const service = suiteService({ SERVICE_MEMORY_TIMEOUT_SECONDS: '60' });
  const kit = () => ({ call: service.call, seed: service.seed, service }) as unknown as Kit;

  it('tell a rate after each step, and when a denied one may be repeated', async () => {
    const { name } = await botOf(kit(), control(rate(2)));
    const send = headersOf(service.url, name);
    const policy = `"${name}-control-0";q=2;w=${DAY_S}`;
    const [first, second, denied] = [await send(), await send(), await send()];
    expect([first, second, denied].map(({ body, told }) => [body.is_safe, told[0]])).toEqual([
      [true, policy],
      [true, policy],
      [false, policy],
    ]);
    expect([first.told[2], second.told[2]]).toEqual([null, null]);
    const resets = [
      secondsIn(first.told[1], `"${name}-control-0";r=1;t=`),
      secondsIn(second.told[1], `"${name}-control-0";r=0;t=`),
      secondsIn(denied.told[1], `"${name}-control-0";r=0;t=`),
    ];
    // Half of the period for each step, without what has passed since.
    for (const [index, seconds] of resets.entries()) {
      const longest = (DAY_S / 2) * Math.min(index + 1, 2);
      expect(seconds).toBeLessThanOrEqual(longest);
      expect(seconds).toBeGreaterThan(longest - DAY_S / 4);
    }
    const retry = secondsIn(denied.told[2], '');
    expect(retry).toBeLessThanOrEqual(DAY_S / 2);
    expect(retry).toBeGreaterThan(DAY_S / 4);
  });

  it('tell what is left of a budget, and no time to repeat a step that never fits', async () => {
    const { name } = await botOf(kit(), control(budget(10)));
    const send = headersOf(service.url, name);
    const allowed = await send({ amount: 4 });
    expect([allowed.body.is_safe, allowed.told[0], allowed.told[2]]).toEqual([
      true,
      `"${name}-control-0";q=10;w=${DAY_S}`,
      null,
    ]);
    secondsIn(allowed.told[1], `"${name}-control-0";r=6;t=`);
    const denied = await send({ amount: 7 });
    expect(denied.body.is_safe).toBe(false);
    expect(secondsIn(denied.told[2], '')).toBeLessThanOrEqual(DAY_S);
    const never = await send({ amount: 11 });
    expect([never.body.is_safe, never.told[2]]).toEqual([false, null]);
  });

  it('are those of the limit that is nearest its end', async () => {
    const { name } = await botOf(kit(), control(rate(10)), control(rate(3)));
    const { told } = await headersOf(service.url, name)();
    expect(told[0]).toBe(`"${name}-control-1";q=3;w=${DAY_S}`);
  });

  it('do not tell a limit that was not applied because the step lacks its session', async () => {
    const { name } = await botOf(kit(), control(rate(2, { on_missing: 'skip' })));
    const { body, told } = await headersOf(service.url, name)({}, false);
    expect(body.limits).toMatchObject([{ degraded: 'missing_key' }]);
    expect([body.is_safe, told]).toEqual([true, [null, null, null]]);
  });

  it('are absent for steps without limits', async () => {
    const { name } = await botOf(kit(), control(leaf('regex', { pattern: 'bad' })));
    expect((await headersOf(service.url, name)()).told).toEqual([null, null, null]);
  });
});

describe('over REST, while the store of memory does not answer, headers', () => {
  const service = suiteService({
    SERVICE_MEMORY_STORE: 'redis://127.0.0.1:1',
    SERVICE_MEMORY_TIMEOUT_SECONDS: '0.05',
  });
  let name: string;
  beforeAll(async () => {
    const kit = { call: service.call, seed: service.seed, service } as unknown as Kit;
    ({ name } = await botOf(kit, control(rate(2, { on_store_error: 'allow' }))));
  });

  it('do not tell a limit that was not applied', async () => {
    const { body, told } = await headersOf(service.url, name)();
    expect(body).toMatchObject({ limits: [{ degraded: 'store_unavailable' }] });
    expect([body.is_safe, told]).toEqual([true, [null, null, null]]);
  });
});
