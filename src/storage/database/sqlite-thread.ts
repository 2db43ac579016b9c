import { Worker } from 'node:worker_threads';
import { SupervisedWorker } from '../../../packages/supervised-worker/src/index.js';
import { OutcomeUnknownError, unavailable } from './errors.js';
import type { ConnectionOptions, Failure, Reply, Request, Result } from './sqlite-worker.js';
import { StorageError } from './storage-health/storage-state.js';

/** One thread with one connection to a SQLite file. */
export interface SqliteThread {
  /**
   * Runs statements in call order. Rejects with the driver's error, and with an `OutcomeUnknownError` when
   * the thread ends before it answers; the next call then starts a new thread.
   */
  run(request: Omit<Request, 'id'>): Promise<Result[]>;
  /** Starts it before its first call, which then need not wait for that. */
  warm(): void;
  /** Ends the thread, which has nothing to do and no open transaction; the next call starts a new one. */
  rest(): void;
  /** Ends the thread after all earlier requests. */
  close(): Promise<void>;
}

/** Most calls waiting for one thread; each is an open request, so more would only time out. */
const MAX_WAITING = 1_000;

const ENTRY = new URL('./sqlite-worker.js', import.meta.url);

/**
 * Creates a thread that starts with its first call. `onEnd` is called when it ends unexpectedly. The thread is
 * never killed: within a call of the driver, that ends the whole process.
 */
export function createSqliteThread(options: ConnectionOptions, onEnd: (error: Error) => void): SqliteThread {
  let running: SupervisedWorker<Reply> | undefined;
  let resting: Promise<void> = Promise.resolve();
  let closed = false;

  function start(): SupervisedWorker<Reply> {
    const started = new SupervisedWorker<Reply>({
      start: () => new Worker(ENTRY, { workerData: options }),
      onEnd({ error: cause }) {
        const isExpected = closed || running !== started;
        if (running === started) running = undefined;
        if (isExpected && started.unanswered.size === 0) return;
        const error = new OutcomeUnknownError('The thread of the database ended.', cause);
        for (const answered of started.unanswered.values()) answered(error);
        onEnd(error);
      },
    });
    running = started;
    return started;
  }

  return {
    async run(request) {
      if (closed) throw unavailable('The service is shutting down.');
      const thread = running ?? start();
      if (thread.unanswered.size >= MAX_WAITING) throw unavailable('Too many queries are waiting already.');
      return new Promise<Result[]>((resolve, reject) => {
        thread.request(request, (reply) => {
          if (reply instanceof Error) reject(reply);
          else if ('results' in reply) resolve(reply.results);
          else reject(failureOf(reply.failure));
        });
      });
    },
    warm() {
      if (!closed && running === undefined) start();
    },
    rest() {
      const idle = running;
      if (closed || idle === undefined || idle.unanswered.size > 0) return;
      running = undefined;
      resting = Promise.all([resting, idle.close('close')]).then(() => {});
    },
    async close() {
      closed = true;
      await Promise.all([resting, running?.close('close')]);
    },
  };
}

/** The driver's error, or the problem that the thread found with the files. */
function failureOf(failure: Failure): Error {
  const { storage, message } = failure;
  if (storage !== undefined) return new StorageError(storage, { particular: message });
  return Object.assign(new Error(message), failure);
}
