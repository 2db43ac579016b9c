import { describe, expect, it } from 'vitest';
import {
  createLoadShedder,
  createProcessorUse,
  type LoadShedder,
} from '../../../src/serve/admission/load-shedder.js';
import { until } from '../../support/until.js';

/** A clock whose timer is as late as it is told; the loop idles in the rest of the time, but for `waitedMs`. */
function lateClock() {
  let time = 0;
  let waitedMs = 0;
  let idleMs = 0;
  let tick = () => {};
  let stopped = false;
  return {
    clock: {
      now: () => time,
      every(_ms: number, called: () => void) {
        tick = called;
        return () => {
          stopped = true;
        };
      },
      use: { waitedMs: () => waitedMs, idleMs: () => idleMs },
    },
    /** One turn of the timer, this late. */
    late(...delays: number[]) {
      for (const delay of delays) {
        time += 100 + delay;
        idleMs += 100;
        tick();
      }
    },
    /** The same, while others have the processors for this part of it, and the loop idles as long as this. */
    beside(share: number, idle: number, ...delays: number[]) {
      for (const delay of delays) {
        time += 100 + delay;
        waitedMs += delay * share;
        idleMs += idle;
        tick();
      }
    },
    wait(ms: number) {
      time += ms;
      waitedMs += ms;
    },
    /** Time goes by, and the timer does not come. */
    starve(ms: number) {
      time += ms;
    },
    stopped: () => stopped,
  };
}

const refused = (load: LoadShedder) =>
  (['evaluation', 'keyed', 'public'] as const).filter((callClass) => load.refuses(callClass));

describe('a late event loop', () => {
  it('is an overload when it is late twice in a row, not once', () => {
    const { clock, late } = lateClock();
    const load = createLoadShedder(500, clock);
    late(5_000, 0, 500, 499);
    expect(load.refuses('evaluation')).toBe(false);
    late(500, 500);
    expect(load.refuses('evaluation')).toBe(true);
    expect(load.delayMs).toBe(500);
  });

  it('refuses the least urgent calls first', () => {
    const { clock, late } = lateClock();
    const load = createLoadShedder(800, clock);
    late(99, 99);
    expect(refused(load)).toEqual([]);
    late(100, 100);
    expect(refused(load)).toEqual(['public']);
    late(400, 400);
    expect(refused(load)).toEqual(['keyed', 'public']);
    late(800, 800);
    expect(refused(load)).toEqual(['evaluation', 'keyed', 'public']);
  });

  it('stays an overload until it was below half the limit for a while', () => {
    const { clock, late } = lateClock();
    const load = createLoadShedder(500, clock);
    late(900, 900);
    late(...Array<number>(9).fill(249), 250, ...Array<number>(9).fill(0));
    expect(load.refuses('evaluation')).toBe(true);
    late(0);
    expect(load.refuses('evaluation')).toBe(false);
  });

  it('is an overload when the timer does not come for as long as two late ones', () => {
    const { clock, late, starve } = lateClock();
    const load = createLoadShedder(500, clock);
    late(0);
    starve(1_099);
    expect(load.refuses('evaluation')).toBe(false);
    expect(load.delayMs).toBe(999);
    starve(1);
    expect(load.refuses('evaluation')).toBe(true);
    const never = lateClock();
    const off = createLoadShedder(0, never.clock);
    never.starve(60_000);
    expect(refused(off)).toEqual([]);
  });

  it('is none while others have the processors, as long as the loop has pauses', () => {
    const { clock, beside, wait, late } = lateClock();
    const load = createLoadShedder(800, clock);
    beside(1, 50, ...Array<number>(50).fill(3_000));
    wait(5_000);
    expect(refused(load)).toEqual([]);
    expect(load.delayMs).toBe(4_900);
    late(0);
    // A part is its own.
    beside(0.5, 50, 800, 800);
    expect(refused(load)).toEqual(['keyed', 'public']);
  });

  it('is none beside others for a caller that calls now and then, however late the loop is', () => {
    const { clock, beside } = lateClock();
    const load = createLoadShedder(800, clock);
    for (let second = 0; second < 60; second += 1) {
      for (let call = 0; call < 6; call += 1) load.refuses('public');
      beside(1, 0, 900);
    }
    expect(refused(load)).toEqual([]);
  });

  it('is an overload beside others too once many call and the loop has had no pause for seconds', () => {
    const { clock, beside, late } = lateClock();
    const load = createLoadShedder(800, clock);
    const called = (calls: number) => {
      for (let call = 0; call < calls; call += 1) load.refuses('evaluation');
      beside(1, 0, 900);
    };
    late(0);
    for (const calls of [50, 50]) called(calls);
    expect(refused(load)).toEqual([]);
    for (const calls of [50, 50, 50]) called(calls);
    expect(refused(load)).toEqual(['evaluation', 'keyed', 'public']);
    late(...Array<number>(10).fill(0));
    expect(refused(load)).toEqual([]);
  });

  it('is told from a busy machine by what the thread waits, which only grows', async () => {
    const use = createProcessorUse();
    const [waited, idle] = [use.waitedMs(), use.idleMs()];
    await until(use.idleMs, (now) => now > idle);
    expect(use.waitedMs()).toBeGreaterThanOrEqual(waited);
  });

  it('is measured but never an overload when the limit is 0', () => {
    const { clock, late, stopped } = lateClock();
    const load = createLoadShedder(0, clock);
    late(9_000, 9_000);
    expect(refused(load)).toEqual([]);
    expect(load.delayMs).toBe(9_000);
    load.stop();
    expect(stopped()).toBe(true);
  });
});
