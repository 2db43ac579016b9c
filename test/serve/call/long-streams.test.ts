import type { ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { ErrorInfoSchema, RetryInfoSchema } from '../../../gen/proto/google/rpc/error_details_pb.js';
import { DueTimes } from '../../../src/serve/call/due-times.js';
import { IDLE_MS, jittered, type LongStream, LongStreams } from '../../../src/serve/call/long-streams.js';
import { agingStreams, manualTimers } from '../../support/long-streams.js';

const AGES = { maxAgeMs: 60_000, graceMs: 10_000 };

/** A stream that can be told, with what happened to it. */
function told(connection?: object) {
  const notices: number[] = [];
  const ended: ConnectError[] = [];
  let isActive = false;
  const stream: LongStream = {
    connection,
    notify: (withinMs) => notices.push(withinMs),
    wasActive() {
      const wasActive = isActive;
      isActive = false;
      return wasActive;
    },
    end: (reason) => ended.push(reason),
  };
  return { stream, notices, ended, work: () => (isActive = true) };
}

describe('a long stream', () => {
  it('gets a notice at its maximum age, and ends once it was idle', () => {
    const { timers, streams } = agingStreams(AGES);
    const one = told();
    streams.add(one.stream);
    timers.advance(59_000);
    expect(one.notices).toEqual([]);
    timers.advance(1_100);
    expect(one.notices).toEqual([10_000]);
    expect(one.ended).toEqual([]);
    timers.advance(IDLE_MS + 100);
    expect(one.ended).toHaveLength(1);
    expect(streams.size).toBe(0);
    expect(timers.running).toBe(0);
  });

  it('continues while messages arrive, until the time is over', () => {
    const { timers, streams } = agingStreams(AGES);
    const one = told();
    streams.add(one.stream);
    timers.advance(60_000);
    for (let ms = 0; ms < 9_500; ms += 500) {
      one.work();
      timers.advance(500);
    }
    expect(one.ended).toEqual([]);
    one.work();
    timers.advance(700);
    expect(one.ended).toHaveLength(1);
  });

  it('ends with UNAVAILABLE, the reason DRAINING and a retry delay of 0', () => {
    const { timers, streams } = agingStreams(AGES);
    const one = told();
    streams.add(one.stream);
    streams.drain(0);
    timers.advance(200);
    const [error] = one.ended;
    expect(error?.code).toBe(14);
    expect(error?.findDetails(ErrorInfoSchema)).toMatchObject([{ reason: 'DRAINING' }]);
    expect(error?.findDetails(RetryInfoSchema)).toMatchObject([{ retryDelay: { seconds: 0n, nanos: 0 } }]);
  });

  it('gets a second notice only if there is less time than the first one said', () => {
    const { timers, streams } = agingStreams(AGES);
    const connection = {};
    const one = told(connection);
    const busy = setActive(one.stream);
    streams.add(busy);
    streams.leaveConnection(connection);
    timers.advance(5_000);
    streams.leaveConnection(connection);
    streams.drain(60_000);
    expect(one.notices).toEqual([10_000]);
    streams.drain(2_000);
    expect(one.notices).toEqual([10_000, 2_000]);
    timers.advance(2_100);
    expect(one.ended).toHaveLength(1);
  });

  it('that opens during the shutdown is told at once', () => {
    const { timers, streams } = agingStreams(AGES);
    streams.drain(8_000);
    timers.advance(3_000);
    const one = told();
    streams.add(one.stream);
    expect(one.notices).toEqual([5_000]);
  });

  it('that cannot be told gets a moment, then it ends', () => {
    const { timers, streams } = agingStreams(AGES);
    const ended: ConnectError[] = [];
    streams.add({ connection: undefined, end: (reason) => ended.push(reason) });
    timers.advance(60_000);
    expect(ended).toEqual([]);
    timers.advance(IDLE_MS + 200);
    expect(ended).toHaveLength(1);
  });

  it('that is over is left alone', () => {
    const { timers, streams } = agingStreams(AGES);
    const one = told();
    streams.add(one.stream);
    streams.remove(one.stream);
    streams.remove(one.stream);
    streams.drain(1_000);
    timers.advance(200_000);
    expect([one.notices, one.ended]).toEqual([[], []]);
  });

  it('is told only with the connection that it runs on', () => {
    const { streams } = agingStreams(AGES);
    const [here, elsewhere] = [{}, {}];
    const [one, other] = [told(here), told(elsewhere)];
    streams.add(one.stream);
    streams.add(other.stream);
    streams.leaveConnection(here);
    expect([one.notices, other.notices]).toEqual([[10_000], []]);
    const late = told(here);
    streams.add(late.stream);
    expect(late.notices).toEqual([10_000]);
  });

  it('has an age within 10 % of the maximum, and never ends without a maximum', () => {
    const timers = manualTimers();
    for (const [random, ms] of [
      [0, 54_000],
      [0.5, 60_000],
      [1, 66_000],
    ] as const) {
      expect(jittered(60_000, () => random)).toBeCloseTo(ms);
    }
    const forever = new LongStreams(
      new DueTimes(timers),
      { maxAgeMs: Number.POSITIVE_INFINITY, graceMs: 0 },
      () => 0,
    );
    forever.add(told().stream);
    expect(timers.running).toBe(0);
  });
});

function setActive(stream: LongStream): LongStream {
  return { ...stream, wasActive: () => true };
}
