import { Worker } from 'node:worker_threads';
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
  /** Ends the thread after all earlier requests. */
  close(): Promise<void>;
}

/** Most calls waiting for one thread; each is an open request, so more would only time out. */
const MAX_WAITING = 1_000;

interface Waiting {
  readonly resolve: (results: Result[]) => void;
  readonly reject: (error: Error) => void;
}

const ENTRY = new URL('./sqlite-worker.js', import.meta.url);

/** Creates a thread that starts with its first call. `onEnd` is called when it ends unexpectedly. */
export function createSqliteThread(options: ConnectionOptions, onEnd: (error: Error) => void): SqliteThread {
  let running: { readonly worker: Worker; readonly waiting: Map<number, Waiting> } | undefined;
  let closed = false;
  let lastId = 0;

  function start(): NonNullable<typeof running> {
    const worker = new Worker(ENTRY, { workerData: options });
    const waiting = new Map<number, Waiting>();
    const started = { worker, waiting };
    let cause: unknown;
    worker.on('message', (reply: Reply) => {
      const asked = waiting.get(reply.id);
      waiting.delete(reply.id);
      // An idle thread must not keep the process alive.
      if (waiting.size === 0) worker.unref();
      if ('results' in reply) asked?.resolve(reply.results);
      else asked?.reject(failureOf(reply.failure));
    });
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => {
      if (running === started) running = undefined;
      if (closed && waiting.size === 0) return;
      const error = new OutcomeUnknownError('The thread of the database ended.', cause);
      for (const { reject } of waiting.values()) reject(error);
      onEnd(error);
    });
    worker.unref();
    running = started;
    return started;
  }

  return {
    async run(request) {
      if (closed) throw unavailable('The service is shutting down.');
      const { worker, waiting } = running ?? start();
      if (waiting.size >= MAX_WAITING) throw unavailable('Too many queries are waiting already.');
      lastId += 1;
      const id = lastId;
      const answered = new Promise<Result[]>((resolve, reject) => waiting.set(id, { resolve, reject }));
      worker.ref();
      worker.postMessage({ ...request, id } satisfies Request);
      return answered;
    },
    async close() {
      closed = true;
      if (running === undefined) return;
      const { worker } = running;
      const ended = new Promise((resolve) => worker.once('exit', resolve));
      worker.ref();
      worker.postMessage('close');
      await ended;
    },
  };
}

/** The driver's error, or the problem that the thread found with the files. */
function failureOf(failure: Failure): Error {
  const { storage, message } = failure;
  if (storage !== undefined) return new StorageError(storage, { particular: message });
  return Object.assign(new Error(message), failure);
}
