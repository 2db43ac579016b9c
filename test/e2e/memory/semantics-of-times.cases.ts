import { expect } from 'vitest';
import { createProcessStore } from '../../../src/decide/memory/process/process-store.js';
import type { LimitState } from '../../../src/kernel/core/memory.js';
import type { Verdict } from '../../../src/kernel/core/types.js';
import { RULE_REDUCERS } from '../../../src/kernel/evaluators/memory/memory-evaluators.js';
import { engine, VirtualTimes } from '../../decide/memory/engine.support.js';
import { remembered } from '../../kernel/core/memory/support.js';
import { aProgram, aStep } from '../../kernel/core/support.js';
import { budget, control, formerly, leaf, rate, slots } from './semantics.support.js';

const HOUR_MS = 3_600_000;
/** 2001: no clock of the test is near. */
const BEGIN_US = 1_000_000_000_000_000;

/** Controls over the memory, with a store whose clock only the test moves; `clockUs` in place of it. */
function timed(definitions: readonly object[], clockUs?: () => number) {
  const virtual = new VirtualTimes();
  const entries: { atUs: number; readonly cell: string }[] = [];
  const store = createProcessStore({ clockUs: clockUs ?? (() => BEGIN_US + virtual.us) });
  const watched: typeof store = {
    ...store,
    exchange(request) {
      for (const { additions } of request.groups) {
        for (const { atUs, cell } of additions)
          entries.push({ atUs, cell: request.cells[cell]?.label ?? '' });
      }
      return store.exchange(request);
    },
  };
  const { memory } = engine({ store: watched, virtual, reducers: RULE_REDUCERS });
  const program = aProgram(definitions as never);
  let sent = 0;
  return {
    virtual,
    entries,
    close: () => memory.close(),
    send(name = 'act', isTrial = false): Promise<Verdict> {
      sent += 1;
      return remembered(program, memory, {
        step: aStep({ name, input: { amount: 5 } }),
        isTrial,
        identity: { stepId: `step-${sent}` },
      });
    },
  };
}

const advanceUs = (virtual: VirtualTimes, us: number) => virtual.advance(us / 1_000);
const only = ({ limits }: Verdict): LimitState => {
  expect(limits).toHaveLength(1);
  return limits?.[0] as LimitState;
};

/** Sentences about times to the microsecond: over the memory of a process, with a store whose clock the test sets. */
export const OF_TIMES: Readonly<Record<string, () => Promise<void>>> = {
  async 'Windows are closed: an amount that is exactly one window old counts.'() {
    const statements = [
      control(budget(5, { window: { rolling: '1h' } })),
      control(
        leaf('history', {
          op: 'sum',
          within: '1h',
          event: { kinds: ['request'] },
          value: 'input.amount',
          compare: { gt: 5 },
          include_current: true,
        }),
      ),
      control(formerly('request', { within: '1h' }), 'deny', { scope: { step_names: ['send'] } }),
    ];
    for (const [index, statement] of statements.entries()) {
      for (const [lateUs, isSafe] of [
        [0, false],
        [1, true],
      ] as const) {
        const { virtual, send, entries, close } = timed([statement]);
        expect((await send('read')).is_safe).toBe(true);
        const atUs = entries.at(-1)?.atUs as number;
        await advanceUs(virtual, atUs + HOUR_MS * 1_000 + lateUs - (BEGIN_US + virtual.us));
        expect({ index, lateUs, isSafe: (await send('send')).is_safe }).toEqual({ index, lateUs, isSafe });
        await close();
      }
    }
  },

  async 'The times of entries of a key are those of the store, and strictly increasing.'() {
    // The clock of the store stands still.
    const { send, entries, close } = timed([control(rate(100))], () => BEGIN_US);
    for (let step = 0; step < 5; step += 1) await send();
    await Promise.all(Array.from({ length: 20 }, () => send()));
    const times = entries.map(({ atUs }) => atUs);
    expect(times).toHaveLength(25);
    expect(times).toEqual([...new Set(times)].sort((left, right) => left - right));
    expect(Math.min(...times)).toBeGreaterThanOrEqual(BEGIN_US);
    expect(Math.max(...times)).toBeLessThan(BEGIN_US + 1_000_000);
    await close();
  },

  async 'A step that would pass according to `retry_after` passes at that time, if no other step comes first.'() {
    const limits = [
      rate(3, { period: '7s' }),
      rate(7, { period: '1h', burst: 2 }),
      budget(12, { window: { rolling: '90s' } }),
      budget(12, { window: { calendar: 'minute' } }),
      slots(2, { lease: '45s' }),
      leaf('loop', { repeat: 3, within: { time: '30s' } }),
      leaf('history', {
        op: 'count',
        within: '20s',
        event: { kinds: ['request'] },
        compare: { gt: 2 },
        include_current: true,
      }),
    ];
    for (const limit of limits) {
      const { virtual, send, close } = timed([control(limit)]);
      let denied: Verdict | undefined;
      for (let step = 0; denied === undefined; step += 1) {
        expect(step).toBeLessThan(5);
        const verdict = await send();
        if (!verdict.is_safe) denied = verdict;
        else await advanceUs(virtual, 123_457);
      }
      const retryUs = only(denied).retryAfterUs as number;
      expect(retryUs).toBeGreaterThan(2);
      await advanceUs(virtual, retryUs - 2);
      expect({ limit, isSafe: (await send('act', true)).is_safe }).toEqual({ limit, isSafe: false });
      await advanceUs(virtual, 2);
      expect({ limit, isSafe: (await send()).is_safe }).toEqual({ limit, isSafe: true });
      await close();
    }
  },
};
