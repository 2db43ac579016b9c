import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import type { EvaluatorStatus } from '../../core/evaluator.js';
import type { EvaluatorResult } from '../../core/types.js';
import { dataProblem } from './data-size.js';
import type { EvaluatorWorker } from './evaluator-worker.js';
import type { EvaluatorDescription } from './worker-messages.js';

/** Most checks waiting for a worker. More means that they arrive faster than they are processed. */
export const MAX_QUEUED_CHECKS = 256;
/** Largest data of a check, in characters: copying them takes the main thread some milliseconds. */
export const MAX_DATA_SIZE = 2_000_000;
/** Time a timed-out check gets after its signal was aborted, in milliseconds. */
export const ABORT_GRACE_MS = 50;
/** A check whose worker ended is repeated once in another: an earlier check may have ended the worker. */
const MAX_RUNS = 2;
/** Delay of the second consecutive restart without an answer, in milliseconds; it doubles up to the limit. */
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;
/**
 * Growth of the process, in bytes, that ends a running check, more than a worker's objects may take; and the
 * interval of the measurement, in milliseconds.
 */
export const MAX_GROWTH_BYTES = 768 * 1024 * 1024;
const MEMORY_INTERVAL_MS = 50;

export interface CheckPoolOptions {
  /** Number of workers, and so of concurrent checks. */
  readonly size: number;
  readonly startWorker: () => EvaluatorWorker;
  /** Growth of the process that ends a running check, in bytes. */
  readonly maxGrowthBytes: number;
  /** Time a timed-out check gets after its signal was aborted, in milliseconds. */
  readonly abortGraceMs: number;
  /** Called when a worker ended unexpectedly. */
  readonly onWorkerLost: (reason: Error) => void;
}

/** A queued or running check. */
interface Job {
  readonly config: string;
  readonly data: JsonValue;
  readonly timeoutMs: number;
  runs: number;
  /** The answer is no longer awaited. */
  settled: boolean;
  /** Settles the promise of the caller; later calls do nothing. */
  readonly settle: (answer: EvaluatorResult | Error) => void;
}

/** A slot for a worker. */
interface Slot {
  readonly worker: EvaluatorWorker;
  ready: boolean;
  job: Job | null;
  /** The check caused the worker to end, not the module. */
  ended: boolean;
  /** Size of the process when the check began, in bytes. */
  sizeBefore: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * The workers of one custom evaluator and the queue in front of them. A worker runs one check at a time, so a
 * check that hangs or ends its worker affects no other.
 */
export class CheckPool {
  readonly #options: CheckPoolOptions;
  readonly #slots = new Set<Slot>();
  readonly #queue: Job[] = [];
  #restarts = 0;
  /** Consecutive lost workers without an answer in between. */
  #losses = 0;
  #restartTimer: NodeJS.Timeout | undefined;
  #memoryTimer: NodeJS.Timeout | undefined;
  #started = false;
  #closed = false;

  constructor(options: CheckPoolOptions) {
    this.#options = options;
  }

