import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DEFAULT_NAMESPACE } from '../../../src/contract/call/namespace.js';
import type { RevisedVerdict } from '../../../src/decide/decisions/revised-verdict.js';
import type { ControlResult } from '../../../src/kernel/core/types.js';
import { createObservabilityMeter } from '../../../src/observe/events/observability-meter.js';
import { createRecorder } from '../../../src/observe/events/recorder.js';
import type { ControlEvent } from '../../../src/observe/events/store/event.js';
import { unavailable } from '../../../src/storage/database/errors.js';
import { keptFailures } from '../../support/failures.js';

const REQUEST = {
  agentName: 'recorded-bot-1',
  stage: 'pre',
  step: { type: 'llm', name: 'answer', input: null, output: null, context: null },
  options: null,
} as const;
const CALLER = {
  namespace: DEFAULT_NAMESPACE,
  protocol: 'rest',
  header: () => undefined,
  signal: new AbortController().signal,
  spend: () => {},
};
const INTERVAL_MS = 1_000;

/** Until everything has run that waits for nothing but its turn. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
}

/** A verdict with matches of these ids. */
function verdict(...ids: string[]): RevisedVerdict {
  const matches = ids.map(
    (id): ControlResult => ({
      control_execution_id: id,
      control_id: 1,
      control_name: 'one',
      action: 'deny',
      result: { matched: true, confidence: 1, message: null, metadata: null, error: null },
      steering_context: null,
    }),
  );
  return {
    is_safe: false,
    confidence: 1,
    reason: null,
    matches,
    errors: [],
    non_matches: [],
    selected_controls: matches.length,
    evaluated_controls: matches.length,
    skipped_controls: 0,
    revision: 1,
    staleness_seconds: null,
    schema_mismatch: null,
    outcome: 'deny',
    decision_id: '9a0e7d3a-7e0e-4c55-8f2a-4dbe2f110b8f',
  };
}

