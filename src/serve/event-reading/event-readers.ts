import { Worker } from 'node:worker_threads';
import type { DuplicateMembers } from '../../../packages/exact-json/src/index.js';
import { ownMemory } from '../../../packages/supervised-worker/src/index.js';
import type { MessageReader, UnreadMessage } from '../../contract/call/handler.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import { type WorkerJob, WorkerPool } from '../../contract/runtime/worker-pool.js';
import { IngestFullError } from '../../observe/events/event-ingest.js';
import type { EventReaders, EventRpc } from '../../observe/events/observability-handlers.js';
import { type ReadEvents, type SentEvents, unpackEvents } from '../../observe/events/read-events.js';
import type { EventStore } from '../../observe/events/store/event-store.js';
import { unavailable } from '../../storage/database/errors.js';
import type { UnreadEvents } from './event-messages.js';
import { type SentError, unpackError } from './sent-error.js';

/** Smallest message that a thread reads, in bytes: passing it on costs about as much as reading two events. */
const MIN_BYTES = 2_048;
/** Most bytes of messages of unary calls that wait for a thread: a second of its work. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
/**
 * Longest time to read one message, in milliseconds. As many events as a message may have take 15 on an idle processor,
 * hostile messages of the largest size some seconds.
 */
const READ_LIMIT_MS = 60_000;
/** Longest time for a thread to load its modules, in milliseconds. */
const START_LIMIT_MS = 60_000;
/**
 * In MB. The rest of the heap has the limit of the process: a hostile message of the largest size takes a hundred times
 * that, and on Node.js 24 a thread that exceeds a limit of its own can end the process:
 * https://github.com/nodejs/node/issues/47224.
 */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 16 };

const ENTRY = new URL('./event-reader-thread.js', import.meta.url);

/** What a thread gets when it starts. */
export interface ReaderThreadData {
  readonly kind: EventStore['kind'];
}

/** What a thread answers. */
export type ReaderAnswer = { readonly events: SentEvents } | { readonly error: SentError };

export interface EventReaderOptions {
  readonly store: Pick<EventStore, 'kind' | 'decode'>;
  /** Number of threads. */
  readonly threads: number;
  /** Members that occur twice in an object of a JSON body. */
  readonly duplicates: DuplicateMembers;
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The module of the threads. */
  readonly entry?: URL | undefined;
  readonly limits?: { readonly waitingBytes?: number; readonly readMs?: number };
}

/** Threads that read, check and encode large messages with events, for all RPCs. */
export interface EventReaderThreads {
  readonly readers: EventReaders;
  /** Fails what is being read, and ends the threads. */
  close(): Promise<void>;
}

/**
 * Threads start with the first large message. When one ends in the middle of its work, the message that it was reading
 * fails with SERVICE_UNAVAILABLE: it is not stored, and its sender sends it again. Undefined without
 * threads.
 */
export function createEventReaders(options: EventReaderOptions): EventReaderThreads | undefined {
  const { store, threads, duplicates, failures, now, limits = {} } = options;
  const { waitingBytes: maxWaitingBytes = MAX_WAITING_BYTES, readMs = READ_LIMIT_MS } = limits;
  if (threads === 0) return undefined;
  const workerData: ReaderThreadData = { kind: store.kind };
  const pool = new WorkerPool<WorkerJob<ReaderAnswer>, ReaderAnswer>({
    start: () => new Worker(options.entry ?? ENTRY, { workerData, resourceLimits: RESOURCE_LIMITS }),
    startLimit: { ms: START_LIMIT_MS, problem: 'the thread could not be started in time' },
    size: threads,
    maxQueued: Number.POSITIVE_INFINITY,
    overdue: `reading took more than ${readMs / 1000} s`,
    onEnd({ error, code }) {
      const reason = error ?? new Error(`the thread ended with code ${code}`);
      failures.failed('event reader', 'a thread that reads events ended', reason);
      return notRead(reason);
    },
  });
  /** Of unary calls. */
  let waitingBytes = 0;

  function read(rpc: EventRpc, { form, bytes }: UnreadMessage): Promise<ReadEvents> {
    const own = ownMemory(bytes);
    return new Promise((resolve, reject) => {
      pool.add({
        limitMs: readMs,
        transfer: [own.buffer],
        begin: () => ({ rpc, form, bytes: own, nowMs: now(), duplicates }) satisfies UnreadEvents,
        settle(answer) {
          if (answer instanceof ServiceError) reject(answer);
          else if (answer instanceof Error) reject(notRead(answer));
          else if ('error' in answer) reject(unpackError(answer.error));
          else resolve(unpackEvents(answer.events, store.decode));
        },
      });
    });
  }

  /** A stream sends one message at a time, and waits; what unary calls send is limited here. */
  async function readLimited(rpc: EventRpc, message: UnreadMessage): Promise<ReadEvents> {
    const { length } = message.bytes;
    if (waitingBytes > 0 && waitingBytes + length > maxWaitingBytes) throw new IngestFullError();
    waitingBytes += length;
    try {
      return await read(rpc, message);
    } finally {
      waitingBytes -= length;
    }
  }

  const takes = (bytes: number) => bytes >= MIN_BYTES;
  return {
    readers(rpc): MessageReader<ReadEvents> {
      const isUnary = rpc === 'createEvents';
      return { takes, read: (message) => (isUnary ? readLimited : read)(rpc, message) };
    },
    close: () => pool.close(unavailable('The service is shutting down.')),
  };
}

function notRead(reason: Error): ServiceError {
  return unavailable('The events could not be read.', reason);
}
