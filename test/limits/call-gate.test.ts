import { describe, expect, it } from 'vitest';
import { createCallGate } from '../../src/host/limits/call-gate.js';
import { createLoadShedder } from '../../src/host/limits/load-shedder.js';
import type { Principal } from '../../src/rpc/handler.js';

const ANN: Principal = { level: 'key', keyFingerprint: 'aaaaaaaaaaaa' };
const BOB: Principal = { level: 'admin', keyFingerprint: 'bbbbbbbbbbbb' };
const ANYONE: Principal = { level: 'anonymous', keyFingerprint: null };

function gateOf(maxCallsPerKey: number, load = { isOverloaded: false }) {
  const refused: string[] = [];
  const gate = createCallGate({ maxCallsPerKey, load, onRefused: (why) => refused.push(why) });
  return { gate, refused };
}

describe('the calls of one key', () => {
  it('are limited, whatever other keys do', () => {
    const { gate, refused } = gateOf(2);
    const places = [gate.place(), gate.place()];
    for (const place of places) place.take(ANN);
    expect(() => gate.place().take(ANN)).toThrow(
      expect.objectContaining({
        code: 'RATE_LIMITED',
        options: expect.objectContaining({ retryAfterSeconds: 1 }),
      }),
    );
    gate.place().take(BOB);
    expect(gate.running).toBe(3);
    places[0]?.giveBack();
    gate.place().take(ANN);
    expect(refused).toEqual(['key-limit']);
  });

  it('are counted once and given back once', () => {
    const { gate } = gateOf(2);
    const place = gate.place();
    place.take(ANN);
    place.take(ANN);
    expect(gate.running).toBe(1);
    place.giveBack();
    place.giveBack();
    expect(gate.running).toBe(0);
  });

  it('are not counted when the caller went away before it was known', () => {
    const { gate } = gateOf(1);
    const place = gate.place();
    place.giveBack();
    place.take(ANN);
    expect(gate.running).toBe(0);
  });

  it('are not limited without a key, nor with a limit of 0', () => {
    const { gate } = gateOf(1);
    for (let count = 0; count < 10; count += 1) gate.place().take(ANYONE);
    expect(gate.running).toBe(0);
    const { gate: open } = gateOf(0);
    for (let count = 0; count < 10; count += 1) open.place().take(ANN);
    expect(open.running).toBe(10);
  });
});

/** A clock whose timer is as late as it is told. */
function lateClock() {
  let time = 0;
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
    },
    /** One turn of the timer, this late. */
    late(...delays: number[]) {
      for (const delay of delays) {
        time += 100 + delay;
        tick();
      }
    },
    /** Time goes by, and the timer does not come. */
    starve(ms: number) {
      time += ms;
    },
    stopped: () => stopped,
  };
}

describe('a late event loop', () => {
  it('is an overload when it is late twice in a row, not once', () => {
    const { clock, late } = lateClock();
    const load = createLoadShedder(500, clock);
    late(5_000, 0, 500, 499);
    expect(load.isOverloaded).toBe(false);
    late(500, 500);
    expect(load).toMatchObject({ isOverloaded: true, delayMs: 500 });
  });

  it('stays one until it was below half the limit for a while', () => {
    const { clock, late } = lateClock();
    const load = createLoadShedder(500, clock);
    late(900, 900);
    late(...Array<number>(9).fill(249), 250, ...Array<number>(9).fill(0));
    expect(load.isOverloaded).toBe(true);
    late(0);
    expect(load.isOverloaded).toBe(false);
  });

  it('is an overload when the timer does not come for as long as two late ones', () => {
    const { clock, late, starve } = lateClock();
    const load = createLoadShedder(500, clock);
    late(0);
    starve(1_099);
    expect(load).toMatchObject({ isOverloaded: false, delayMs: 999 });
    starve(1);
    expect(load).toMatchObject({ isOverloaded: true, delayMs: 1_000 });
    const never = lateClock();
    const off = createLoadShedder(0, never.clock);
    never.starve(60_000);
    expect(off.isOverloaded).toBe(false);
  });

  it('is measured but never an overload when the limit is 0', () => {
    const { clock, late, stopped } = lateClock();
    const load = createLoadShedder(0, clock);
    late(9_000, 9_000);
    expect(load).toMatchObject({ isOverloaded: false, delayMs: 9_000 });
    load.stop();
    expect(stopped()).toBe(true);
  });

  it('turns calls away, in a way that says when to come again', () => {
    const load = { isOverloaded: true };
    const { gate, refused } = gateOf(1, load);
    expect(() => gate.checkLoad()).toThrow(
      expect.objectContaining({
        code: 'SERVICE_UNAVAILABLE',
        options: expect.objectContaining({ retryAfterSeconds: 1 }),
      }),
    );
    load.isOverloaded = false;
    gate.checkLoad();
    expect(refused).toEqual(['overload']);
  });
});
