import { expect } from 'vitest';
import { botOf, budget, control, formerly, rate, type Sentences, slots, word } from './semantics.support.js';

const bad = { input: { text: 'bad' } };
const spends = (amount: number, step_id?: string) => ({
  input: { amount },
  ...(step_id === undefined ? {} : { step_id }),
});

/** Which steps are decided with memory, and count. */
export const OF_STEPS: Sentences = {
  async 'Memory is consulted only if all controls without memory let the step pass.'(kit) {
    for (const decision of ['deny', 'steer']) {
      const bot = await botOf(kit, control(word('bad'), decision), control(rate(1)));
      const refused = await bot.send(bad);
      expect(refused).toMatchObject({ outcome: decision, remaining: [], body: { skipped_controls: 1 } });
      expect(refused.body.matches).toHaveLength(1);
      expect(await bot.send()).toMatchObject({ outcome: 'allow', remaining: [0] });
      // The limit is reached now, but does not say so of a step that is refused without it.
      expect((await bot.send(bad)).remaining).toEqual([]);
      expect(await bot.send()).toMatchObject({ outcome: 'deny', remaining: [0] });
    }
  },

  async 'Within a control, a check with memory is asked only if the parts without memory leave the result open.'(
    kit,
  ) {
    const both = await botOf(kit, control({ and: [rate(1), word('mail')] }));
    const mail = { input: { text: 'mail' } };
    expect(await both.send({ input: { text: 'chat' } })).toMatchObject({ outcome: 'allow', remaining: [] });
    expect(await both.send(mail)).toMatchObject({ outcome: 'allow', remaining: [0] });
    expect(await both.outcomes(mail, { input: { text: 'chat' } })).toEqual(['deny', 'allow']);
    const either = await botOf(kit, control({ or: [rate(1), word('mail')] }, 'observe'));
    expect((await either.send(mail)).remaining).toEqual([]);
    expect((await either.send({ input: { text: 'chat' } })).remaining).toEqual([0]);
  },

  async 'All controls with memory decide a step together, by one state, before any of them counts it.'(kit) {
    const bot = await botOf(kit, control(rate(3)), control(rate(8)), control(budget(100)));
    const sent = await Promise.all(
      Array.from({ length: 12 }, (_, step) => bot.send(spends(10, `step-${step}`))),
    );
    expect(sent.filter(({ outcome }) => outcome === 'allow')).toHaveLength(3);
    // Each of them has counted the three steps that all of them let pass, and none of the others.
    await bot.change(bot.controls[0] as number, control(rate(1000)));
    const { body } = await bot.send(spends(0));
    const left = new Map(
      body.limits.map((each: { control_id: number; remaining: number }) => [each.control_id, each.remaining]),
    );
    expect(left.get(bot.controls[1])).toBe(8 - 3 - 1);
    expect(left.get(bot.controls[2])).toBe(100 - 30);
  },

  async 'A step that is allowed counts for every check that was open for it.'(kit) {
    // Both checks count, although the first one decides.
    const bot = await botOf(kit, control({ and: [rate(5), rate(2, { period: '23h' })] }));
    expect((await bot.send()).remaining).toEqual([4]);
    await bot.send();
    const key = { control_id: bot.controls[0], agent_name: bot.name, session_id: 's' };
    const { body } = await kit.call('POST', '/api/v1/memory/key', { key });
    const left = body.states.map(({ status }: { status: { remaining: number } }) => status.remaining);
    expect(left.sort()).toEqual([0, 3]);
  },

  async 'A denied step consumes nothing unless its control says so.'(kit) {
    const bot = await botOf(kit, control(budget(10)));
    expect(await bot.outcomes(spends(6), spends(6), spends(4), spends(1))).toEqual([
      'allow',
      'deny',
      'allow',
      'deny',
    ]);
    const strict = await botOf(kit, control(budget(10, { count_denied: true })));
    expect(await strict.outcomes(spends(6), spends(6), spends(4))).toEqual(['allow', 'deny', 'deny']);
  },

  async 'A step that only a control without memory denies consumes nothing.'(kit) {
    const bot = await botOf(kit, control(word('bad')), control(rate(1, { count_denied: true })));
    expect(await bot.outcomes(bad, bad, {}, {})).toEqual(['deny', 'deny', 'allow', 'deny']);
  },

  async 'The same `step_id` of a session consumes once at each stage, however often it is sent.'(kit) {
    const settled = { amount: undefined, reserve: 5, settle: 'output.cost' };
    const bot = await botOf(kit, control(budget(100, settled)));
    const [before, after] = [
      { step_id: 'one' },
      { step_id: 'one', stage: 'post' as const, output: { cost: 30 } },
    ];
    for (let time = 0; time < 3; time += 1) await bot.send(before);
    expect((await bot.send({ step_id: 'two' })).remaining).toEqual([90]);
    for (let time = 0; time < 3; time += 1) await bot.send(after);
    expect((await bot.send({ step_id: 'three' })).remaining).toEqual([60]);
    // Sent at once, it is counted once as well.
    await Promise.all(Array.from({ length: 8 }, () => bot.send({ step_id: 'four' })));
    expect((await bot.send({ step_id: 'five' })).remaining).toEqual([50]);
  },

  async 'A repeated step that was allowed is allowed again by the limits that it was counted in.'(kit) {
    const bot = await botOf(kit, control(rate(1)), control(budget(5)), control(slots(1)));
    const [one, two] = [spends(5, 'one'), spends(5, 'two')];
    expect(await bot.outcomes(one, two, one, one, two)).toEqual(['allow', 'deny', 'allow', 'allow', 'deny']);
  },

  async 'A `step_id` of a step that was allowed cannot be used for another step under the same key: that is an error of the check.'(
    kit,
  ) {
    const bot = await botOf(kit, control(budget(100)));
    const [cheap, dear] = [spends(1, 'one'), spends(50, 'one')];
    expect(await bot.outcomes(cheap, dear, cheap, spends(50, 'two'))).toEqual([
      'allow',
      'deny',
      'allow',
      'allow',
    ]);
    expect((await bot.send(spends(1, 'three'))).remaining).toEqual([48]);
  },

  async 'A denied step may be sent again with the same `step_id`, and is decided anew.'(kit) {
    const bot = await botOf(kit, control(slots(1)));
    const [one, two] = [{ step_id: 'one' }, { step_id: 'two' }];
    expect(await bot.outcomes(one, two, two)).toEqual(['allow', 'deny', 'deny']);
    await bot.send({ ...one, stage: 'post' });
    expect(await bot.outcomes(two, { step_id: 'three' })).toEqual(['allow', 'deny']);
  },

  async 'The end of a step that was denied is not recorded.'(kit) {
    for (const [kind, end] of [
      ['response', { output: 'text' }],
      ['error', { step_error: 'refused' }],
    ] as const) {
      const bot = await botOf(kit, control(word('bad')), control(formerly(kind), 'deny', SENDS));
      const sends = { name: 'send' };
      const denied = { name: 'read', ...bad, step_id: 'one' };
      expect((await bot.send(denied)).outcome).toBe('deny');
      await bot.send({ ...denied, input: {}, stage: 'post', ...end });
      expect((await bot.send(sends)).outcome).toBe('allow');
      await bot.send({ name: 'read', step_id: 'two' });
      await bot.send({ name: 'read', step_id: 'two', stage: 'post', ...end });
      expect((await bot.send(sends)).outcome).toBe('deny');
    }
    const settled = { amount: undefined, reserve: 1, settle: 'output.cost' };
    const spending = await botOf(kit, control(word('bad')), control(budget(10, settled)));
    await spending.send({ ...bad, step_id: 'one' });
    await spending.send({ step_id: 'one', stage: 'post', output: { cost: 7 } });
    expect((await spending.send({ step_id: 'two' })).remaining).toEqual([9]);
  },

  async 'An observed step beyond a rate is not counted; an observed step beyond a budget or a limit of concurrent steps is.'(
    kit,
  ) {
    const observed = await botOf(kit, control(rate(1), 'observe'));
    expect(await observed.outcomes({}, {}, {})).toEqual(['allow', 'allow', 'allow']);
    // Three steps that count would leave nothing of three.
    await observed.change(observed.controls[0] as number, control(rate(3)));
    expect((await observed.send()).remaining).toEqual([1]);

    const spending = await botOf(kit, control(budget(10), 'observe'));
    await spending.outcomes(spends(10), spends(5));
    await spending.change(spending.controls[0] as number, control(budget(20)));
    expect((await spending.send(spends(0))).remaining).toEqual([5]);

    const running = await botOf(kit, control(slots(1), 'observe'));
    await running.outcomes({ step_id: 'one' }, { step_id: 'two' });
    await running.change(running.controls[0] as number, control(slots(2)));
    expect((await running.send({ step_id: 'three' })).outcome).toBe('deny');
    await running.send({ step_id: 'one', stage: 'post' });
    expect((await running.send({ step_id: 'three' })).outcome).toBe('allow');
  },
};

const SENDS = { scope: { step_names: ['send'], stages: ['pre'] } };
