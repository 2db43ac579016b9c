import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../../packages/exact-json/src/index.js';
import { amountOf, amountText } from '../../../../src/kernel/evaluators/memory/amounts.js';
import { budgetReducer, budgetView } from '../../../../src/kernel/evaluators/memory/budget-state.js';
import { generatedCases } from '../../../support/generated-cases.js';
import { problemsOf, RuleRun } from '../../../support/rule-run.js';
import '../../../support/property-seed.js';

const SECOND = 1_000_000;
const MINUTE = 60 * SECOND;
const DAY = 86_400 * SECOND;
const key = ['agent'];
const paid = (amount: number) => ({ input: { amount } });
const spending = { limit: 10, amount: 'input.amount', key };

describe('a budget', () => {
  it('lets pass what fits into it, and nothing beyond it', () => {
    const run = new RuleRun('budget', { ...spending, window: { rolling: '1m' } });
    expect([4, 6, 0.000000001, 0].map((amount) => run.passes(paid(amount)))).toEqual([
      true,
      true,
      false,
      true,
    ]);
    expect(run.pre(paid(11)).limit?.retryAfterUs).toBeNull();
  });

  it('adds decimal amounts exactly', () => {
    const run = new RuleRun('budget', { ...spending, limit: 0.3, window: { life: true } });
    expect([0.1, 0.1, 0.1, 0.000000001].map((amount) => run.passes(paid(amount)))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect(run.describe()?.kept).toMatchObject({ spent: 0.3 });
  });

  it('rounds amounts up beyond nine decimals', () => {
    const texts = ['1e-12', '0.0000000011', '1e15', '12.50', '0e999', '999999999999999.9999999999'];
    expect(texts.map((text) => amountText(amountOf(parseJson(text)) ?? -1n))).toEqual([
      '0.000000001',
      '0.000000002',
      '1000000000000000',
      '12.5',
      '0',
      '1000000000000000',
    ]);
  });

  it('is an error for amounts that are missing, negative, too large, or no numbers', () => {
    const run = new RuleRun('budget', { ...spending, window: { rolling: '1m' } });
    for (const amount of [-1, '5', true, null, [1], Number.NaN, parseJson('1e16'), parseJson('-1e-400')]) {
      expect(run.pre({ input: { amount } }).error).toMatch(/^input\.amount is/);
    }
    expect(run.kept()).toBeUndefined();
  });

  it('counts the amounts of a rolling window as a sum over all steps does, both ends included', () => {
    const steps = fc.array(fc.tuple(fc.nat(40), fc.nat(60)), { minLength: 1, maxLength: 150 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 300 }), (given, limit) => {
        const run = new RuleRun('budget', { ...spending, limit, window: { rolling: '1ms' } });
        const charged: { at: number; amount: number }[] = [];
        for (const [gap, amount] of given) {
          run.memory.nowUs += gap * 10;
          const { matched, limit: state } = run.pre(paid(amount));
          const { nowUs } = run.memory;
          const counted = charged.filter(({ at }) => at >= nowUs - 1_000);
          const spent = counted.reduce((sum, one) => sum + one.amount, 0);
          expect(matched).toBe(spent + amount > limit);
          if (!matched) charged.push({ at: nowUs, amount });
          // The first time at which the same step would pass, by trying all.
          const leaving = counted.map(({ at }) => at + 1_001);
          const first = leaving
            .sort((a, b) => a - b)
            .find((at) => {
              const rest = charged
                .filter((one) => one.at >= at - 1_000)
                .reduce((sum, one) => sum + one.amount, 0);
              return rest + amount <= limit;
            });
          expect(state?.retryAfterUs).toBe(matched && first !== undefined ? first - nowUs : null);
        }
      }),
      { numRuns: generatedCases(200) },
    );
  });

  it('is whole again in each calendar window', () => {
    const run = new RuleRun('budget', {
      ...spending,
      window: { calendar: 'day', time_zone: 'Europe/Berlin' },
    });
    // 22:59:50 UTC on 24 November is ten seconds before midnight in Berlin.
    run.memory.nowUs = Date.UTC(2026, 10, 24, 22, 59, 50) * 1_000;
    expect(run.pre(paid(10)).limit).toMatchObject({ remaining: 0, resetsAfterUs: 10 * SECOND });
    expect(run.pre(paid(1)).limit?.retryAfterUs).toBeLessThanOrEqual(10 * SECOND);
    run.memory.nowUs = Date.UTC(2026, 10, 24, 23) * 1_000 - 1;
    expect(run.passes(paid(1))).toBe(false);
    run.memory.nowUs = Date.UTC(2026, 10, 24, 23) * 1_000;
    expect(run.passes(paid(10))).toBe(true);
  });

  it('lasts as long as its key is used', () => {
    const run = new RuleRun('budget', { ...spending, window: { life: true, idle: '1h' } });
    expect(run.passes(paid(4))).toBe(true);
    run.memory.nowUs += 60 * MINUTE;
    expect(run.passes(paid(6))).toBe(true);
    run.memory.nowUs += 60 * MINUTE;
    expect(run.passes(paid(1))).toBe(false);
    run.memory.nowUs += 1;
    expect(run.passes(paid(10))).toBe(true);
  });

  it('charges 1 for a step without an amount', () => {
    const run = new RuleRun('budget', { limit: 2, window: { rolling: '1m' }, key });
    expect([run.passes(), run.passes(), run.passes()]).toEqual([true, true, false]);
  });

  it('charges a denied step only with count_denied, and an observed one always', () => {
    const run = new RuleRun('budget', { ...spending, window: { life: true } });
    run.pre({ ...paid(9), isDenied: true });
    expect(run.passes(paid(9))).toBe(true);
    expect(run.pre({ ...paid(9), observed: true }).matched).toBe(true);
    expect(run.describe()?.kept).toMatchObject({ spent: 18 });
    const strict = new RuleRun('budget', { ...spending, window: { life: true }, count_denied: true });
    strict.pre({ ...paid(9), isDenied: true });
    expect(strict.passes(paid(9))).toBe(false);
  });
});

