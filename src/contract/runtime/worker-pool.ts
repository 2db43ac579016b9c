import {
  SupervisedWorker,
  type SupervisionOptions,
  type WorkerEnd,
} from '../../../packages/supervised-worker/src/index.js';

export interface WorkerJob<Reply> {
  /** Longest time in a worker, in milliseconds. */
  readonly limitMs: number;
  /** Called when a worker is free; returns the request. */
  begin(): object;
  /** Memory of the request that the worker gets without a copy; such a job cannot be repeated. */
  readonly transfer?: readonly ArrayBuffer[];
  settle(answer: Reply | Error): void;
}

export interface WorkerPoolOptions<Job, Reply> extends Omit<SupervisionOptions, 'onEnd'> {
  /** Most workers, and so most concurrent jobs. */
  readonly size: number;
  /** Most jobs beside those that the workers can take. */
  readonly maxQueued: number;
  /** Message of the error of a job that exceeds its time. */
  readonly overdue: string;
  /**
   * Called when a worker has ended, with its unfinished job; for one that was never ready, with the job that
   * waited for it. Returns the answer of the job, or null to repeat it.
   */
  readonly onEnd: (end: WorkerEnd, job: Job | undefined) => Reply | Error | null;
  /** False while no job may start a worker. */
  readonly mayStart?: () => boolean;
}

interface Slot<Job, Reply> {
  readonly worker: SupervisedWorker<Reply>;
  job: Job | undefined;
  timer?: NodeJS.Timeout;
}

/**
 * Workers with one job each, so that a job that is stuck or ends its worker affects no other, and a queue.
 * Workers start on demand. The pools of npm, piscina and tinypool, have no time limit for the start of a worker
 * and can neither repeat the job of a lost one nor abort a job without a kill.
 */
export class WorkerPool<Job extends WorkerJob<Reply>, Reply> {
  readonly #options: WorkerPoolOptions<Job, Reply>;
  readonly #slots = new Set<Slot<Job, Reply>>();
  readonly #queue: Job[] = [];

  constructor(options: WorkerPoolOptions<Job, Reply>) {
    this.#options = options;
  }

  get queued(): number {
    return this.#queue.length;
  }

  get running(): Job[] {
    return [...this.#slots].flatMap(({ job }) => job ?? []);
  }

  /** Callers check it before `add`. */
  get isFull(): boolean {
    const { size, maxQueued } = this.#options;
    return this.queued + this.running.length >= size + maxQueued;
  }

  add(job: Job): void {
    this.#queue.push(job);
    this.#dispatch();
  }

  /** Removes a settled job from the queue, or sends `'abort'` to its worker. */
  abort(job: Job): void {
    const index = this.#queue.indexOf(job);
    if (index >= 0) this.#queue.splice(index, 1);
    this.#slotOf(job)?.worker.post('abort');
  }

  /** Fails a running job and ends its worker. */
  kill(job: Job, reason: Error): void {
    void this.#slotOf(job)?.worker.kill(reason);
  }

  /** Starts a worker if there is none. */
  warm(): void {
    if (this.#slots.size === 0) this.start();
    this.#dispatch();
  }

  start(): SupervisedWorker<Reply> {
    const { onReady, onEnd, ...options } = this.#options;
    const worker = new SupervisedWorker<Reply>({
      ...options,
      onReady: (ready) => {
        onReady?.(ready);
        this.#dispatch();
      },
      onEnd: (end) => {
        if (!this.#slots.delete(slot)) return;
        const job = end.wasReady ? slot.job : this.#queue.shift();
        const answer = onEnd(end, job);
        clearTimeout(slot.timer);
        if (answer !== null) job?.settle(answer);
        else if (job !== undefined) this.#queue.unshift(job);
        this.#dispatch();
      },
    });
    const slot: Slot<Job, Reply> = { worker, job: undefined };
    this.#slots.add(slot);
    return worker;
  }

  /** Fails all jobs and ends all workers. The next job starts new ones. */
  async close(reason: Error): Promise<void> {
    const slots = [...this.#slots];
    this.#slots.clear();
    for (const job of this.#queue.splice(0)) job.settle(reason);
    await Promise.all(slots.map(({ worker }) => worker.kill(reason)));
  }

  #dispatch(): void {
    let starting = 0;
    for (const slot of this.#slots) {
      const job = this.#queue[0];
      if (job === undefined) return;
      if (slot.job !== undefined) continue;
      if (slot.worker.isReady) {
        this.#queue.shift();
        this.#run(slot, job);
      } else {
        starting += 1;
        slot.worker.ref();
      }
    }
    const { size, mayStart } = this.#options;
    if (this.#queue.length <= starting || this.#slots.size >= size || mayStart?.() === false) return;
    this.start().ref();
  }

  #run(slot: Slot<Job, Reply>, job: Job): void {
    slot.job = job;
    slot.timer = setTimeout(() => this.kill(job, new Error(this.#options.overdue)), job.limitMs);
    const settle = (answer: Reply | Error): void => {
      clearTimeout(slot.timer);
      slot.job = undefined;
      job.settle(answer);
      this.#dispatch();
    };
    slot.worker.request(job.begin(), settle, job.transfer);
  }

  #slotOf(job: Job): Slot<Job, Reply> | undefined {
    return [...this.#slots].find((slot) => slot.job === job);
  }
}
