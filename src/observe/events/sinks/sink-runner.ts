import { setTimeout as sleep } from 'node:timers/promises';
import type { FactsLog, RepeatLog } from '../../../contract/runtime/repeat-log.js';
import { createLeaseHolder, type Lease, type LeaseHolder } from '../../../storage/database/lease.js';
import type { EventTail, TailPart } from '../store/event-tail.js';
import { higher, lower } from '../store/position-order.js';
import type { EventSink, SinkSession, SinkStart } from './event-sink.js';
import type { SinkFigures } from './sink-meter.js';

/** Times in milliseconds. */
export interface SinkTimes {
  /** Pause after the end of the log was reached. */
  readonly idleMs: number;
  /** Pause before another look whether the process that delivers has gone. */
  readonly standbyMs: number;
  /** Pause after a failure; doubled with each further one up to the longest. */
  readonly retryMs: number;
  readonly longestRetryMs: number;
  /** Longest time to end in order when the runner is closed. */
  readonly closeMs: number;
}

export const SINK_TIMES: SinkTimes = {
  idleMs: 500,
  standbyMs: 5_000,
  retryMs: 500,
  longestRetryMs: 60_000,
  closeMs: 5_000,
};

export interface SinkRunnerOptions {
  readonly sink: EventSink;
  readonly tail: EventTail;
  readonly lease: Lease;
  /** Where delivery to a new destination begins. */
  readonly from: SinkStart;
  readonly figures: SinkFigures;
  readonly log: FactsLog<'info' | 'warn'>;
  readonly failures: Pick<RepeatLog, 'failed' | 'told'>;
  /** Monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
  readonly times?: Partial<SinkTimes>;
}

/** Copies the event log to a sink, for as long as no other process does. */
export interface SinkRunner {
  start(): void;
  /** Makes durable what the sink has taken, and leaves the sink to other processes. Never rejects. */
  close(): Promise<void>;
}

/**
 * Creates a runner. The log itself is the buffer of a slow sink: the runner reads it from the position of the sink, and
 * no writer of events waits for it.
 */
export function createSinkRunner(options: SinkRunnerOptions): SinkRunner {
  const { sink, tail, lease, from, figures, log, failures, monotonic } = options;
  const times = { ...SINK_TIMES, ...options.times };
  const closing = new AbortController();
  const facts = { sink: sink.name };
  let running: Promise<void> | undefined;

  /** Ends early when the runner is closed. */
  const pause = (ms: number) => sleep(ms, undefined, { signal: closing.signal }).catch(() => {});

  async function run(): Promise<void> {
    let retryMs = times.retryMs;
    while (!closing.signal.aborted) {
      const before = figures.position;
      try {
        const askedAtMs = monotonic();
        const held = await lease.acquire();
        if (held !== null) await runOnce(held.position, askedAtMs);
        else {
          figures.failuresInRow = 0;
          await pause(times.standbyMs);
        }
        retryMs = times.retryMs;
      } catch (error) {
        figures.failures += 1;
        figures.failuresInRow += 1;
        const after = { ...facts, after: String(figures.position) };
        failures.failed(`sink ${sink.name}`, 'events could not be delivered to a sink now', error, after);
        if (figures.position > before) retryMs = times.retryMs;
        await pause(retryMs);
        retryMs = Math.min(2 * retryMs, times.longestRetryMs);
      }
    }
  }

  async function runOnce(stored: bigint | null, askedAtMs: number): Promise<void> {
    let position = stored;
    const holder = createLeaseHolder({ lease, monotonic, askedAtMs, position: () => position });
    let session: SinkSession | undefined;
    const cutOff = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const cutOffSoon = () => {
      timer = setTimeout(() => cutOff.abort(), times.closeMs);
    };
    closing.signal.addEventListener('abort', cutOffSoon);
    // Closed while the lease was acquired: the event has been.
    if (closing.signal.aborted) cutOffSoon();
    try {
      /** Events deleted before the first delivery are not missed. */
      let missedFrom = 0n;
      const first = async () => {
        const state = await tail.state();
        missedFrom = state.prunedPosition;
        return from === 'now' ? state.head : 0n;
      };
      session = await sink.open(stored, first, cutOff.signal);
      const opened = session;
      position = opened.durable;
      figures.position = position;
      log.info({ ...facts, position: String(opened.start) }, 'events are delivered to a sink');
      figures.isRunning = true;
      await deliver(opened, holder, missedFrom, (durable) => {
        position = durable;
      });
    } finally {
      figures.isRunning = false;
      figures.lag.clear();
      closing.signal.removeEventListener('abort', cutOffSoon);
      clearTimeout(timer);
      // A failed session may have delivered some of the last events.
      position = session?.durable ?? position;
      await session?.close();
      await holder.end();
    }
  }

  /** Delivers until the runner is closed or another process has taken over. */
  async function deliver(
    session: SinkSession,
    holder: LeaseHolder,
    missedFrom: bigint,
    advanced: (durable: bigint) => void,
  ): Promise<void> {
    let position = session.start;
    while (!closing.signal.aborted) {
      if (holder.leftMs() <= 0) {
        failures.told(
          'warn',
          `sink ${sink.name} lost`,
          'the lease of a sink was lost: another process may deliver now',
          facts,
        );
        return;
      }
      const part = await tail.after('search', position, { namespace: 'all' });
      if (part.head < position) {
        restored(position, part.head);
        await session.rewind(part.head);
        position = part.head;
      } else {
        countMissed(part, position > missedFrom ? position : missedFrom);
        if (part.upTo > position) await session.take(part.events, part.upTo);
        position = part.upTo;
        figures.delivered += part.events.length;
      }
      if (position >= part.head) await session.rest();
      observe(session.durable, part.head);
      advanced(session.durable);
      if (position >= part.head) await pause(times.idleMs);
    }
    await session.finish();
    advanced(session.durable);
  }

  function observe(durable: bigint, head: bigint): void {
    if (durable > figures.position || durable >= head) figures.failuresInRow = 0;
    figures.position = durable;
    figures.head = head;
    figures.lag.saw(head, monotonic());
    figures.lag.delivered(durable);
  }

  function restored(position: bigint, head: bigint): void {
    const told = { ...facts, position: String(position), head: String(head) };
    log.warn(
      told,
      'the event log ends before the position of a sink: the database was restored to an earlier state',
    );
  }

  /** Counts the positions of a part without an event, as far as events may have been deleted there. */
  function countMissed(
    { events, upTo, prunedPosition, restored: { from, to } }: TailPart,
    after: bigint,
  ): void {
    const end = lower(prunedPosition, upTo);
    if (end <= after) return;
    // Positions of a replaced state of the database were never given to an event of this one.
    const skipped = higher(0n, lower(to, end) - higher(from, after));
    const isCounted = (position: bigint) =>
      position > after && position <= end && (position <= from || position > to);
    const present = events.filter(({ position }) => isCounted(position)).length;
    const missed = Number(end - after - skipped) - present;
    if (missed === 0) return;
    figures.missed += missed;
    const told = { ...facts, after: String(after), upTo: String(end), missed };
    failures.told('warn', `sink ${sink.name} missed`, 'events were deleted before a sink took them', told);
  }

  return {
    start() {
      running ??= run();
    },
    async close() {
      closing.abort();
      await running;
    },
  };
}
