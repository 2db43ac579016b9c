import http2 from 'node:http2';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterEach, describe, expect, it } from 'vitest';
import type { RevisedVerdict } from '../../../src/decide/decisions/revised-verdict.js';
import { shutdownReason } from '../../../src/serve/connect/connect-plugin.js';
import { withGrowingTime } from '../../support/growing-time.js';
import { until } from '../../support/until.js';
import {
  type Evaluate,
  type LaneHarness,
  open,
  SAFE,
  startLane,
  streamMessage,
  unaryMessage,
} from './lane-harness.js';

/** An evaluation that answers when told to. Steps that begin with `now` are answered at once. */
function doors() {
  const waiting = new Map<string, (verdict: RevisedVerdict | Error) => void>();
  let started = 0;
  const evaluate: Evaluate = (step) => {
    started += 1;
    if (step.startsWith('now')) return SAFE;
    return new Promise((resolve, reject) => {
      waiting.set(step, (verdict) => (verdict instanceof Error ? reject(verdict) : resolve(verdict)));
    });
  };
  return {
    evaluate,
    started: () => started,
    waiting: () => waiting.size,
    open(step: string, answer: RevisedVerdict | Error = SAFE): void {
      waiting.get(step)?.(answer);
      waiting.delete(step);
    },
  };
}

let lane: LaneHarness;
afterEach(() => lane.stop());

describe('the choice of the lane', () => {
  it.each([
    ['another path', { ':path': '/enforcement.v1.AgentService/GetAgent' }],
    ['a query', { ':path': '/enforcement.v1.EvaluationService/Evaluate?x=y' }],
    ['another method', { ':method': 'PUT' }],
    ['gRPC-Web', { 'content-type': 'application/grpc-web+proto' }],
    ['Connect', { 'content-type': 'application/proto' }],
    ['gRPC with JSON', { 'content-type': 'application/grpc+json' }],
    ['a compressed call', { 'grpc-encoding': 'gzip' }],
    ['an expectation', { expect: '100-continue' }],
    ['the call of a page', { origin: 'https://page.example' }],
  ])('leaves %s to others', async (_what, headers) => {
    lane = await startLane(() => SAFE);
    open(lane.session(), 'Evaluate', headers).stream.end(unaryMessage('a'));
    await until(
      () => lane.left.length,
      (count) => count === 1,
    );
  });

  it.each([{}, { 'content-type': 'application/grpc+proto' }, { 'grpc-encoding': 'identity' }])(
    'takes plain gRPC: %j',
    async (headers) => {
      lane = await startLane(() => SAFE);
      const call = open(lane.session(), 'Evaluate', headers);
      call.stream.end(unaryMessage('a'));
      expect(await call.ended).toMatchObject({ status: '0', rstCode: 0 });
      expect(lane.left).toEqual([]);
    },
  );
});

describe('a call of the lane', () => {
  it('hands metadata to the evaluation', async () => {
    const seen: (string | undefined)[] = [];
    lane = await startLane((_step, header) => {
      seen.push(header('traceparent'), header('absent'));
      return SAFE;
    });
    const call = open(lane.session(), 'Evaluate', { traceparent: '00-a-b-01' });
    call.stream.end(unaryMessage('a'));
    await call.ended;
    expect(seen).toEqual(['00-a-b-01', undefined]);
  });

  it('waits for a late answer', async () => {
    const door = doors();
    lane = await startLane(door.evaluate);
    const call = open(lane.session(), 'Evaluate');
    call.stream.end(unaryMessage('late'));
    await until(door.waiting, (count) => count === 1);
    door.open('late');
    expect(await call.ended).toMatchObject({ status: '0' });
    expect(call.received().length).toBeGreaterThan(5);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ] as [string, Evaluate][])(
    'answers INTERNAL, reveals nothing and logs it when the evaluation %s',
    async (_how, evaluate) => {
      lane = await startLane(evaluate);
      const call = open(lane.session(), 'Evaluate');
      call.stream.end(unaryMessage('a'));
      const { status, message } = await call.ended;
      expect([status, message]).toEqual(['13', expect.not.stringContaining('broken')]);
      expect(lane.logged).toContainEqual(expect.objectContaining({ message: 'an RPC failed' }));
    },
  );

  it('sends the status even when its text cannot be sent', async () => {
    lane = await startLane(() => {
      throw new ConnectError('half a \ud800 pair', Code.OutOfRange);
    });
    const call = open(lane.session(), 'Evaluate');
    call.stream.end(unaryMessage('a'));
    expect(await call.ended).toMatchObject({ status: '11', rstCode: 0 });
  });

  it('ends at its deadline while the evaluation takes its time', async () => {
    const door = doors();
    lane = await startLane(door.evaluate);
    const call = open(lane.session(), 'Evaluate', { 'grpc-timeout': '100m' });
    call.stream.end(unaryMessage('late'));
    expect(await call.ended).toMatchObject({ status: '4', message: 'the operation timed out' });
    door.open('late');
  });

  it('ends when the service has no more time for it', async () => {
    lane = await startLane(doors().evaluate, 100);
    const call = open(lane.session(), 'Evaluate');
    call.stream.end(unaryMessage('late'));
    expect(await call.ended).toMatchObject({ status: '4', message: 'The request took longer than 0.1 s.' });
  });

  it.each(['Evaluate', 'EvaluateStream'] as const)(
    'survives that %s is reset while it waits',
    async (rpc) => {
      const door = doors();
      lane = await startLane(door.evaluate);
      const session = lane.session();
      const call = open(session, rpc);
      call.stream.write(rpc === 'Evaluate' ? unaryMessage('late') : streamMessage('late'));
      if (rpc === 'Evaluate') call.stream.end();
      await until(door.waiting, (count) => count === 1);
      call.stream.close(http2.constants.NGHTTP2_CANCEL);
      await until(async () => /code="canceled"[^\n]* 1\n/.test(await lane.metrics.text()), Boolean);
      door.open('late');
      const next = open(session, 'Evaluate');
      next.stream.end(unaryMessage('now'));
      expect(await next.ended).toMatchObject({ status: '0' });
    },
  );

  it('is counted, timed and logged', async () => {
    lane = await startLane(() => SAFE);
    const call = open(lane.session(), 'Evaluate', { 'x-request-id': 'mine' });
    call.stream.end(unaryMessage('a'));
    await call.ended;
    const rpc = 'rpc="enforcement.v1.EvaluationService/Evaluate",protocol="grpc"';
    const text = await until(
      () => lane.metrics.text(),
      (found) => found.includes(`test_rpcs_total{${rpc}`),
    );
    expect(text).toContain(`test_rpcs_total{${rpc},code="ok"`);
    expect(text).toMatch(/test_rpcs_in_progress\{[^}]*\} 0/);
    expect(lane.logged).toContainEqual({
      reqId: 'mine',
      method: 'POST',
      path: '/enforcement.v1.EvaluationService/Evaluate',
      status: 200,
      ms: expect.any(Number),
      message: 'request',
    });
  });
});

