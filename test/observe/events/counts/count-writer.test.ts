import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ServiceError } from '../../../../src/contract/errors/service-error.js';
import type { CountBatch } from '../../../../src/observe/events/counts/count-batch.js';
import { createCountMeter } from '../../../../src/observe/events/counts/count-meter.js';
import { type CountSpool, createCountSpool } from '../../../../src/observe/events/counts/count-spool.js';
import { createCountWriter } from '../../../../src/observe/events/counts/count-writer.js';
import { EvaluationCollector } from '../../../../src/observe/events/counts/evaluation-collector.js';
import { OutcomeUnknownError, unavailable } from '../../../../src/storage/database/errors.js';
import { NO_FAILURES } from '../../../support/failures.js';

const MINUTE_MS = 60_000;
const AWAY = unavailable('away');
const REFUSED = new ServiceError('DATABASE_ERROR', { detail: 'refused' });

/** A database that knows which batches it has, and fails as it is told to. */
class FaultyCounts {
  /** What the next calls come to: an error before or after the batch was added. */
  readonly faults: { readonly error: Error; readonly isAdded?: boolean }[] = [];
  isAway = false;
  evaluated = 0;
  calls = 0;
  readonly minutes = new Map<number, number>();
  readonly #batches = new Map<string, number>();

  readonly add = async (batch: CountBatch): Promise<void> => {
    this.calls += 1;
    const fault = this.faults.shift();
    if (this.isAway) throw AWAY;
    if (fault === undefined || fault.isAdded === true) this.#addOnce(batch);
    if (fault !== undefined) throw fault.error;
  };

  #addOnce({ writerId, number, rows }: CountBatch): void {
    if ((this.#batches.get(writerId) ?? 0) >= number) return;
    this.#batches.set(writerId, number);
    for (const { startS, sums } of rows) {
      this.evaluated += sums.evaluated;
      this.minutes.set(startS, (this.minutes.get(startS) ?? 0) + sums.evaluated);
    }
  }
}

describe('the writer of counts', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'Date'] });
    vi.setSystemTime(10 * MINUTE_MS + 30_000);
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function writer(
    counts: FaultyCounts,
    more: { spool?: CountSpool; writerId?: string; maxRows?: number } = {},
  ) {
    const collector = new EvaluationCollector(Date.now());
    const meter = createCountMeter();
    const logged: object[] = [];
    const created = createCountWriter({
      collector,
      add: counts.add,
      writerId: 'writer',
      flushIntervalMs: 10_000,
      meter,
      log: { warn: (facts) => logged.push(facts) },
      failures: NO_FAILURES,
      now: () => Date.now(),
      monotonic: () => Date.now(),
      ...more,
    });
    const count = (evaluations: number, agent = 'counted-bot-1') => {
      for (let n = 0; n < evaluations; n += 1) {
        collector.count(agent, 'allow', { matches: [], errors: [] }, false);
      }
    };
    return { ...created, count, meter, logged };
  }

  it('stores what is counted at each interval, for its minute, and nothing when there is nothing', async () => {
    const counts = new FaultyCounts();
    const { start, count, close } = writer(counts);
    start();
    await vi.advanceTimersByTimeAsync(25_000);
    expect(counts.calls).toBe(0);
    count(2);
    await vi.advanceTimersByTimeAsync(6_000);
    expect([...counts.minutes]).toEqual([[600, 2]]);
    // The turn of the minute is in the middle of an interval.
    count(3);
    await vi.advanceTimersByTimeAsync(2_000);
    count(4);
    await vi.advanceTimersByTimeAsync(10_000);
    expect([...counts.minutes]).toEqual([
      [600, 2],
      [660, 7],
    ]);
    await close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(counts.evaluated).toBe(9);
  });

  it('counts for the minute before what came before its turn', async () => {
    const counts = new FaultyCounts();
    const { start, count, close } = writer(counts);
    start();
    await vi.advanceTimersByTimeAsync(21_000);
    count(1);
    await vi.advanceTimersByTimeAsync(8_900);
    count(1);
    await vi.advanceTimersByTimeAsync(200);
    count(5);
    await close();
    expect([...counts.minutes]).toEqual([
      [600, 2],
      [660, 5],
    ]);
  });

  it('writes again what may be stored or not, and counts it once', async () => {
    const counts = new FaultyCounts();
    const { count, flush, meter } = writer(counts);
    counts.faults.push({ error: new OutcomeUnknownError('gone'), isAdded: true });
    count(3);
    await expect(flush()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect([counts.evaluated, meter.waiting()]).toEqual([3, 3]);
    count(4);
    counts.faults.push({ error: new OutcomeUnknownError('gone') });
    await expect(flush()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await flush();
    expect([counts.evaluated, meter.waiting()]).toEqual([7, 0]);
    expect(meter.totals().evaluated).toBe(7);
  });

  it('keeps everything through an outage, within its bounds, and says what it lost', async () => {
    const counts = new FaultyCounts();
    const { start, count, flush, meter, close } = writer(counts, { maxRows: 2 });
    counts.isAway = true;
    start();
    for (let minute = 0; minute < 30; minute += 1) {
      count(1);
      await vi.advanceTimersByTimeAsync(MINUTE_MS);
    }
    expect(meter.waiting()).toBe(30);
    expect(meter.lost.queue_full).toBe(0);
    counts.isAway = false;
    await flush();
    expect([counts.evaluated, meter.waiting()]).toEqual([30, 0]);
    counts.isAway = true;
    count(1, 'one');
    await expect(flush()).rejects.toThrow();
    for (const agent of ['two', 'three', 'four']) count(1, agent);
    await expect(flush()).rejects.toThrow();
    expect([meter.waiting(), meter.lost.queue_full]).toEqual([3, 1]);
    counts.isAway = false;
    await close();
    expect(counts.evaluated).toBe(33);
  });

  it('loses only what the database can never take, and what it cannot take at the end', async () => {
    const counts = new FaultyCounts();
    const { count, flush, close, meter, logged } = writer(counts);
    counts.faults.push({ error: REFUSED });
    count(3);
    await flush();
    expect(meter.lost.refused).toBe(3);
    counts.isAway = true;
    count(4);
    await close();
    expect(meter.lost.shutdown).toBe(4);
    expect(logged).toEqual([{ lost: 4 }]);
  });

  it('writes earlier when it is asked to, but at most once a second, and not while the database is away', async () => {
    const counts = new FaultyCounts();
    const { start, count, flush, flushSoon, close } = writer(counts);
    count(1);
    start();
    await flushSoon();
    expect(counts.evaluated).toBe(1);
    count(1);
    await flushSoon();
    expect(counts.evaluated).toBe(1);
    await vi.advanceTimersByTimeAsync(1_000);
    await flushSoon();
    expect(counts.evaluated).toBe(2);
    counts.isAway = true;
    count(1);
    await expect(flush()).rejects.toThrow();
    const { calls } = counts;
    await vi.advanceTimersByTimeAsync(2_000);
    await flushSoon();
    expect(counts.calls).toBe(calls);
    counts.isAway = false;
    await close();
    expect(counts.evaluated).toBe(3);
  });

  it('writes many agents in several batches', async () => {
    const counts = new FaultyCounts();
    const { count, flush } = writer(counts);
    for (let agent = 0; agent < 2_500; agent += 1) count(1, `agent-${agent}`);
    await flush();
    expect([counts.calls, counts.evaluated]).toEqual([3, 2_500]);
  });
});

