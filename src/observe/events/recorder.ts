import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Namespace } from '../../contract/call/namespace.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import { createBatchWriter } from '../../contract/runtime/batch-writer.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { RevisedVerdict } from '../../decide/decisions/revised-verdict.js';
import type { ToldVerdict, VerdictObserver } from '../../decide/decisions/verdict-observer.js';
import type { HaltNotice } from '../../decide/halts/halt.js';
import { leafOfResult } from '../../kernel/core/decided-result.js';
import type { ControlResult } from '../../kernel/core/types.js';
import { unavailable } from '../../storage/database/errors.js';
import { portionsOf } from '../../storage/database/in-portions.js';
import { createObservabilityMeter, type DropReason, type ObservabilityMeter } from './observability-meter.js';
import { eventOf, HALT, type Note } from './recorded-event.js';
import { createRepeatedTexts } from './repeated-texts.js';
import { type ControlEvent, MAX_STEP_NAME_LENGTH, MAX_STEP_TEXT_LENGTH } from './store/event.js';
import { eventVerdictOf } from './store/event-verdict.js';
import { traceIdsOf } from './trace-ids.js';

/** Most events waiting in memory; further ones are lost while the database does not keep up. */
const MAX_BUFFERED = 50_000;
/** This many waiting events are written immediately, without waiting for the interval. */
const EARLY_FLUSH = 10_000;
/** Events of one call. */
const EVENTS_PER_PORTION = 500;
/**
 * Most events being written at a time, as many as one transaction takes: few large ones cost a fifth less
 * than many small ones, because the pages of the indexes are written once for each.
 */
const EVENTS_PER_WRITE = 2_000;

/** Records results of the service itself: every match and every error, optionally every non-match too. */
export interface Recorder extends VerdictObserver {
  /** Buffers the results of a verdict; they are written later. */
  told(told: Pick<ToldVerdict, 'request' | 'verdict' | 'caller'>): void;
  /**
   * Writes all events that are buffered now, and returns the number of events of a namespace that were written meanwhile.
   * Rejects with SERVICE_UNAVAILABLE when some of them have to wait for the database.
   */
  flush(namespace: Namespace): Promise<number>;
  /** Writes what is buffered, unless the last attempt failed: then only the interval triggers the next one. Never rejects. */
  flushSoon(): Promise<void>;
  /** Starts writing at every interval. */
  start(): void;
  /** Writes the remaining events, and nothing after that. Never rejects. */
  close(): Promise<void>;
}

