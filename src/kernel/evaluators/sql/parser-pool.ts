import { Worker } from 'node:worker_threads';
import {
  type GeneralParser,
  PARSER_WORKER,
  type ParserAnswer,
} from '../../../../packages/sql-reader/src/index.js';
import { type WorkerJob, WorkerPool } from '../../../contract/runtime/worker-pool.js';

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
/**
 * Heap of a worker, in MB: the tree of the largest text takes a tenth of it. On Node.js 24, a worker with a
 * large young generation that exceeds its heap ends the process: https://github.com/nodejs/node/issues/47224.
 */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 4 };

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

/** Creates a pool whose workers start with the first jobs, and do not keep the process alive. */
export function createParserPool(options: PoolOptions = {}): ParserPool {
  const { workers = WORKERS, parseTimeoutMs = PARSE_TIMEOUT_MS, maxWaiting = MAX_WAITING } = options;
  const pool = new WorkerPool<WorkerJob<ParserAnswer>, ParserAnswer>({
    start: () => new Worker(options.entry ?? PARSER_WORKER, { resourceLimits: RESOURCE_LIMITS }),
    startLimit: { ms: START_TIMEOUT_MS, problem: 'timeout: the SQL parser could not be started in time' },
    size: workers,
    maxQueued: maxWaiting,
    overdue: `timeout: the SQL parser took more than ${parseTimeoutMs} ms`,
    onEnd({ error, code, wasReady }) {
      const problem = error?.message ?? `the worker ended with code ${code}`;
      // A worker that crashes while parsing crashed because of the text; one that crashes before is unusable,
      // and restarted only on demand.
      if (!wasReady) return new Error(problem);
      // The next text should not wait for a start.
      pool.start();
      return { refused: `the parser failed: ${problem}`, died: true };
    },
  });
  return {
    parse(text, dialect, signal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      if (pool.isFull) return Promise.reject(new Error('timeout: too many texts wait for the SQL parser'));
      return new Promise((resolve, reject) => {
        const giveUp = (): void => {
          reject(new Error('the result of the SQL parser is no longer awaited'));
          pool.abort(job);
        };
        const job: WorkerJob<ParserAnswer> = {
          limitMs: parseTimeoutMs,
          begin() {
            signal.removeEventListener('abort', giveUp);
            return { text, dialect };
          },
          settle: (answer) => (answer instanceof Error ? reject(answer) : resolve(answer)),
        };
        signal.addEventListener('abort', giveUp);
        pool.add(job);
      });
    },
    warm: () => pool.warm(),
    close: () => pool.close(new Error('the SQL parser was closed')),
  };
}
