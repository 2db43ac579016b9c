import { describe, expect, it } from 'vitest';
import { DueTimes, TICK_MS } from '../../../src/serve/call/due-times.js';
import { manualTimers } from '../../support/long-streams.js';

describe('due times', () => {
  it('run each function once, at its time or at most one tick later', () => {
    const timers = manualTimers();
    const due = new DueTimes(timers);
    const ran: [string, number][] = [];
    const at = (name: string, ms: number) => due.after(ms, () => ran.push([name, timers.now()]));
    at('late', 10_000);
    at('early', 250);
    at('middle', 5_000);
    timers.advance(20_000);
    expect(ran.map(([name]) => name)).toEqual(['early', 'middle', 'late']);
    for (const [name, asked] of [
      ['early', 250],
      ['middle', 5_000],
      ['late', 10_000],
    ] as const) {
      const [, ms] = ran.find(([one]) => one === name) ?? ['', 0];
      expect(ms).toBeGreaterThanOrEqual(asked);
      expect(ms).toBeLessThanOrEqual(asked + TICK_MS);
    }
  });

  it('share one timer, and have none when nothing is due', () => {
    const timers = manualTimers();
    const due = new DueTimes(timers);
    let ran = 0;
    for (let index = 0; index < 10_000; index += 1) due.after(1_000 + index, () => (ran += 1));
    expect(timers.running).toBe(1);
    timers.advance(12_000);
    expect(ran).toBe(10_000);
    expect(timers.running).toBe(0);
  });

  it('do not run what was cancelled, also by a function of the same tick', () => {
    const timers = manualTimers();
    const due = new DueTimes(timers);
    const ran: string[] = [];
    const cancel = due.after(500, () => ran.push('cancelled'));
    cancel();
    let cancelSecond = () => {};
    due.after(600, () => {
      ran.push('first');
      cancelSecond();
    });
    cancelSecond = due.after(600, () => ran.push('second'));
    due.after(Number.POSITIVE_INFINITY, () => ran.push('never'));
    timers.advance(10_000_000_000);
    expect(ran).toEqual(['first']);
  });

  it('wait for times beyond the range of timers', () => {
    const timers = manualTimers();
    const due = new DueTimes(timers);
    const month = 31 * 24 * 3_600_000;
    let ran = false;
    due.after(month, () => {
      ran = true;
    });
    timers.advance(month - 1_000);
    expect(ran).toBe(false);
    timers.advance(2_000);
    expect(ran).toBe(true);
  });

  it('accept further functions while they run', () => {
    const timers = manualTimers();
    const due = new DueTimes(timers);
    const ran: number[] = [];
    due.after(100, () => due.after(100, () => ran.push(timers.now())));
    timers.advance(1_000);
    expect(ran).toHaveLength(1);
  });
});