export interface RecorderOptions {
  /** As `Ingest`. */
  readonly ingest: (events: readonly ControlEvent[]) => Promise<void>;
  /** Whether non-matches are recorded too. */
  readonly nonMatches: boolean;
  readonly flushIntervalMs: number;
  readonly meter?: ObservabilityMeter;
  readonly log: { warn(facts: object, message: string): void };
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Of an agent: a name of 255 characters behind one of 63. */
const MAX_KEY_LENGTH = 319;
const NONE: readonly ControlResult[] = [];
const DOES_NOT_KEEP_UP = new Error('the database does not keep up');

export function createRecorder(options: RecorderOptions): Recorder {
  const { ingest, flushIntervalMs, log, failures, now, meter = createObservabilityMeter() } = options;
  const losses = createLosses(meter, failures);
  const texts = createRepeatedTexts();
  const buffer: Note[] = [];
  /** What is written while a caller of a namespace waits for it. */
  const tallies = new Set<{ readonly namespace: Namespace; written: number }>();
  const writer = createBatchWriter({
    prepare: losses.tell,
    take,
    store,
    failed,
    intervalMs: flushIntervalMs,
  });
  const waiting = () => [...(writer.pending ?? [])].reduce((sum, { length }) => sum + length, buffer.length);
  meter.buffered = waiting;

  /** The events waiting now, in sets of portions that may share a transaction. */
  function* take(): Iterable<Set<Note[]>> {
    for (let left = buffer.length; left > 0; left -= EVENTS_PER_WRITE) {
      const notes = buffer.splice(0, Math.min(left, EVENTS_PER_WRITE));
      yield new Set(portionsOf(notes, EVENTS_PER_PORTION));
    }
  }

  /** Removes the portions that are stored. Rejects when the database cannot accept some of them now. */
  async function store(portions: Set<Note[]>): Promise<void> {
    const startMs = performance.now();
    const writes: Promise<void>[] = [];
    for (const portion of portions) {
      // Creating their rows blocks the thread for some time.
      if (writes.length > 0) await othersTurn();
      const write = storePortion(portion).then(() => void portions.delete(portion));
      // Another one may fail before all are awaited.
      write.catch(() => {});
      writes.push(write);
    }
    const outcomes = await Promise.allSettled(writes);
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    meter.flushed((performance.now() - startMs) / 1000);
  }

  async function storePortion(portion: readonly Note[]): Promise<void> {
    try {
      await ingest(portion.map(eventOf));
      for (const tally of tallies) {
        tally.written += portion.filter(({ request }) => tally.namespace.contains(request.agent_name)).length;
      }
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE') throw error;
      // It would fail repeatedly, and block all later ones.
      losses.refused(error, portion.length);
    }
  }

  function failed(error: unknown): void {
    const facts = { waiting: waiting() };
    failures.failed('recorder', 'events of the service itself cannot be stored now', error, facts);
  }

  return {
    nonMatches: options.nonMatches,
    async flush(namespace) {
      const tally = { namespace, written: 0 };
      tallies.add(tally);
      try {
        await writer.flushLatest();
      } finally {
        tallies.delete(tally);
      }
      if (writer.isAway) throw unavailable('Recorded events cannot be stored at present.');
      return tally.written;
    },
    told({ request, verdict, caller }) {
      const { matches, errors } = verdict;
      const nonMatches = options.nonMatches ? verdict.non_matches : NONE;
      const halted = verdict.halt === undefined ? NONE : [resultOfHalt(verdict, verdict.halt)];
      if (matches.length + errors.length + nonMatches.length + halted.length === 0) return;
      const { type, name } = request.step;
      const { namespace } = caller;
      const agentKey = namespace.agentKey(request.agentName);
      const shared = {
        namespace,
        request: {
          agent_name: texts(agentKey, MAX_KEY_LENGTH) ?? agentKey,
          check_stage: request.stage,
          applies_to: type === 'tool' ? 'tool_call' : 'llm_call',
          step_type: texts(type, MAX_STEP_TEXT_LENGTH),
          step_name: texts(name, MAX_STEP_NAME_LENGTH),
          session_id: texts(request.options?.sessionId, MAX_STEP_TEXT_LENGTH),
          step_id: texts(request.options?.stepId, MAX_STEP_TEXT_LENGTH),
          revision: verdict.revision,
          decision_id: String(verdict.decision_id),
        },
        mismatch: verdict.schema_mismatch,
        halt: verdict.halt ?? null,
        verdict: eventVerdictOf(verdict),
        trace: traceIdsOf(caller, request.options?.traceparent),
        atMs: now(),
      } as const;
      for (const list of [halted, matches, errors, nonMatches]) {
        for (const each of list) {
          if (buffer.length < MAX_BUFFERED) buffer.push(noteOf(each, shared));
          else losses.add(1, 'queue_full');
        }
      }
      if (buffer.length >= EARLY_FLUSH && !writer.isAway) void writer.flush();
    },
    flushSoon: writer.flushSoon,
    start: writer.start,
    async close() {
      await writer.close();
      const waited = waiting();
      meter.dropped.service.shutdown += waited;
      const left = waited + losses.untold;
      if (left > 0) log.warn({ lost: left }, 'events of the service itself were lost at shutdown');
    },
  };
}

/** Events that are lost because the database does not keep up. */
function createLosses(meter: ObservabilityMeter, failures: RecorderOptions['failures']) {
  /** Since the last log line about it, and in all lines. */
  let lost = 0;
  let lostInAll = 0;

  function add(count: number, reason: DropReason): void {
    lost += count;
    meter.dropped.service[reason] += count;
  }

  function tell(): void {
    if (lost === 0) return;
    lostInAll += lost;
    const facts = { lost: lostInAll };
    failures.failed('lost', 'events of the service itself were lost', DOES_NOT_KEEP_UP, facts);
    lost = 0;
  }

  function refused(error: unknown, count: number): void {
    failures.failed('recorder refused', 'events of the service itself cannot be stored and are lost', error);
    meter.dropped.service.refused += count;
  }

  return {
    add,
    tell,
    refused,
    /** Those that no log line has told of. */
    get untold(): number {
      return lost;
    },
  };
}

/** A halt as the result of a control without an id, so that searches find it; its execution is the decision. */
function resultOfHalt({ decision_id, reason }: RevisedVerdict, { haltId }: HaltNotice): ControlResult {
  return {
    control_execution_id: String(decision_id),
    control_id: 0,
    control_name: `${HALT} ${haltId}`,
    action: 'deny',
    result: { matched: true, confidence: 1, message: reason, metadata: null, error: null },
    steering_context: null,
  };
}

function noteOf(
  item: ControlResult,
  shared: Omit<Note, 'item' | 'matched' | 'confidence' | 'error' | 'leaf'>,
): Note {
  const { control_execution_id, control_id, control_name, action, result } = item;
  return {
    // Not the item itself: its traces may be large.
    item: { control_execution_id, control_id, control_name, action },
    matched: result.matched,
    confidence: result.confidence,
    error: result.error,
    leaf: leafOfResult(item),
    ...shared,
    verdict: result.matched && action === 'deny' ? shared.verdict : null,
  };
}