describe('a budget with settle', () => {
  const settling = {
    limit: 10,
    unit: 'USD',
    reserve: 'input.amount',
    settle: 'output.cost',
    key,
    window: { rolling: '1h' },
  };
  const ended = (cost: number) => ({ output: { cost } });
  const spent = (run: RuleRun) => (run.describe()?.kept as { spent: number } | undefined)?.spent ?? 0;

  it('replaces what was reserved by what the step has cost', () => {
    const run = new RuleRun('budget', settling);
    expect(run.passes({ id: 'a', ...paid(8) })).toBe(true);
    expect(run.passes({ id: 'b', ...paid(3) })).toBe(false);
    run.post({ id: 'a', ...paid(8), ...ended(1.5) });
    expect(spent(run)).toBe(1.5);
    expect(run.passes({ id: 'b', ...paid(3) })).toBe(true);
  });

  it('settles a step once', () => {
    const run = new RuleRun('budget', settling);
    run.pre({ id: 'a', ...paid(8) });
    for (const cost of [2, 3, 4]) run.post({ id: 'a', ...ended(cost) });
    expect(spent(run)).toBe(2);
  });

  it('needs the id of the step', () => {
    expect(new RuleRun('budget', settling).pre(paid(1)).error).toBe('without step_id');
  });

  it('charges the end of a step that was not seen before, where the rest of the control leaves it open', () => {
    const run = new RuleRun('budget', settling);
    expect(run.post({ id: 'a', ...ended(4) }).matched).toBe(false);
    run.post({ id: 'b', ...ended(5), isOpen: false, scope: ['pre'] });
    expect(spent(run)).toBe(4);
    expect(run.post({ id: 'c', ...ended(7) }).matched).toBe(true);
    expect(spent(run)).toBe(11);
  });

  it('keeps an expired reservation charged until its end replaces it', () => {
    const run = new RuleRun('budget', { ...settling, expires: '1m' });
    run.pre({ id: 'a', ...paid(8) });
    run.memory.nowUs += 2 * MINUTE;
    expect(run.passes({ id: 'b', ...paid(3) })).toBe(false);
    run.post({ id: 'a', ...ended(1) });
    expect(spent(run)).toBe(1);
  });

  it('frees an expired reservation with release, and charges the end that comes later', () => {
    const run = new RuleRun('budget', { ...settling, expires: '1m', on_expiry: 'release' });
    run.pre({ id: 'a', ...paid(8) });
    expect(run.pre({ id: 'b', ...paid(3) }).limit?.retryAfterUs).toBe(MINUTE);
    run.memory.nowUs += MINUTE;
    expect(run.passes({ id: 'b', ...paid(3) })).toBe(true);
    run.post({ id: 'a', ...ended(5) });
    expect(spent(run)).toBe(8);
  });

  it('settles in the window of the reservation', () => {
    const run = new RuleRun('budget', { ...settling, window: { calendar: 'minute' } });
    run.memory.nowUs = Date.UTC(2026, 10, 24, 12, 0, 59) * 1_000;
    run.pre({ id: 'a', ...paid(8) });
    run.memory.nowUs += 2 * SECOND;
    run.post({ id: 'a', ...ended(9) });
    expect(spent(run)).toBe(0);
    expect(run.passes({ id: 'b', ...paid(10) })).toBe(true);
  });

  it('is an error for an end without an amount, unless the step failed', () => {
    const run = new RuleRun('budget', settling);
    run.pre({ id: 'a', ...paid(8) });
    expect(run.post({ id: 'a', output: {} }).error).toBe('output.cost is missing, and the budget counts it');
    expect(spent(run)).toBe(8);
    const released = new RuleRun('budget', { ...settling, on_expiry: 'release' });
    released.pre({ id: 'a', ...paid(8) });
    expect(released.post({ id: 'a', error: 'timed out' }).error).toBeNull();
    expect(spent(released)).toBe(0);
  });

  it('lets pass as long as anything is left, if nothing is reserved', () => {
    const { reserve: _, ...config } = settling;
    const run = new RuleRun('budget', config);
    run.post({ id: 'a', ...ended(9.5) });
    expect(run.passes({ id: 'b' })).toBe(true);
    run.post({ id: 'b', ...ended(0.5) });
    expect(run.passes({ id: 'c' })).toBe(false);
  });

  it('is an error while too many reservations are open, and charges the expired ones for good', () => {
    const run = new RuleRun('budget', { ...settling, limit: 1e9, reserve: 1, expires: '1m' });
    for (let count = 0; count < 1_000; count += 1) expect(run.passes({ id: `${count}` })).toBe(true);
    expect(run.pre({ id: 'more' }).error).toMatch(/^1000 steps of the key have reserved/);
    run.memory.nowUs += 2 * MINUTE;
    expect(run.passes({ id: 'more' })).toBe(true);
    expect(run.describe()?.kept).toEqual({ spent: 1_001, reservations: 1, unit: 'USD' });
  });

  it('spends what a plain ledger says, in any order of starts, ends and times', () => {
    const event = fc.record({
      step: fc.nat(12),
      isEnd: fc.boolean(),
      amount: fc.nat(9),
      gap: fc.integer({ min: 1, max: 900 }),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 80 }), fc.boolean(), (events, releases) => {
        const on_expiry = releases ? 'release' : 'charge';
        const config = { ...settling, window: { rolling: '2ms' }, expires: '1ms', on_expiry, limit: 20 };
        const run = new RuleRun('budget', config);
        const open = new Map<number, { at: number; amount: number }>();
        const started = new Set<number>();
        const done = new Set<number>();
        const denied = new Set<number>();
        let charged: { at: number; amount: number }[] = [];
        const isLive = (at: number, now: number) => now <= at + 1_000 || (!releases && at >= now - 2_000);
        for (const { step, isEnd, amount, gap } of events) {
          run.memory.nowUs += gap;
          const now = run.memory.nowUs;
          for (const [id, one] of open) if (!isLive(one.at, now)) open.delete(id);
          const total = [...charged, ...open.values()]
            .filter(({ at }) => at >= now - 2_000)
            .reduce((sum, one) => sum + one.amount, 0);
          const id = String(step);
          if (isEnd) {
            run.post({ id, ...ended(amount), observed: true });
            // The end of a step that was denied is none.
            if (done.has(step) || denied.has(step)) continue;
            done.add(step);
            charged = [...charged, { at: open.get(step)?.at ?? now, amount }];
            open.delete(step);
          } else {
            const { matched } = run.pre({ id, ...paid(amount) });
            if (started.has(step)) expect(matched).toBe(false);
            else {
              expect(matched).toBe(total + amount > 20 || total >= 20);
              if (matched) denied.add(step);
              else {
                denied.delete(step);
                started.add(step);
                open.set(step, { at: now, amount });
              }
            }
          }
        }
      }),
      { numRuns: generatedCases(300) },
    );
  });
});

