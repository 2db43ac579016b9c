import { Worker } from 'node:worker_threads';
import {
  type GeneralParser,
  PARSER_WORKER,
  type ParserAnswer,
} from '../../../packages/sql-reader/src/index.js';

/** Workers of the process: two, so that one hostile text does not block all others. */
const WORKERS = 2;
/**
 * Longest time of one parse, in milliseconds. A query of 1 KB takes 1, the largest text some 100; the rest is
 * a margin for busy machines, because this is wall-clock time.
 */
const PARSE_TIMEOUT_MS = 1_000;
/** Longest time for a worker to load the parser, in milliseconds. */
const START_TIMEOUT_MS = 10_000;
/** Most waiting texts: about what two workers parse in the time limit of an evaluation. */
const MAX_WAITING = 1_000;
/** Heap of a worker, in MB: the tree of the largest text takes a tenth of it. */
const HEAP_MB = 128;

/** Runs the general parser in killable workers. */
export interface ParserPool extends GeneralParser {
  /** Starts a worker if there is none, so that the first text need not wait for it. */
  warm(): void;
  /** Ends all workers. The next text starts new ones. */
  close(): Promise<void>;
}

export interface PoolOptions {
  readonly workers?: number;
  readonly parseTimeoutMs?: number;
  readonly maxWaiting?: number;
  /** The entry module of the workers. */
  readonly entry?: URL;
}

interface Job {
  readonly id: number;
  readonly text: string;
  readonly dialect: string;
  readonly signal: AbortSignal;
  readonly settle: (answer: ParserAnswer | Error) => void;
}

/** A worker and its single job. */
interface Seat {
  worker: Worker | null;
  job: Job | null;
  timer: NodeJS.Timeout | undefined;
  ready: boolean;
}

/**
 * A pool whose workers have one job at a time, so that a worker that is killed or crashes affects no other
 * job. Workers start with the first jobs, and do not keep the process alive.
 */
export function createParserPool(options: PoolOptions = {}): ParserPool {
  const { workers = WORKERS, parseTimeoutMs = PARSE_TIMEOUT_MS, maxWaiting = MAX_WAITING } = options;
  const entry = options.entry ?? PARSER_WORKER;
  const seats: Seat[] = Array.from({ length: workers }, () => ({
    worker: null,
    job: null,
    timer: undefined,
    ready: false,
  }));
  const waiting: Job[] = [];
  let lastId = 0;

  const finish = (seat: Seat, answer: ParserAnswer | Error): void => {
    const { job } = seat;
    clearTimeout(seat.timer);
    seat.job = null;
    seat.worker?.unref();
    job?.settle(answer);
  };

  /** Frees a seat whose worker has ended or must end. */
  const abandon = (seat: Seat, answer: ParserAnswer | Error): void => {
    const { worker, ready } = seat;
    seat.worker = null;
    seat.ready = false;
    finish(seat, answer);
    worker?.removeAllListeners();
    // Errors of a terminating worker are ignored, but must not end the process.
    worker?.on('error', () => {});
    void worker?.terminate();
    // The next text should not wait for a start. A worker that failed to start is restarted only on demand.
    if (ready) start(seat);
    fill();
  };

  const begin = (seat: Seat): void => {
    const { job, worker } = seat;
    if (job === null || worker === null || !seat.ready) return;
    seat.timer = setTimeout(() => {
      abandon(seat, new Error(`timeout: the SQL parser took more than ${parseTimeoutMs} ms`));
    }, parseTimeoutMs);
    worker.postMessage({ id: job.id, text: job.text, dialect: job.dialect });
  };

  const start = (seat: Seat): void => {
    const worker = new Worker(entry, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
    seat.worker = worker;
    seat.ready = false;
    seat.timer = setTimeout(() => {
      abandon(seat, new Error('timeout: the SQL parser could not be started in time'));
    }, START_TIMEOUT_MS);
    const died = (problem: string): void => {
      if (seat.worker !== worker) return;
      // A worker that crashes while parsing crashed because of the text; one that crashes before is unusable.
      const answer = seat.ready
        ? { refused: `the parser failed: ${problem}`, died: true as const }
        : new Error(problem);
      abandon(seat, answer);
    };
    worker.on('message', (message: { ready: true } | ({ id: number } & ParserAnswer)) => {
      if (seat.worker !== worker) return;
      if ('ready' in message) {
        clearTimeout(seat.timer);
        seat.ready = true;
        begin(seat);
        return;
      }
      if (seat.job?.id !== message.id) return;
      finish(seat, message);
      fill();
    });
    worker.on('error', (error) => died(error instanceof Error ? error.message : String(error)));
    worker.on('exit', (code) => died(`the worker ended with code ${code}`));
    // Must come last: a message listener would keep the process alive again.
    worker.unref();
    seat.timer.unref();
  };

  /** Assigns waiting jobs to free seats. */
  function fill(): void {
    for (const seat of seats) {
      if (seat.job !== null) continue;
      let job = waiting.shift();
      while (job?.signal.aborted) {
        job.settle(new Error('the result of the SQL parser is no longer awaited'));
        job = waiting.shift();
      }
      if (job === undefined) return;
      seat.job = job;
      if (seat.worker === null) start(seat);
      seat.worker?.ref();
      begin(seat);
    }
  }

  return {
    parse(text, dialect, signal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      if (waiting.length >= maxWaiting) {
        return Promise.reject(new Error('timeout: too many texts wait for the SQL parser'));
      }
      return new Promise((resolve, reject) => {
        lastId += 1;
        const settle = (answer: ParserAnswer | Error): void => {
          if (answer instanceof Error) reject(answer);
          else resolve(answer);
        };
        waiting.push({ id: lastId, text, dialect, signal, settle });
        fill();
      });
    },
    warm() {
      const [seat] = seats;
      if (seat !== undefined && seats.every(({ worker }) => worker === null)) start(seat);
    },
    async close() {
      const ended = seats.map(({ worker }) => worker);
      for (const job of waiting.splice(0)) job.settle(new Error('the SQL parser was closed'));
      for (const seat of seats) {
        seat.worker = null;
        seat.ready = false;
        finish(seat, new Error('the SQL parser was closed'));
      }
      await Promise.all(
        ended.map((worker) => {
          worker?.removeAllListeners();
          worker?.on('error', () => {});
          return worker?.terminate();
        }),
      );
    },
  };
}
