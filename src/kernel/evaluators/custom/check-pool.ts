import type { Json } from '../../../../packages/evaluator-sdk/src/index.js';
import type { JsonValue } from '../../../../packages/exact-json/src/index.js';
import type { SupervisionOptions, WorkerEnd } from '../../../../packages/supervised-worker/src/index.js';
import { OUT_OF_MEMORY } from '../../../contract/runtime/process-worker.js';
import { type WorkerJob, WorkerPool } from '../../../contract/runtime/worker-pool.js';
import type { EvaluatorStatus, TextSpan } from '../../core/evaluator.js';
import type { EvaluatorResult } from '../../core/types.js';
import { dataProblem } from './data-size.js';
import type { Check, CheckReply, EvaluatorDescription } from './worker-messages.js';

/** Most checks waiting for a worker. More means that they arrive faster than they are processed. */
export const MAX_QUEUED_CHECKS = 256;
/** Largest data of a check, in characters: copying them takes the main thread some milliseconds. */
export const MAX_DATA_SIZE = 2_000_000;
/** Time a timed-out check gets after its signal was aborted, in milliseconds. */
const ABORT_GRACE_MS = 50;
/** A check whose worker ended is repeated once in another: an earlier check may have ended the worker. */
const MAX_RUNS = 2;
/** Delay of the second consecutive restart without an answer, in milliseconds; it doubles up to the limit. */
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;

/** Limits of one evaluator. */
export interface CheckLimits {
  /** Concurrent checks, each in its own worker. */
  readonly workers: number;
  /** Time a timed-out check gets to end by itself, in milliseconds; ABORT_GRACE_MS when absent. */
  readonly abortGraceMs?: number;
}

/** The worker has already validated the members. */
type Answer = Omit<EvaluatorResult, 'error'> & { readonly spans: readonly TextSpan[] | null };

export type CheckWorker = Omit<SupervisionOptions, 'onReady' | 'onEnd'>;

interface Job extends WorkerJob<CheckReply> {
  runs: number;
  /** The answer is no longer awaited. */
  settled: boolean;
}

/** The workers of one custom evaluator, with the limits and restarts that an author's code needs. */
export class CheckPool {
  readonly #pool: WorkerPool<Job, CheckReply>;
  readonly #limits: Required<CheckLimits>;
  readonly #onWorkerLost: (reason: Error) => void;
  #restarts = 0;
  /** Consecutive lost workers without an answer in between. */
  #losses = 0;
  #restartTimer: NodeJS.Timeout | undefined;
  #settleStart: { resolve(description: EvaluatorDescription): void; reject(reason: Error): void } | undefined;
  #started = false;
  #closed = false;

  /** `onWorkerLost` is called when a worker ended unexpectedly. */
  constructor(worker: CheckWorker, limits: CheckLimits, onWorkerLost: (reason: Error) => void) {
    this.#limits = { abortGraceMs: ABORT_GRACE_MS, ...limits };
    this.#onWorkerLost = onWorkerLost;
    this.#pool = new WorkerPool<Job, CheckReply>({
      ...worker,
      size: limits.workers,
      maxQueued: MAX_QUEUED_CHECKS,
      overdue: 'timeout: the check did not end',
      // While a restart is delayed, that restart decides whether the module can be loaded at all.
      mayStart: () => this.#restartTimer === undefined,
      onReady: (description) => {
        this.#started = true;
        this.#settleStart?.resolve(description as EvaluatorDescription);
      },
      onEnd: (end, job) => this.#lost(end, job),
    });
  }

  /** Starts the first worker. Rejects when the module cannot be loaded. */
  start(): Promise<EvaluatorDescription> {
    return new Promise((resolve, reject) => {
      this.#settleStart = { resolve, reject };
      this.#pool.start().ref();
    });
  }

  /**
   * Runs a check. Rejects, with "timeout" in the message, when it exceeds `timeoutMs`, and immediately when
   * `signal` is aborted, when the queue is full, or when the data are too large.
   */
  async check(
    config: string,
    data: JsonValue,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<EvaluatorResult> {
    const { matched, confidence, message, metadata } = await this.#ask(config, data, timeoutMs, signal);
    return { matched, confidence, message, metadata, error: null };
  }

  /** Runs a check of a text for the places of its match. Rejects as `check`, and if it matches without any place. */
  async locate(
    config: string,
    text: string,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<readonly TextSpan[]> {
    const { matched, spans } = await this.#ask(config, text, timeoutMs, signal);
    if (matched && spans === null) throw new Error('the evaluator does not say where it matches');
    return matched ? (spans ?? []) : [];
  }

  #ask(config: string, data: JsonValue, timeoutMs: number, signal: AbortSignal): Promise<Answer> {
    const refusal = this.#refusal(data, signal);
    if (refusal !== undefined) return Promise.reject(new Error(refusal));
    return new Promise((resolve, reject) => {
      const giveUp = (why: string): void => {
        job.settle(new Error(why));
        this.#pool.abort(job);
      };
      const onAbort = (): void => giveUp('the check was given up');
      const timer = setTimeout(giveUp, timeoutMs, `timeout after ${timeoutMs} ms`);
      signal.addEventListener('abort', onAbort);
      const job: Job = {
        // Measured from its begin: a check that queued for long must not end a faultless worker.
        limitMs: timeoutMs + this.#limits.abortGraceMs,
        runs: 0,
        settled: false,
        begin: () => {
          job.runs += 1;
          // The pool has rejected data that authors cannot receive.
          return { config, data: data as Json } satisfies Omit<Check, 'id'>;
        },
        settle: (answer) => {
          job.settled = true;
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
          if (answer instanceof Error) return reject(answer);
          this.#losses = 0;
          if ('problem' in answer) return reject(new Error(answer.problem));
          try {
            resolve(JSON.parse(answer.answer) as Answer);
          } catch {
            reject(new Error('the answer of the worker is no JSON'));
          }
        },
      };
      this.#pool.add(job);
    });
  }

  status(): EvaluatorStatus {
    const { running, queued } = this.#pool;
    return { running: running.length, queued, workerRestarts: this.#restarts };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#restartTimer);
    await this.#pool.close(new Error('the service is shutting down'));
  }

  #refusal(data: JsonValue, signal: AbortSignal): string | undefined {
    if (this.#closed) return 'the service is shutting down';
    if (signal.aborted) return 'the check was given up';
    if (this.#pool.isFull) return 'the queue of the evaluator is full';
    return dataProblem(data, MAX_DATA_SIZE);
  }

  /** Returns the answer of the check, or null to repeat it. */
  #lost({ error, code, wasReady, wasKilled }: WorkerEnd, job: Job | undefined): Error | null {
    const reason = error ?? new Error(`the worker ended with exit code ${code}`);
    if (this.#started) this.#restart(reason, wasReady && wasKilled);
    else this.#settleStart?.reject(reason);
    const outOfMemory = 'code' in reason && reason.code === OUT_OF_MEMORY;
    const isOver = job?.settled === true || job?.runs === MAX_RUNS || outOfMemory;
    return wasReady && isOver ? reason : null;
  }

  #restart(reason: Error, wasStuck: boolean): void {
    this.#onWorkerLost(reason);
    this.#restarts += 1;
    // A check that used all its time needs no further delay.
    if (!wasStuck) this.#losses += 1;
    // The first restart is immediate; a module that keeps failing must not keep the machine busy.
    const delay = this.#losses <= 1 ? 0 : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.#losses - 2));
    this.#restartTimer ??= setTimeout(() => {
      this.#restartTimer = undefined;
      this.#pool.warm();
    }, delay);
  }
}
