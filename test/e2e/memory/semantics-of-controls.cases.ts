import { expect } from 'vitest';
import { restClient } from '../../support/http.js';
import { compiled, spawnService } from '../../support/service-process.js';
import {
  type Bot,
  botOf,
  budget,
  control,
  formerly,
  rate,
  type Sentences,
  word,
} from './semantics.support.js';

const CLOSED_PORT = 'redis://127.0.0.1:1';

/** What a control counts, for whom, and what happens without it. */
export const OF_CONTROLS: Sentences = {
  async 'Explain and validation consume nothing.'(kit) {
    const definition = control(rate(2));
    const bot = await botOf(kit, definition);
    const step = { type: 'tool', name: 'act', input: {} };
    const asked = { agent_name: bot.name, stage: 'pre', session_id: 's', step };
    const explained = async (more: object = {}) =>
      (await kit.call('POST', '/api/v1/evaluation/explain', { ...asked, ...more })).body;
    const validated = () => kit.call('POST', '/api/v1/controls/validate', { data: definition });
    for (let time = 0; time < 3; time += 1) {
      expect(await explained()).toMatchObject({ verdict: { is_safe: true, limits: [{ remaining: 1 }] } });
      expect(await explained({ step_id: 'one' })).toMatchObject({ verdict: { is_safe: true } });
      expect(await explained({ data: definition })).toMatchObject({ controls: [{ control_name: 'data' }] });
      expect((await validated()).status).toBe(200);
    }
    expect((await bot.send({ step_id: 'one' })).remaining).toEqual([1]);
    expect(await explained({ step_id: 'one' })).toMatchObject({ verdict: { is_safe: true } });
    expect((await bot.send({ step_id: 'two' })).remaining).toEqual([0]);
    expect(await explained()).toMatchObject({ verdict: { is_safe: false } });
  },

  async 'A step without a part of the key is an error of the check by default, and does not match with `on_missing: skip`.'(
    kit,
  ) {
    const keyed = (more: object) => control(rate(1, { key: ['agent', 'input.account'], ...more }));
    const strict = await botOf(kit, keyed({}));
    const { outcome, body } = await strict.send();
    expect(outcome).toBe('deny');
    expect(body.errors[0].result.error).toBe('The step lacks input.account, which the control needs');
    const lenient = await botOf(kit, keyed({ on_missing: 'skip' }));
    for (let time = 0; time < 2; time += 1) {
      expect(await lenient.send()).toMatchObject({
        outcome: 'allow',
        body: { limits: [{ degraded: 'missing_key' }] },
      });
    }
    const account = { input: { account: 7 } };
    expect(await lenient.outcomes(account, account)).toEqual(['allow', 'deny']);
  },

  async 'A check is an error while the store does not answer, by default, does not match with `on_store_error: allow`, and is decided by each process with `local`.'(
    kit,
  ) {
    const away = await kit.another({
      SERVICE_MEMORY_STORE: CLOSED_PORT,
      SERVICE_MEMORY_TIMEOUT_SECONDS: '0.2',
    });
    const bots: Bot[] = [];
    for (const more of [{}, { on_store_error: 'allow' }, { on_store_error: 'local' }]) {
      bots.push(await botOf(away, control(rate(1, more))));
    }
    const [strict, lenient, local] = bots as [Bot, Bot, Bot];
    const denied = await strict.send();
    expect(denied.outcome).toBe('deny');
    expect(denied.body.errors[0].result.error).toBe('The memory of the control is not available');
    for (let time = 0; time < 2; time += 1) {
      const limits = [{ degraded: 'store_unavailable' }];
      expect(await lenient.send()).toMatchObject({ outcome: 'allow', body: { limits } });
    }
    const limits = [{ degraded: 'local' }];
    expect(await local.send()).toMatchObject({ outcome: 'allow', body: { limits } });
    expect(await local.send()).toMatchObject({ outcome: 'deny', body: { limits } });
  },

  async 'A change of a limit, a decision or a scope keeps what was counted; a change of the key or the window begins anew.'(
    kit,
  ) {
    const bot = await botOf(kit, control(budget(10)));
    const [id] = bot.controls as [number];
    const left = async (data: object) => {
      await bot.change(id, data);
      return (await bot.send({ input: { amount: 0 } })).remaining;
    };
    await bot.send({ input: { amount: 4 } });
    expect(await left(control(budget(20)))).toEqual([16]);
    expect(await left(control(budget(20), 'observe'))).toEqual([16]);
    expect(await left(control(budget(20), 'deny', { scope: { step_names: ['act'] } }))).toEqual([16]);
    expect(await left(control(budget(20, { key: ['agent'] })))).toEqual([20]);
    expect(await left(control(budget(20, { window: { rolling: '23h' } })))).toEqual([20]);
    // The state of the first configuration is still there.
    expect(await left(control(budget(10)))).toEqual([6]);
  },

  async 'Each control counts for itself, even if another one has the same configuration.'(kit) {
    const bot = await botOf(kit, control({ and: [rate(3), word('mail')] }));
    const mail = { input: { text: 'mail' } };
    await bot.send(mail);
    const second = await bot.add(control({ and: [rate(3), word('mail')] }));
    const { body } = await bot.send(mail);
    const left = body.limits.map((each: { control_id: number; remaining: number }) => [
      each.control_id,
      each.remaining,
    ]);
    expect(left).toEqual([
      [bot.controls[0], 1],
      [second, 2],
    ]);
  },

  async 'Sessions of different agents never share a state.'(kit) {
    const bots = [await botOf(kit, control(rate(1)))];
    const [first] = bots as [Bot];
    bots.push(await botOf(kit));
    const second = bots[1] as Bot;
    await kit.seed.link(second.name, first.controls[0] as number);
    expect(await first.outcomes({}, {}, { session_id: 't' })).toEqual(['allow', 'deny', 'allow']);
    expect(await second.outcomes({}, {}, { session_id: 't' })).toEqual(['allow', 'deny', 'allow']);
  },

  async 'A new control knows nothing of steps before it.'(kit) {
    const bot = await botOf(kit, control(rate(100)));
    const reads = { name: 'read', step_id: 'one' };
    await bot.outcomes(reads, { ...reads, stage: 'post' }, {}, {});
    await bot.add(control(formerly('response'), 'deny', { scope: { step_names: ['send'] } }));
    await bot.add(control(rate(50)));
    const { outcome, body } = await bot.send({ name: 'send' });
    expect(outcome).toBe('allow');
    expect(body.limits.map(({ remaining }: { remaining: number }) => remaining).sort()).toEqual([49, 96]);
    const [unmatched] = body.non_matches.filter(
      ({ control_id }: { control_id: number }) => control_id === bot.controls[1],
    );
    expect(Date.parse(unmatched.result.metadata.since)).toBeLessThanOrEqual(Date.now());
    await bot.outcomes({ ...reads, step_id: 'two' }, { ...reads, step_id: 'two', stage: 'post' });
    expect((await bot.send({ name: 'send' })).outcome).toBe('deny');
  },

  async 'What was acknowledged is never lost: a reply is sent when what it counted is durable.'(kit) {
    const bot = await botOf(kit, control(rate(2)));
    const request = {
      agent_name: bot.name,
      stage: 'pre',
      session_id: 's',
      accepts: ['steer'],
      step: { type: 'tool', name: 'act', input: {} },
    };
    // A process each, which is killed as soon as it has answered.
    for (const remaining of [1, 0]) {
      const process = await spawnService(compiled, {
        environment: { DATABASE_URL: kit.service.databaseUrl, SERVICE_LAST_KNOWN_GOOD: 'off' },
      });
      try {
        const call = restClient(await process.listening());
        const { body } = await call('POST', '/api/v1/evaluation', request);
        process.process.kill('SIGKILL');
        expect(body).toMatchObject({ outcome: 'allow', limits: [{ remaining }] });
      } finally {
        await process.dispose();
      }
    }
    expect((await bot.send()).outcome).toBe('deny');
  },
};