  /** Starts the first worker. Rejects when the module cannot be loaded. */
  async start(): Promise<EvaluatorDescription> {
    const { worker } = this.#startWorker();
    try {
      const description = await worker.ready;
      this.#started = true;
      return description;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /**
   * Runs a check. Rejects, with "timeout" in the message, when it exceeds `timeoutMs`, and immediately when
   * `signal` is aborted, when the queue is full, or when the data are too large.
   */
  check(config: string, data: JsonValue, timeoutMs: number, signal: AbortSignal): Promise<EvaluatorResult> {
    const refusal = this.#refusal(data, signal);
    if (refusal !== undefined) return Promise.reject(new Error(refusal));
    return new Promise((resolve, reject) => {
      const giveUp = (why: string): void => {
        job.settle(new Error(why));
        this.#forget(job);
      };
      const onAbort = (): void => giveUp('the check was given up');
      const timer = setTimeout(giveUp, timeoutMs, `timeout after ${timeoutMs} ms`);
      signal.addEventListener('abort', onAbort);
      const job: Job = {
        config,
        data,
        timeoutMs,
        runs: 0,
        settled: false,
        settle(answer) {
          job.settled = true;
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
          if (answer instanceof Error) reject(answer);
          else resolve(answer);
        },
      };
      this.#queue.push(job);
      this.#dispatch();
    });
  }

  status(): EvaluatorStatus {
    const running = [...this.#slots].filter(({ job }) => job !== null).length;
    return { running, queued: this.#queue.length, workerRestarts: this.#restarts };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#restartTimer);
    clearInterval(this.#memoryTimer);
    const reason = new Error('the service is shutting down');
    for (const job of this.#queue.splice(0)) job.settle(reason);
    const slots = [...this.#slots];
    for (const { worker } of slots) worker.terminate(reason);
    await Promise.all(slots.map(({ worker }) => worker.ended));
  }

  #refusal(data: JsonValue, signal: AbortSignal): string | undefined {
    if (this.#closed) return 'the service is shutting down';
    if (signal.aborted) return 'the check was given up';
    if (this.#queue.length >= MAX_QUEUED_CHECKS) return 'the queue of the evaluator is full';
    return dataProblem(data, MAX_DATA_SIZE);
  }

  #dispatch(): void {
    for (const slot of this.#slots) {
      if (!slot.ready || slot.job !== null) continue;
      const job = this.#queue.shift();
      if (job === undefined) return;
      this.#run(slot, job);
    }
    const starting = [...this.#slots].filter(({ ready }) => !ready).length;
    if (this.#queue.length <= starting || this.#slots.size >= this.#options.size) return;
    // While a restart is delayed, that restart decides whether the module can be loaded at all.
    if (this.#restartTimer === undefined && !this.#closed) this.#startWorker();
  }

  #run(slot: Slot, job: Job): void {
    slot.job = job;
    slot.sizeBefore = process.memoryUsage.rss();
    job.runs += 1;
    // Measured from here: a check that queued for long must not end a faultless worker.
    slot.timer = setTimeout(
      () => this.#end(slot, 'timeout: the check did not end'),
      job.timeoutMs + this.#options.abortGraceMs,
    );
    this.#memoryTimer ??= setInterval(() => this.#lookAtMemory(), MEMORY_INTERVAL_MS).unref();
    slot.worker.run({
      config: job.config,
      data: job.data,
      answered: (answer) => {
        this.#losses = 0;
        this.#free(slot);
        job.settle(answer);
        this.#dispatch();
      },
    });
  }

  /** Drops a job that is no longer awaited. */
  #forget(job: Job): void {
    const index = this.#queue.indexOf(job);
    if (index >= 0) this.#queue.splice(index, 1);
    for (const slot of this.#slots) if (slot.job === job) slot.worker.abort();
  }

  /** The check itself is the cause, so it is not repeated. */
  #end(slot: Slot, why: string): void {
    const reason = new Error(why);
    slot.job?.settle(reason);
    this.#free(slot);
    slot.ready = false;
    slot.ended = true;
    slot.worker.terminate(reason);
  }

  #free(slot: Slot): void {
    clearTimeout(slot.timer);
    slot.job = null;
    if ([...this.#slots].some(({ job }) => job !== null)) return;
    clearInterval(this.#memoryTimer);
    this.#memoryTimer = undefined;
  }

  /** The engine limits the objects of a worker but not its buffers, which could end the whole process. */
  #lookAtMemory(): void {
    const size = process.memoryUsage.rss();
    for (const slot of this.#slots) {
      if (slot.job === null || size - slot.sizeBefore <= this.#options.maxGrowthBytes) continue;
      this.#end(slot, 'the process grew too much while the check ran');
    }
  }

  #startWorker(): Slot {
    const worker = this.#options.startWorker();
    const slot: Slot = { worker, ready: false, job: null, ended: false, sizeBefore: 0, timer: undefined };
    this.#slots.add(slot);
    worker.ready.then(
      () => {
        slot.ready = true;
        this.#dispatch();
      },
      () => undefined,
    );
    void worker.ended.then((reason) => this.#lost(slot, reason));
    return slot;
  }

  #lost(slot: Slot, reason: Error): void {
    const { job } = slot;
    this.#free(slot);
    this.#slots.delete(slot);
    if (job !== null && !job.settled) {
      const outOfMemory = 'code' in reason && reason.code === 'ERR_WORKER_OUT_OF_MEMORY';
      if (this.#closed || outOfMemory || job.runs >= MAX_RUNS) job.settle(reason);
      else this.#queue.unshift(job);
    }
    if (this.#closed || !this.#started) return;
    this.#options.onWorkerLost(reason);
    this.#restarts += 1;
    // A check that used all its time needs no further delay.
    if (!slot.ended) this.#losses += 1;
    // The first restart is immediate; a module that keeps failing must not keep the machine busy.
    const delay = this.#losses <= 1 ? 0 : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.#losses - 2));
    this.#restartTimer ??= setTimeout(() => {
      this.#restartTimer = undefined;
      if (this.#slots.size === 0) this.#startWorker();
      this.#dispatch();
    }, delay);
  }
}
