import { Batch, type BatchOptions, EntryTooLargeError } from './batch.js';
import type { Cell } from './cell.js';
import type { CellCache } from './cell-cache.js';
import { type Job, MAX_ATTEMPTS, type WaitingJob } from './job.js';
import type { EntryWriter } from './job-entries.js';
import type { KnownRules } from './known-rules.js';
import type { LocalMemory } from './local-memory.js';
import type { MemoryMeter } from './memory-meter.js';
import type { Room } from './room.js';
import { MemoryStoreError } from './store/memory-store.js';
import { StoreAnswers } from './store-answers.js';
import { type MemoryLog, MemoryLostError, type MemoryTimes, type StoreLink } from './store-link.js';

/** Most jobs of an exchange, and the time that their decisions take together, in microseconds: requests wait meanwhile. */
const AT_ONCE = 256;
const TURN_US = 8_000;
export interface DecisionLoopOptions {
  readonly link: StoreLink;
  readonly cells: CellCache;
  readonly rules: KnownRules;
  readonly local: LocalMemory;
  readonly room: Room;
  readonly writer: EntryWriter;
  readonly times: MemoryTimes;
  readonly timeoutMs: number;
  readonly log: MemoryLog;
  readonly meter: MemoryMeter;
  /** Called with cells whose checkpoint cannot be read. */
  readonly onDamage: (cell: Cell) => void;
}

/**
 * Decides jobs by what the store has. All that wait form one exchange, one after the other: while one is under way, the next ones
 * gather. A job that another process was faster than is decided again with what that one has added.
 */
export class DecisionLoop {
  readonly #options: DecisionLoopOptions;
  readonly #answers: StoreAnswers;
  #queue: WaitingJob[] = [];
  #running: Promise<void> | null = null;
  #isBeatDue = false;
  #lastExchangeUs = 0;

  constructor(options: DecisionLoopOptions) {
    this.#options = options;
    this.#answers = new StoreAnswers(options);
  }

  /** Why the store does not answer; null if it does, or was not asked. */
  get problem(): string | null {
    return this.#answers.problem;
  }

  /** Whether the store is taken to be away: jobs are decided without it, at once. */
  get isDown(): boolean {
    return this.#answers.isDown;
  }

  get lastExchangeUs(): number {
    return this.#lastExchangeUs;
  }