describe('what is kept for a budget', () => {
  const delta = (amount: number, rolling: number) => {
    return { op: 'charge', amount, window: { rolling }, limit: 1e15, ends: 0, releases: false };
  };

  it('stays small over any number of steps, and never counts less than was spent', () => {
    let state: ReturnType<typeof budgetReducer.apply> | undefined;
    const window = { rolling: 1_000_000 };
    const steps = 30_000;
    for (let at = 1; at <= steps; at += 1)
      state = budgetReducer.apply(state, delta(1, 1_000_000), at * 20, null);
    expect(JSON.stringify(state).length).toBeLessThan(300_000);
    const now = steps * 20;
    expect(budgetView(state, window, now).spent).toBe(30_000n);
    for (const later of [now + 500_000, now + 900_000]) {
      const exact = Math.floor((now - (later - 1_000_000)) / 20) + 1;
      const { spent } = budgetView(state, window, later);
      expect(spent).toBeGreaterThanOrEqual(BigInt(exact));
      // Later by at most a five-thousandth of the window: ten steps.
      expect(spent).toBeLessThanOrEqual(BigInt(exact + 10));
    }
  });

  it('counts the same whether or not it was pruned', () => {
    const entries = fc.array(fc.tuple(fc.integer({ min: 1, max: 700 }), fc.nat(50)), { maxLength: 40 });
    fc.assert(
      fc.property(entries, fc.nat(3_000), (given, later) => {
        let plain: ReturnType<typeof budgetReducer.apply> | undefined;
        let pruned: ReturnType<typeof budgetReducer.prune>;
        let now = 1;
        for (const [gap, amount] of given) {
          now += gap;
          plain = budgetReducer.apply(plain, delta(amount, 1_000), now, null);
          pruned = budgetReducer.apply(pruned, delta(amount, 1_000), now, null);
          pruned = budgetReducer.prune(pruned, now);
        }
        now += later;
        const whole = plain === undefined ? undefined : budgetReducer.prune(structuredClone(plain), now);
        const window = { rolling: 1_000 };
        expect(budgetView(whole, window, now).spent).toBe(budgetView(plain, window, now).spent);
        expect(budgetView(pruned, window, now).spent).toBe(budgetView(plain, window, now).spent);
      }),
    );
  });

  it('ignores entries that it does not understand', () => {
    const state = budgetReducer.apply(undefined, delta(5, 1_000), 1, null);
    for (const odd of [
      null,
      1,
      'x',
      [],
      {},
      { op: 'charge' },
      { ...delta(1, 1), amount: -1 },
      { ...delta(1, 1), amount: 'x' },
    ]) {
      expect(budgetReducer.apply(structuredClone(state), odd, 2, null)).toEqual(state);
    }
  });
});

