import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordedChange } from '../../../src/storage/database/change-log.js';
import { FollowedState } from '../../../src/storage/database/followed-state.js';

/** What happens, in any order; `turn` lets what waits for a promise run one step further. */
const STEPS = [
  ...(['change', 'other change', 'start over', 'catch up', 'refresh', 'load'] as const),
  ...(['answer', 'answer', 'fail', 'turn', 'turn', 'turn', 'wait 499', 'wait 1'] as const),
];

interface Reading {
  /** The latest change when it began: no later one need be found. */
  readonly found: number;
  end: 'none' | 'answer' | 'failure';
  resolve(found: number): void;
  reject(error: Error): void;
}

class Latest extends FollowedState<number> {
  known = -1;

  protected override take(found: number): void {
    this.known = found;
  }
}

/** A state over a database that consists of the number of its changes. `take` checks the laws of each step. */
function followed() {
  const clock = { ms: 1_000 };
  const readings: Reading[] = [];
  const seen: number[] = [];
  const calls: Promise<void>[] = [];
  let changes = 0;
  let failedAtMs = Number.NEGATIVE_INFINITY;
  let failuresTold = 0;
  const state = new Latest({
    read: () =>
      new Promise((resolve, reject) => {
        expect(readings.filter(({ end }) => end === 'none')).toEqual([]);
        readings.push({ found: changes, end: 'none', resolve, reject });
      }),
    onFailure: () => {
      failuresTold += 1;
    },
    now: () => clock.ms,
  });
  state.onChange(() => seen.push(state.known));

  function end(how: 'answer' | 'failure'): void {
    const reading = readings.at(-1);
    if (reading?.end !== 'none') return;
    reading.end = how;
    if (how === 'answer') reading.resolve(reading.found);
    else {
      failedAtMs = clock.ms;
      reading.reject(new Error('no answer'));
    }
  }

  /** Ends after a reading that began after it, and tells how that one ended. */
  async function asked(name: 'load' | 'refreshed'): Promise<void> {
    const before = readings.length;
    let outcome: Reading['end'] = 'answer';
    const told = failuresTold;
    await state[name]().catch(() => {
      outcome = 'failure';
    });
    const ends = readings.slice(before).map((reading) => reading.end);
    if (name === 'load') expect(ends).toContain(outcome);
    else expect([outcome, ends.includes('answer') || failuresTold > told]).toEqual(['answer', true]);
  }

  function catchUp(): void {
    const before = readings.length;
    const mayRead =
      state.reading === null && readings.at(-1)?.end !== 'answer' && clock.ms - failedAtMs >= 500;
    state.catchUp();
    expect(readings).toHaveLength(before + Number(mayRead));
  }

  const steps: Record<(typeof STEPS)[number], () => unknown> = {
    change: () => {
      changes += 1;
      state.changed([recordedChange(1, {}), recordedChange(2, { access: true })]);
    },
    'other change': () => {
      const before = readings.length;
      state.changed([recordedChange(1, { controls: [1] })]);
      expect(readings).toHaveLength(before);
    },
    'start over': () => {
      changes += 1;
      state.startOver();
    },
    'catch up': catchUp,
    refresh: () => void calls.push(asked('refreshed')),
    load: () => void calls.push(asked('load')),
    answer: () => end('answer'),
    fail: () => end('failure'),
    turn: () => Promise.resolve(),
    'wait 499': () => {
      clock.ms += 499;
    },
    'wait 1': () => {
      clock.ms += 1;
    },
  };

  return {
    async take(step: (typeof STEPS)[number]) {
      await steps[step]();
      if (state.reading === null && readings.at(-1)?.end === 'answer') expect(state.known).toBe(changes);
      expect(seen.at(-1) ?? -1).toBe(state.known);
    },
    /** Answers whatever is read, until the last calls have ended; what could not be read is read. */
    async settle() {
      clock.ms += 500;
      if (state.reading === null) catchUp();
      while (state.reading !== null) {
        end('answer');
        await Promise.resolve();
      }
      await Promise.all(calls);
      expect([state.known, readings.at(-1)?.end]).toEqual([changes, 'answer']);
      expect(seen).toHaveLength(readings.filter(({ end }) => end === 'answer').length);
    },
  };
}

describe('what follows the changes of the database', () => {
  it('is as new as the last change when nothing is read, after any changes, readings and failures', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...STEPS), { maxLength: 50 }), async (steps) => {
        const { take, settle } = followed();
        for (const step of steps) await take(step);
        await settle();
      }),
      { numRuns: 1_000 },
    );
  });
});