describe('a stream of the lane', () => {
  it('answers in the order of completion', async () => {
    const door = doors();
    lane = await startLane(door.evaluate);
    const call = open(lane.session(), 'EvaluateStream');
    for (const id of ['first', 'second', 'now-third']) call.stream.write(streamMessage(id));
    await until(
      () => call.ids.length,
      (count) => count === 1,
    );
    door.open('second');
    await until(
      () => call.ids.length,
      (count) => count === 2,
    );
    door.open('first');
    call.stream.end();
    expect(await call.ended).toMatchObject({ status: '0' });
    expect(call.ids).toEqual(['now-third', 'second', 'first']);
  });

  it('stops reading while too many messages wait, and continues behind them', async () => {
    const door = doors();
    lane = await startLane(door.evaluate);
    const call = open(lane.session(), 'EvaluateStream');
    const ids = Array.from({ length: 100 }, (_, at) => `late-${at}`);
    call.stream.end(Buffer.concat(ids.map((id) => streamMessage(id))));
    await until(door.started, (count) => count === 64);
    for (const id of ids.slice(0, 64)) door.open(id);
    await until(door.started, (count) => count === 100);
    for (const id of ids.slice(64)) door.open(id);
    expect(await call.ended).toMatchObject({ status: '0' });
    expect(call.ids).toEqual(ids);
  });

  it('stops reading while too many evaluations wait', async () => {
    const door = doors();
    lane = await startLane(door.evaluate);
    const call = open(lane.session(), 'EvaluateStream');
    call.stream.write(Buffer.concat(Array.from({ length: 60 }, (_, at) => streamMessage(`late-${at}`, 60))));
    // 17 messages of 60 evaluations are the first to have a thousand.
    await until(door.started, (count) => count === 17 * 60);
    expect(door.waiting()).toBe(17);
    call.stream.close(http2.constants.NGHTTP2_CANCEL);
  });

  it('answers everything that a client sends before it reads', async () => {
    lane = await startLane(() => SAFE);
    const call = open(lane.session(), 'EvaluateStream');
    call.stream.pause();
    const messages = 5_000;
    const flood = Buffer.concat(Array.from({ length: messages }, () => streamMessage('now', 4)));
    call.stream.end(flood);
    // It answers no more than the windows and its buffer hold: the rest waits at the client.
    await until(
      () => call.stream.writableLength,
      (unsent) => unsent > 0,
    );
    call.stream.resume();
    expect(await call.ended).toMatchObject({ status: '0' });
    expect(call.ids).toHaveLength(messages);
  });

  it('evaluates little for a client that does not read', async () => {
    let evaluated = 0;
    lane = await startLane(() => {
      evaluated += 1;
      return { ...SAFE, is_safe: false, reason: 'r'.repeat(1_000) };
    });
    const call = open(lane.session(), 'EvaluateStream');
    call.stream.removeAllListeners('data');
    call.stream.pause();
    for (let at = 0; at < 100; at += 1) call.stream.write(Buffer.concat(Array(50).fill(streamMessage('x'))));
    const settled = await until(
      async () => {
        const before = evaluated;
        await new Promise((resolve) => setTimeout(resolve, 200));
        return { grown: evaluated - before, evaluated };
      },
      ({ grown, evaluated: all }) => grown === 0 && all > 0,
    );
    // Windows of 64 KiB, a buffer of 128 KiB, a turn of 128 evaluations: far from the 5,000 that were sent.
    expect(settled.evaluated).toBeLessThan(1_000);
    call.stream.close(http2.constants.NGHTTP2_CANCEL);
  });

  it('does not keep other connections from being served', async () => {
    const order: string[] = [];
    lane = await startLane((step) => {
      order.push(step);
      return SAFE;
    });
    const other = lane.session();
    await new Promise((resolve) => other.once('remoteSettings', resolve));
    const flood = open(lane.session(), 'EvaluateStream');
    flood.stream.write(Buffer.concat(Array.from({ length: 200 }, () => streamMessage('now-flood', 64))));
    await until(
      () => order.length,
      (count) => count > 0,
    );
    const call = open(other, 'Evaluate');
    call.stream.end(unaryMessage('quiet'));
    expect(await call.ended).toMatchObject({ status: '0' });
    flood.stream.end();
    expect(await flood.ended).toMatchObject({ status: '0' });
    expect(order).toHaveLength(200 * 64 + 1);
    expect(order.indexOf('quiet')).toBeLessThan(order.length - 1);
  });

  it('evaluates no more than its share in one turn of the event loop', async () => {
    let turn = 0;
    let next = setImmediate(function count() {
      turn += 1;
      next = setImmediate(count);
    });
    const perTurn = new Map<number, number>();
    lane = await startLane(() => {
      perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1);
      return SAFE;
    });
    const session = lane.session();
    const calls = Array.from({ length: 3 }, () => open(session, 'EvaluateStream'));
    for (const call of calls)
      call.stream.end(Buffer.concat(Array.from({ length: 1_000 }, () => streamMessage('now'))));
    for (const call of calls) {
      expect(await call.ended).toMatchObject({ status: '0' });
      expect(call.ids).toHaveLength(1_000);
    }
    clearImmediate(next);
    expect(Math.max(...perTurn.values())).toBeLessThanOrEqual(128);
  });

  it('is gone once it has ended, though it was not reading when it did', async () => {
    const door = doors();
    lane = await startLane(door.evaluate);
    await withGrowingTime(200, async (ms) => {
      const before = door.started();
      const call = open(lane.session(), 'EvaluateStream', { 'grpc-timeout': `${ms}m` });
      call.stream.write(Buffer.concat(Array.from({ length: 1_000 }, (_, at) => streamMessage(`late-${at}`))));
      expect(await call.ended).toMatchObject({ status: '4', rstCode: 0 });
      expect(door.started() - before).toBe(64);
    });
    await until(
      () => lane.metrics.text(),
      (found) => /test_rpcs_in_progress\{[^}]*EvaluateStream[^}]*\} 0/.test(found),
    );
  });

  it('ends at its deadline, and with UNAVAILABLE when the server shuts down', async () => {
    lane = await startLane(doors().evaluate);
    const session = lane.session();
    const hurried = open(session, 'EvaluateStream', { 'grpc-timeout': '50m' });
    const idle = open(session, 'EvaluateStream');
    idle.stream.write(streamMessage('now'));
    await until(
      () => idle.ids.length,
      (count) => count === 1,
    );
    expect(await hurried.ended).toMatchObject({ status: '4' });
    const busy = open(session, 'Evaluate');
    busy.stream.end(unaryMessage('late'));
    const waiting = open(session, 'EvaluateStream');
    waiting.stream.write(streamMessage('late'));
    // The request before a ping has arrived when the ping is answered.
    await new Promise((resolve) => session.ping(resolve));
    lane.shutdown.abort(shutdownReason());
    for (const call of [idle, busy, waiting]) {
      expect(await call.ended).toMatchObject({
        status: '14',
        message: expect.stringContaining('shutting down'),
        rstCode: 0,
      });
    }
  });

  it('leaves nothing behind when its connection breaks', async () => {
    const door = doors();
    lane = await startLane(door.evaluate);
    const session = lane.session();
    const calls = Array.from({ length: 20 }, () => open(session, 'EvaluateStream'));
    for (const call of calls) call.stream.write(streamMessage('late'));
    await until(door.started, (count) => count === 20);
    session.destroy();
    const text = await until(
      () => lane.metrics.text(),
      (found) => /code="canceled"[^\n]* 20\n/.test(found),
    );
    expect(text).toMatch(/test_rpcs_in_progress\{[^}]*EvaluateStream[^}]*\} 0/);
    door.open('late', new Error('too late'));
  });
});