describe('a configuration of a budget', () => {
  it('is refused with the member that is wrong', () => {
    const cases: readonly [object, string][] = [
      [{ limit: 0 }, 'limit: must be a number above 0, and at most 10^15'],
      [{ limit: 1e16 }, 'limit: must be a number above 0, and at most 10^15'],
      [{ window: {} }, 'window: must have exactly one of calendar, rolling and "life": true'],
      [
        { window: { rolling: '1h', life: true } },
        'window: must have exactly one of calendar, rolling and "life": true',
      ],
      [{ window: { calendar: 'year' } }, 'window.calendar: must be one of: minute, hour, day, week, month'],
      [
        { window: { calendar: 'day', time_zone: 'Mars/Olympus' } },
        'window.time_zone: is no time zone that is known here; write a name such as Europe/Berlin',
      ],
      [
        { window: { rolling: '2d' } },
        'window.rolling: must be at most 1d, the longest window of this service (SERVICE_MEMORY_WINDOW_HOURS)',
      ],
      [
        { amount: 'output.cost' },
        'amount: must be a number, or a path that begins with input or context, because there is no output before the step ' +
          'runs; use settle for an amount in the output',
      ],
      [
        { amount: undefined, reserve: 1 },
        'reserve: needs settle: without it the amount is known before the step, so write it as amount',
      ],
      [{ settle: 'output.cost' }, 'amount: cannot be used with settle: write reserve for the estimate'],
      [{ amount: undefined, settle: 3 }, 'settle: must be a path; write a constant as amount'],
      [
        { key: ['output.id'] },
        'key.0: must be session, agent, namespace, or a path that begins with input, context, type or name; a key cannot be ' +
          'of the output, because there is none before the step runs',
      ],
    ];
    for (const [change, problem] of cases) {
      expect(problemsOf('budget', { ...spending, window: { rolling: '1h' }, ...change })).toEqual([problem]);
    }
  });

  it('may have a calendar window that is longer than other windows', () => {
    expect(problemsOf('budget', { ...spending, window: { calendar: 'month' } })).toEqual([]);
    expect(DAY).toBe(86_400_000_000);
  });
});
