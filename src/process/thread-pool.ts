import { SupervisedThread, type ThreadEnd, type ThreadOptions } from './supervised-thread.js';

export interface ThreadJob<Reply> {
  /** Longest time in a thread, in milliseconds. */
  readonly limitMs: number;
  /** Called when a thread is free; returns the request. */
  begin(): object;
  settle(answer: Reply | Error): void;
}

export interface ThreadPoolOptions<Job, Reply> extends Omit<ThreadOptions, 'onEnd'> {
  /** Most threads, and so most concurrent jobs. */
  readonly size: number;
  /** Most jobs beside those that the threads can take. */
  readonly maxQueued: number;
  /** Message of the error of a job that exceeds its time. */
  readonly overdue: string;
  /**
   * Called when a thread has ended, with its unfinished job; for one that was never ready, with the job that
   * waited for it. Returns the answer of the job, or null to repeat it.
   */
  readonly onEnd: (end: ThreadEnd, job: Job | undefined) => Reply | Error | null;
  /** False while no job may start a thread. */
  readonly mayStart?: () => boolean;
}

interface Slot<Job, Reply> {
  readonly thread: SupervisedThread<Reply>;
  job: Job | undefined;
  timer?: NodeJS.Timeout;
}

/**
 * Threads with one job each, so that a job that is stuck or ends its thread affects no other, and a queue.
 * Threads start on demand. The pools of npm, piscina and tinypool, have no time limit for the start of a thread
 * and can neither repeat the job of a lost thread nor abort a job without a kill.
 */
export class ThreadPool<Job extends ThreadJob<Reply>, Reply> {
  readonly #options: ThreadPoolOptions<Job, Reply>;
  readonly #slots = new Set<Slot<Job, Reply>>();
  readonly #queue: Job[] = [];

  constructor(options: ThreadPoolOptions<Job, Reply>) {
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

  /** Removes a settled job from the queue, or sends `'abort'` to its thread. */
  abort(job: Job): void {
    const index = this.#queue.indexOf(job);
    if (index >= 0) this.#queue.splice(index, 1);
    this.#slotOf(job)?.thread.post('abort');
  }

  /** Fails a running job and ends its thread. */
  kill(job: Job, reason: Error): void {
    void this.#slotOf(job)?.thread.kill(reason);
  }

  /** Starts a thread if there is none. */
  warm(): void {
    if (this.#slots.size === 0) this.start();
    this.#dispatch();
  }

  start(): SupervisedThread<Reply> {
    const { onReady, onEnd, ...options } = this.#options;
    const thread = new SupervisedThread<Reply>({
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
    const slot: Slot<Job, Reply> = { thread, job: undefined };
    this.#slots.add(slot);
    return thread;
  }

  /** Fails all jobs and ends all threads. The next job starts new ones. */
  async close(reason: Error): Promise<void> {
    const slots = [...this.#slots];
    this.#slots.clear();
    for (const job of this.#queue.splice(0)) job.settle(reason);
    await Promise.all(slots.map(({ thread }) => thread.kill(reason)));
  }

  #dispatch(): void {
    let starting = 0;
    for (const slot of this.#slots) {
      const job = this.#queue[0];
      if (job === undefined) return;
      if (slot.job !== undefined) continue;
      if (slot.thread.isReady) {
        this.#queue.shift();
        this.#run(slot, job);
      } else {
        starting += 1;
        slot.thread.ref();
      }
    }
    const { size, mayStart } = this.#options;
    if (this.#queue.length <= starting || this.#slots.size >= size || mayStart?.() === false) return;
    this.start().ref();
  }

  #run(slot: Slot<Job, Reply>, job: Job): void {
    slot.job = job;
    slot.timer = setTimeout(() => this.kill(job, new Error(this.#options.overdue)), job.limitMs);
    slot.thread.request(job.begin(), (answer) => {
      clearTimeout(slot.timer);
      slot.job = undefined;
      job.settle(answer);
      this.#dispatch();
    });
  }

  #slotOf(job: Job): Slot<Job, Reply> | undefined {
    return [...this.#slots].find((slot) => slot.job === job);
  }
}
