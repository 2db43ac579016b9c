import { create } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { afterEach, describe, expect, it } from 'vitest';
import { EvaluateStreamResponseSchema } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { agingStreams } from '../../support/long-streams.js';
import { until } from '../../support/until.js';
import {
  cancelMessage,
  type Evaluate,
  type LaneHarness,
  open,
  SAFE,
  startLane,
  streamMessage,
} from './lane-harness.js';

const AGES = { maxAgeMs: 60_000, graceMs: 10_000 };

let lane: LaneHarness;
afterEach(() => lane.stop());

/** An evaluation that answers steps that begin with `now` at once, and others never; with their signals. */
function stuck() {
  const signals: AbortSignal[] = [];
  const evaluate: Evaluate = (step, _header, signal) => {
    if (step.startsWith('now')) return SAFE;
    signals.push(signal());
    return new Promise(() => {});
  };
  return { evaluate, signals };
}

const noticeOf = (seconds: number, nanos = 0) =>
  create(EvaluateStreamResponseSchema, { notice: { drainWithin: { seconds: BigInt(seconds), nanos } } });

describe('a stream of the lane that is asked to end', () => {
  it('gets a notice, answers what still arrives, and ends with DRAINING once it is idle', async () => {
    const { timers, streams } = agingStreams(AGES);
    lane = await startLane(() => SAFE, 600_000, {}, streams);
    const call = open(lane.session(), 'EvaluateStream');
    call.stream.write(streamMessage('now 1'));
    await until(
      () => call.ids.length,
      (count) => count === 1,
    );
    streams.drain(9_500);
    await until(
      () => call.ids.length,
      (count) => count === 2,
    );
    expect(call.replies[1]).toEqual(noticeOf(9, 500_000_000));
    call.stream.write(streamMessage('now 2'));
    await until(
      () => call.ids.length,
      (count) => count === 3,
    );
    // It was not idle since the notice.
    timers.advance(1_100);
    call.stream.write(streamMessage('now 3'));
    await until(
      () => call.ids.length,
      (count) => count === 4,
    );
    timers.advance(3_000);
    expect(await call.ended).toMatchObject({ status: '14', rstCode: 0 });
    expect(call.ids).toEqual(['now 1', '', 'now 2', 'now 3']);
    expect(call.sizes).toEqual([1, 0, 1, 1]);
    expect(streams.size).toBe(0);
  });

  it('gets a notice before its first message', async () => {
    const { streams } = agingStreams(AGES);
    lane = await startLane(() => SAFE, 600_000, {}, streams);
    const call = open(lane.session(), 'EvaluateStream');
    await until(
      () => streams.size,
      (size) => size === 1,
    );
    streams.drain(2_000);
    await until(
      () => call.ids.length,
      (count) => count === 1,
    );
    expect(call.replies).toEqual([noticeOf(2)]);
    call.stream.end();
    expect(await call.ended).toMatchObject({ status: '0' });
    expect(streams.size).toBe(0);
  });

  it('waits for a pending evaluation as long as there is time', async () => {
    const { timers, streams } = agingStreams(AGES);
    const answers: (() => void)[] = [];
    lane = await startLane(
      () => new Promise((resolve) => answers.push(() => resolve(SAFE))),
      600_000,
      {},
      streams,
    );
    const call = open(lane.session(), 'EvaluateStream');
    call.stream.write(streamMessage('late'));
    await until(
      () => answers.length,
      (count) => count === 1,
    );
    streams.drain(9_000);
    timers.advance(8_000);
    answers[0]?.();
    await until(
      () => call.ids,
      (ids) => ids.includes('late'),
    );
    timers.advance(5_000);
    expect(await call.ended).toMatchObject({ status: '14' });
    expect(call.ids).toEqual(['', 'late']);
  });
});

describe('a message that cancels', () => {
  it('ends every pending evaluation with its id with CANCELLED, and is not answered', async () => {
    const { evaluate, signals } = stuck();
    lane = await startLane(evaluate);
    const call = open(lane.session(), 'EvaluateStream');
    for (const id of ['a', 'a', 'b']) call.stream.write(streamMessage(id, 2));
    await until(
      () => signals.length,
      (count) => count === 6,
    );
    call.stream.write(cancelMessage('a'));
    await until(
      () => call.ids.length,
      (count) => count === 2,
    );
    expect(call.ids).toEqual(['a', 'a']);
    for (const { results } of call.replies) {
      expect(results.map(({ outcome }) => outcome)).toMatchObject([
        { case: 'error', value: { code: Code.Canceled } },
        { case: 'error', value: { code: Code.Canceled } },
      ]);
    }
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true, true, false, false]);
    call.stream.write(cancelMessage('b'));
    call.stream.end();
    expect(await call.ended).toMatchObject({ status: '0' });
    expect(call.ids).toEqual(['a', 'a', 'b']);
  });

  it('keeps the results of the message that are there', async () => {
    const { evaluate, signals } = stuck();
    let count = 0;
    lane = await startLane((...call) => {
      count += 1;
      return count === 1 ? SAFE : evaluate(...call);
    });
    const call = open(lane.session(), 'EvaluateStream');
    call.stream.write(streamMessage('a', 2));
    await until(
      () => signals.length,
      (found) => found === 1,
    );
    call.stream.end(cancelMessage('a'));
    await call.ended;
    expect(call.replies.map(({ results }) => results.map(({ outcome }) => outcome.case))).toEqual([
      ['verdict', 'error'],
    ]);
  });

  it('cancels a message of which not everything has begun', async () => {
    const { evaluate, signals } = stuck();
    lane = await startLane(evaluate);
    const call = open(lane.session(), 'EvaluateStream');
    call.stream.write(streamMessage('long', 200));
    await until(
      () => signals.length,
      (count) => count === 64,
    );
    call.stream.end(cancelMessage('long'));
    await call.ended;
    const [reply] = call.replies;
    expect(reply?.results).toHaveLength(200);
    expect(
      reply?.results.every(({ outcome: { value } }) => (value as { code: number }).code === Code.Canceled),
    ).toBe(true);
    expect(signals).toHaveLength(64);
  });

  it('has no effect on what is answered, on unknown ids and on other streams', async () => {
    const { evaluate, signals } = stuck();
    lane = await startLane(evaluate);
    const session = lane.session();
    const [call, other] = [open(session, 'EvaluateStream'), open(session, 'EvaluateStream')];
    other.stream.write(streamMessage('x'));
    await until(
      () => signals.length,
      (count) => count === 1,
    );
    call.stream.write(streamMessage('now'));
    for (const id of ['now', 'x', '', 'y'.repeat(500)]) call.stream.write(cancelMessage(id));
    call.stream.write(streamMessage('now'));
    call.stream.end();
    expect(await call.ended).toMatchObject({ status: '0' });
    expect(call.ids).toEqual(['now', 'now']);
    expect(signals[0]?.aborted).toBe(false);
    other.stream.close();
  });

  it('is refused together with evaluations, once for each', async () => {
    lane = await startLane(() => SAFE);
    const call = open(lane.session(), 'EvaluateStream');
    call.stream.end(cancelMessage('both', 3));
    expect(await call.ended).toMatchObject({ status: '0' });
    expect(call.ids).toEqual(['both']);
    expect(call.replies[0]?.results.map(({ outcome }) => outcome)).toMatchObject(
      Array.from({ length: 3 }, () => ({
        case: 'error',
        value: { code: Code.InvalidArgument, message: expect.stringContaining('cancel') },
      })),
    );
  });
});