describe('the recorder', () => {
  beforeEach(() => {
    // Not setImmediate: the recorder gives way to others by it.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A recorder over a store that rejects with `failures` one after the other before it takes anything. */
  function recorder(failures: Error[] = []) {
    const batches: string[][] = [];
    const written: ControlEvent[] = [];
    const logged: { facts: object; message: string }[] = [];
    const log = (facts: object, message: string) => logged.push({ facts, message });
    const meter = createObservabilityMeter();
    const created = createRecorder({
      meter,
      async ingest(events: readonly ControlEvent[]) {
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
        batches.push(events.map((one) => one.control_execution_id));
        written.push(...events);
      },
      nonMatches: false,
      flushIntervalMs: INTERVAL_MS,
      log: { warn: log },
      failures: keptFailures(logged),
      now: () => 1_000,
    });
    const record = (request: typeof REQUEST, made: RevisedVerdict, caller: typeof CALLER) =>
      created.told({ request, verdict: made, caller });
    return { ...created, record, batches, written, logged, meter };
  }

  it('writes what came of a step that a person approved, with the matches that deny it and no others', async () => {
    const { record, start, written } = recorder();
    start();
    const [denies, observes] = verdict('a', 'b').matches;
    if (denies === undefined || observes === undefined) throw new Error('no matches');
    const approval = { id: 7, state: 'used', expiresAtMs: 0, stepSha256: '', controls: [] } as const;
    const matches = [denies, { ...observes, action: 'observe' } as const];
    record(REQUEST, { ...verdict(), is_safe: true, outcome: 'allow', matches, approval }, CALLER);
    record(REQUEST, verdict('c'), CALLER);
    await vi.advanceTimersByTimeAsync(INTERVAL_MS);
    expect(written.map(({ metadata }) => metadata)).toEqual([
      { verdict: { outcome: 'allow', approval: { id: 7, state: 'used' } } },
      {},
      {},
    ]);
  });

  it('writes at every interval, and nothing when there is nothing', async () => {
    const { record, start, batches } = recorder();
    start();
    record(REQUEST, verdict('a', 'b'), CALLER);
    expect(batches).toEqual([]);
    await vi.advanceTimersByTimeAsync(INTERVAL_MS);
    expect(batches).toEqual([['a', 'b']]);
    await vi.advanceTimersByTimeAsync(3 * INTERVAL_MS);
    record(REQUEST, verdict('c'), CALLER);
    await vi.advanceTimersByTimeAsync(INTERVAL_MS);
    expect(batches).toEqual([['a', 'b'], ['c']]);
  });

  it('writes soon when asked, but leaves a database that is away to the interval', async () => {
    const { record, start, flushSoon, batches } = recorder([unavailable('away')]);
    record(REQUEST, verdict('a'), CALLER);
    start();
    await flushSoon();
    await flushSoon();
    await vi.advanceTimersByTimeAsync(INTERVAL_MS - 1);
    expect(batches).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    record(REQUEST, verdict('b'), CALLER);
    await flushSoon();
    expect(batches).toEqual([['a'], ['b']]);
  });

  it('keeps events, in order, until the database can be reached again', async () => {
    const { record, start, batches } = recorder([unavailable('away'), unavailable('away')]);
    start();
    record(REQUEST, verdict('a'), CALLER);
    await vi.advanceTimersByTimeAsync(INTERVAL_MS);
    record(REQUEST, verdict('b'), CALLER);
    await vi.advanceTimersByTimeAsync(INTERVAL_MS);
    expect(batches).toEqual([]);
    await vi.advanceTimersByTimeAsync(INTERVAL_MS);
    expect(batches).toEqual([['a'], ['b']]);
  });

  it('gives up events that the database will never take, and writes the next ones', async () => {
    const { record, start, batches, logged, meter } = recorder([new Error('refused')]);
    start();
    record(REQUEST, verdict('a'), CALLER);
    await vi.advanceTimersByTimeAsync(INTERVAL_MS);
    expect(logged.map(({ message }) => message)).toEqual([expect.stringContaining('are lost')]);
    expect(meter.dropped.service.refused).toBe(1);
    record(REQUEST, verdict('b'), CALLER);
    await vi.advanceTimersByTimeAsync(INTERVAL_MS);
    expect(batches).toEqual([['b']]);
  });

  it('writes early and in portions when there are many', async () => {
    const { record, start, batches } = recorder();
    start();
    for (let at = 0; at < 10_000; at += 1) record(REQUEST, verdict(`e${at}`), CALLER);
    await settled();
    expect(batches.flat()).toHaveLength(10_000);
    expect(Math.max(...batches.map((batch) => batch.length))).toBe(500);
  });

  it('does not hurry while the database is away, however many wait', async () => {
    const { record, start, logged, batches } = recorder(Array(8).fill(unavailable('away')));
    start();
    for (let at = 0; at < 10_500; at += 1) {
      record(REQUEST, verdict(`e${at}`), CALLER);
      if (at >= 10_000) await new Promise(setImmediate);
    }
    expect(logged).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(INTERVAL_MS);
    await settled();
    expect(logged).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(INTERVAL_MS);
    await settled();
    expect(batches.flat()).toHaveLength(10_500);
  });

  it('holds 50,000 events, no more, and reports how many it lost', async () => {
    const { record, close, batches, logged, meter } = recorder();
    for (let at = 0; at < 50_010; at += 1) record(REQUEST, verdict(`e${at}`), CALLER);
    expect(meter.buffered()).toBe(50_000);
    await close();
    expect(meter.dropped.service).toMatchObject({ queue_full: 10, shutdown: 0 });
    expect(meter.buffered()).toBe(0);
    expect(batches.flat()).toHaveLength(50_000);
    expect(logged).toEqual([{ facts: { lost: 10 }, message: expect.stringContaining('lost') }]);
  });

  it('writes what is left when it is closed, or reports how much was lost', async () => {
    const first = recorder();
    first.start();
    first.record(REQUEST, verdict('a'), CALLER);
    await first.close();
    expect(first.batches).toEqual([['a']]);
    const second = recorder([unavailable('away')]);
    second.record(REQUEST, verdict('a', 'b'), CALLER);
    await second.close();
    expect(second.logged.at(-1)).toEqual({
      facts: { lost: 2 },
      message: expect.stringContaining('at shutdown'),
    });
    expect(second.meter.dropped.service).toMatchObject({ queue_full: 0, shutdown: 2 });
  });
});