  submit(job: Job, signal?: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const { times, timeoutMs, local } = this.#options;
      const deadlineUs = times.monotonicUs() + timeoutMs * 1_000;
      const waiting: WaitingJob = { job, signal, deadlineUs, attempts: 0, unknown: [], resolve, reject };
      if (isAborted(waiting)) return;
      if (job.isLocal === true) this.#toldConflicts();
      if (this.isDown || job.isLocal === true || local.hasMade(job)) this.#decideLocally([waiting]);
      else {
        this.#queue.push(waiting);
        this.#run();
      }
    });
  }

  /** Has an exchange, although no job waits: for the clock and the rules. */
  beat(): void {
    if (this.isDown) return;
    this.#isBeatDue = true;
    this.#run();
  }

  /** The store does not answer: everything that waits is decided without it, and the store is tried in the background. */
  down(error: unknown): void {
    this.#answers.down(error);
    this.#decideLocally(this.#queue.splice(0));
  }

  async close(): Promise<void> {
    await this.#running;
    this.#answers.close();
    await this.#running;
  }

  #run(): void {
    this.#running ??= new Promise((resolve) => {
      // What arrives in the same turn of the event loop belongs to the same exchange.
      setImmediate(() => {
        void this.#exchanges().finally(() => {
          this.#running = null;
          resolve();
          if (this.#queue.length > 0) this.#run();
        });
      });
    });
  }

  async #exchanges(): Promise<void> {
    const { link, times } = this.#options;
    while (this.#queue.length > 0 || this.#isBeatDue) {
      this.#isBeatDue = false;
      this.#queue = this.#queue.filter((waiting) => !isAborted(waiting));
      let batch: Batch | null = null;
      try {
        if (!link.isOpen) await link.open(this.#limitMs());
        batch = this.#batch();
        if (batch !== null) await this.#exchange(batch);
        this.#answers.came();
      } catch (error) {
        this.#failed(batch, error);
        const isOverdue = this.#queue.some(({ deadlineUs }) => deadlineUs <= times.monotonicUs());
        if (isOverdue || error instanceof MemoryLostError) this.down(error);
        else if (this.#queue.length > 0) await this.#answers.pause();
      }
    }
  }

  /** Decides jobs that wait; null if there is nothing to ask the store for. */
  #batch(): Batch | null {
    const { times, rules, log } = this.#options;
    const batch = new Batch(this.#batchOptions());
    this.#recognise(batch);
    const beganUs = times.monotonicUs();
    let count = 0;
    // The cells of jobs that are left for later are no part of the exchange: the store would read and lock them each time.
    for (const waiting of this.#queue) {
      if (count === AT_ONCE || (count > 0 && times.monotonicUs() - beganUs > TURN_US)) break;
      count += 1;
      const cells = batch.read(waiting);
      try {
        batch.decide(waiting, cells);
      } catch (error) {
        if (!(error instanceof EntryTooLargeError)) waiting.reject(error);
        else {
          log.failed('memory entry', 'a step is decided without the store of memory', error);
          this.#decideLocally([waiting]);
        }
      }
    }
    this.#queue = this.#queue.slice(count);
    const isNeeded = batch.decided.length + batch.unread.length + rules.due().length > 0;
    return isNeeded || count === 0 ? batch : null;
  }

  /** Answers jobs that the store has applied although its reply was lost, before others are decided. */
  #recognise(batch: Batch): void {
    if (this.#queue.every(({ unknown }) => unknown.length === 0)) return;
    this.#queue = this.#queue.filter((waiting) => {
      if (waiting.unknown.length === 0) return true;
      batch.read(waiting);
      const attempt = batch.recognised(waiting);
      if (attempt !== undefined) waiting.resolve(attempt.value);
      return attempt === undefined;
    });
  }

  #batchOptions(): BatchOptions {
    const { link, cells, rules, writer, room } = this.#options;
    const { ids } = link;
    if (ids === null) throw new MemoryStoreError('the store of memory is not open');
    const nowUs = link.nowUs();
    return {
      ids,
      epoch: link.clock.known?.epoch ?? null,
      nowUs: () => link.nowUs(),
      writer,
      rules,
      cellOf: (name) => cells.cellOf(name, nowUs),
      room,
    };
  }

  async #exchange(batch: Batch): Promise<void> {
    const { link, cells, rules, meter, times, onDamage } = this.#options;
    const request = batch.request();
    const reply = await link.exchange(request, this.#limitMs(batch));
    this.#lastExchangeUs = times.monotonicUs();
    batch.settle(reply);
    rules.named(request.rules, reply.sinceUs);
    for (const cell of batch.cells) {
      cells.keep(cell);
      if (cell.damage === 'checkpoint') onDamage(cell);
    }
    const refused: WaitingJob[] = [];
    batch.decided.forEach(({ waiting, value }, index) => {
      if (reply.applied[index] === true) waiting.resolve(value);
      else refused.push(waiting);
    });
    if (refused.length > 0) meter.conflicted(refused.length);
    this.#again([...refused, ...batch.unread]);
  }

  /** Has jobs decided before those that came later. */
  #again(jobs: readonly WaitingJob[]): void {
    const left = jobs.filter((waiting) => {
      waiting.attempts += 1;
      return waiting.attempts < MAX_ATTEMPTS;
    });
    if (left.length < jobs.length) {
      this.#toldConflicts();
      this.#decideLocally(jobs.filter(({ attempts }) => attempts >= MAX_ATTEMPTS));
    }
    this.#queue.unshift(...left);
  }

  #toldConflicts(): void {
    const message = 'steps were decided without the store of memory: others were faster';
    this.#options.log.told('warn', 'memory conflicts', message, { attempts: MAX_ATTEMPTS });
  }

  /** Whether the exchange was applied is unknown: its cells are read anew, and its steps recognised. */
  #failed(batch: Batch | null, error: unknown): void {
    const { cells } = this.#options;
    this.#answers.failed(error);
    if (batch === null) return;
    for (const { id } of batch.cells) cells.drop(id);
    for (const { waiting, value, entries } of batch.decided) {
      if (entries.size > 0) waiting.unknown.push({ value, entries });
    }
    this.#queue.unshift(...batch.decided.map(({ waiting }) => waiting), ...batch.unread);
  }

  #decideLocally(jobs: readonly WaitingJob[]): void {
    const { local, link, meter } = this.#options;
    if (jobs.length > 0) meter.degraded('store_unavailable', jobs.length);
    for (const waiting of jobs) {
      const { job, resolve, reject } = waiting;
      if (isAborted(waiting)) continue;
      try {
        resolve(local.decide(job, link.ids === null || local.hasMade(job) ? local.ids : link.ids));
      } catch (error) {
        reject(error);
      }
    }
  }

  /** Until the first job is to be decided; a job that is overdue although the store answers has some time still. */
  #limitMs(batch?: Batch): number {
    const { times, timeoutMs } = this.#options;
    const jobs = [
      ...(batch?.decided.map(({ waiting }) => waiting) ?? []),
      ...(batch?.unread ?? []),
      ...this.#queue,
    ];
    const firstUs = jobs.reduce(
      (first, { deadlineUs }) => Math.min(first, deadlineUs),
      Number.POSITIVE_INFINITY,
    );
    const leftMs = Math.min(timeoutMs, (firstUs - times.monotonicUs()) / 1_000);
    return this.#answers.failures === 0 ? Math.max(leftMs, timeoutMs / 4) : Math.max(leftMs, 1);
  }
}

function isAborted({ signal, reject }: WaitingJob): boolean {
  if (signal?.aborted !== true) return false;
  reject(signal.reason);
  return true;
}