describe('counts in the files of a spool', () => {
  function directory(): string {
    const folder = mkdtempSync(path.join(tmpdir(), 'counts-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  }

  function process(counts: FaultyCounts, folder: string, writerId: string) {
    const collector = new EvaluationCollector(Date.now());
    const failures = NO_FAILURES;
    const meter = createCountMeter();
    const spool = createCountSpool({ directory: folder, maxOctets: 2 ** 20, failures });
    const created = createCountWriter({
      collector,
      add: counts.add,
      spool,
      writerId,
      flushIntervalMs: 10_000,
      meter,
      log: { warn: () => {} },
      failures,
      now: () => Date.now(),
      monotonic: () => performance.now(),
    });
    const count = (evaluations: number) => {
      for (let n = 0; n < evaluations; n += 1) {
        collector.count('counted-bot-1', 'allow', { matches: [], errors: [] }, false);
      }
    };
    return { ...created, spool, count, meter };
  }

  it('are stored in their order when the database is back, each once', async () => {
    const counts = new FaultyCounts();
    const { count, flush, spool, meter, close } = process(counts, directory(), 'writer');
    count(1);
    await flush();
    counts.isAway = true;
    for (const evaluations of [2, 4]) {
      count(evaluations);
      // In a file they are safe, as events are.
      await flush();
    }
    expect([counts.evaluated, meter.waiting()]).toEqual([1, 0]);
    expect(spool.octets).toBeGreaterThan(0);
    counts.isAway = false;
    counts.faults.push({ error: new OutcomeUnknownError('gone'), isAdded: true });
    count(8);
    await flush();
    expect(counts.evaluated).toBe(3);
    count(16);
    await flush();
    expect([counts.evaluated, spool.octets]).toEqual([31, 0]);
    await close();
  });

  it('are stored by the next process when theirs has ended', async () => {
    const counts = new FaultyCounts();
    const folder = directory();
    const first = process(counts, folder, 'first');
    counts.isAway = true;
    first.count(5);
    await first.flush();
    first.count(2);
    await first.close();
    expect([counts.evaluated, first.meter.lost.shutdown]).toEqual([0, 0]);
    counts.isAway = false;
    const second = process(counts, folder, 'second');
    second.count(1);
    await second.flush();
    expect(counts.evaluated).toBe(8);
    await second.close();
  });

  it('wait in memory while the files are full', async () => {
    const counts = new FaultyCounts();
    const failures = NO_FAILURES;
    const spool = createCountSpool({ directory: directory(), maxOctets: 1, failures });
    await expect(
      spool.keep({ writerId: 'writer', number: 1, sinceS: 0, rows: [], controls: [] }),
    ).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await spool.close();
    expect(counts.calls).toBe(0);
  });
});
