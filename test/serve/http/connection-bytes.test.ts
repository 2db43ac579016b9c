import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../support/until.js';
import {
  type LaneHarness,
  MAX_BYTES,
  open,
  SAFE,
  startLane,
  streamMessage,
  unaryMessage,
} from '../lane/lane-harness.js';

/** The beginning of a message of the largest size. */
function unfinished(bytes: number): Buffer {
  const start = Buffer.alloc(5 + bytes);
  start.writeUInt32BE(MAX_BYTES, 1);
  return start;
}

let lane: LaneHarness;
afterEach(() => lane.stop());

const held = (check: (bytes: number) => boolean) => until(() => lane.heldBytes(), check);
const isNone = (bytes: number) => bytes === 0;

describe('unfinished messages of one connection', () => {
  it.each(['Evaluate', 'EvaluateStream'] as const)(
    'of %s are bounded together; the one too many is refused and others are served',
    async (rpc) => {
      const budget = 4 * MAX_BYTES;
      lane = await startLane(() => SAFE, 10_000, { limits: { connectionBytes: budget } });
      const session = lane.session();
      const calls = Array.from({ length: 8 }, () => open(session, rpc));
      for (const { stream } of calls) stream.write(unfinished(MAX_BYTES - 1_000));
      const statuses: (string | undefined)[] = [];
      for (const call of calls) void call.ended.then(({ status }) => statuses.push(status));
      await until(
        () => statuses.length,
        (count) => count === 4,
      );
      expect(statuses).toEqual(['8', '8', '8', '8']);
      await held((bytes) => bytes > budget - 8 * 1_024);
      expect(lane.heldBytes()).toBeLessThanOrEqual(budget);
      const other = open(lane.session(), 'Evaluate');
      other.stream.end(unaryMessage('a'));
      expect((await other.ended).status).toBe('0');
      for (const { stream } of calls) stream.close();
      await held(isNone);
    },
  );

  it('are given back when they are complete, broken off, refused, or their connection is gone', async () => {
    lane = await startLane(() => SAFE);
    const session = lane.session();
    const complete = open(session, 'EvaluateStream');
    const message = streamMessage('a', 100);
    complete.stream.write(message.subarray(0, -1));
    await held((bytes) => bytes === message.length - 1);
    complete.stream.write(message.subarray(-1));
    await held(isNone);

    const ended = open(session, 'EvaluateStream');
    ended.stream.end(unfinished(1_000));
    expect((await ended.ended).status).toBe('3');
    expect(lane.heldBytes()).toBe(0);

    const reset = open(session, 'Evaluate');
    reset.stream.write(unfinished(1_000));
    await held((bytes) => bytes === 1_005);
    reset.stream.close();
    await held(isNone);

    open(session, 'Evaluate').stream.write(unfinished(2_000));
    await held((bytes) => bytes === 2_005);
    session.destroy();
    await held(isNone);
  });
});
