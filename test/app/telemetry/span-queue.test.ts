import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { describe, expect, it } from 'vitest';
import { SpanQueue } from '../../../src/app/telemetry/span-queue.js';
import { keptFailures, type LoggedFailure } from '../../support/failures.js';
import { until } from '../../support/until.js';

/** The queue looks into no span. */
const span = (name: string): ReadableSpan => ({ name }) as ReadableSpan;

/** A queue of at most 5 spans, in requests of 2, whose requests last until they are answered. */
function queueWithRequests() {
  const requests: { names: string[]; answer(isTaken: boolean): void }[] = [];
  const counts: Record<'sent' | 'failed' | 'dropped', number> = { sent: 0, failed: 0, dropped: 0 };
  const told: LoggedFailure[] = [];
  const queue = new SpanQueue({
    send: (spans) => new Promise((answer) => requests.push({ names: spans.map(({ name }) => name), answer })),
    maxWaiting: 5,
    batch: 2,
    delayMs: 1,
    meter: (_signal, result, count) => {
      counts[result] += count;
    },
    failures: keptFailures(told),
  });
  const end = (...names: string[]) => {
    for (const name of names) queue.onEnd(span(name));
  };
  /** Answers each request as soon as it is made. */
  const answered = async (index: number, isTaken: boolean) => {
    await until(
      () => requests.length,
      (made) => made > index,
    );
    requests[index]?.answer(isTaken);
  };
  return { queue, end, requests, answered, counts, told };
}

describe('the queue of spans', () => {
  it('sends in order, one request at a time, never within the call that ends a span', async () => {
    const { queue, end, requests, answered } = queueWithRequests();
    end('a', 'b', 'c', 'd', 'e');
    expect(requests).toEqual([]);
    await answered(0, true);
    await answered(1, true);
    await answered(2, true);
    await queue.shutdown();
    expect(requests.map(({ names }) => names)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  });

  it('drops and counts what comes while as many wait as may, and keeps what waited', async () => {
    const { queue, end, requests, answered, counts, told } = queueWithRequests();
    end('a', 'b');
    await until(
      () => requests.length,
      (made) => made === 1,
    );
    end('c', 'd', 'e', 'f', 'g', 'h', 'i');
    expect(counts.dropped).toBe(2);
    expect(told.map(({ message }) => message)).toContain('spans are dropped, too many wait for the receiver');
    for (const index of [0, 1, 2, 3]) await answered(index, true);
    await queue.shutdown();
    expect(requests.flatMap(({ names }) => names)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  });

  it('goes on after a request that failed', async () => {
    const { queue, end, requests, answered } = queueWithRequests();
    end('a', 'b', 'c', 'd');
    await answered(0, false);
    await answered(1, true);
    await queue.shutdown();
    expect(requests.map(({ names }) => names)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  it('at shutdown sends everything, but not to a receiver that takes nothing', async () => {
    const { queue, end, requests, answered, counts } = queueWithRequests();
    end('a', 'b', 'c', 'd', 'e');
    const closed = queue.shutdown();
    await answered(0, true);
    await answered(1, false);
    await closed;
    expect(requests).toHaveLength(2);
    expect(queue.drop()).toBe(1);
    end('late');
    expect(counts.dropped).toBe(2);
  });

  it('counts what is under way as lost when it is not waited for', async () => {
    const { queue, end, requests } = queueWithRequests();
    end('a', 'b', 'c');
    void queue.shutdown();
    await until(
      () => requests.length,
      (made) => made === 1,
    );
    expect(queue.drop()).toBe(3);
  });
});
