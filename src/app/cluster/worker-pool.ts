import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import type { Config } from '../../contract/config/config.js';
import { type StartFailure, type ToPrimary, tellWorker } from './messages.js';

/** Pause before a retry, in milliseconds, after a worker could not start for lack of the database. */
const DATABASE_PAUSE_MS = 1_000;

/**
 * Time limit for the last messages of a worker after its exit, in milliseconds. Node.js does not always
 * notice the end of a channel on which it was sending a connection.
 */
const LAST_WORDS_LIMIT_MS = 500;

export interface WorkerPoolOptions {
  readonly size: number;
  /** The configuration of the workers. */
  readonly config: Config;
  readonly log: Logger;
  /** A worker can serve. */
  readonly onServing: (worker: Worker) => void;
  /** The worker accepts no more connections. */
  readonly onLeaving: (worker: Worker) => void;
  /** The process has exited, though its last messages may still arrive. */
  readonly onGone: (worker: Worker) => void;
  /** No more messages will arrive from the worker. */
  readonly onEnded: (worker: Worker) => void;
  /** Receives all messages that the pool does not handle. */
  readonly onMessage: (worker: Worker, message: ToPrimary) => void;
  /** Workers exit as soon as they are started: continuing is useless. */
  readonly onHopeless: () => void;
}

interface Member {
  readonly worker: Worker;
  state: 'starting' | 'serving' | 'leaving';
  /** When it was ready, in milliseconds of a monotonic clock; null before. */
  readyAtMs: number | null;
  failure: StartFailure | undefined;
}

/** How a process ended. */
interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A worker failed to start. */
export class WorkerStartError extends Error {
  constructor(failure: StartFailure) {
    super(failure.message);
    if (failure.stack !== undefined) this.stack = failure.stack;
  }
}

/** Keeps a fixed number of workers running. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #members = new Map<Worker, Member>();
  readonly #crashLoop = createCrashLoop();
  readonly #pauses = new Set<NodeJS.Timeout>();
  #starting: { resolve(): void; reject(error: Error): void } | null = null;
  #emptied: (() => void) | null = null;
  #isMigrated = false;
  #stopping = false;
  #allCleanly = true;
  #crashes = 0;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  /** Serving workers. */
  get serving(): number {
    return [...this.#members.values()].filter(({ state }) => state === 'serving').length;
  }

  /** Workers that ended unexpectedly. */
  get crashes(): number {
    return this.#crashes;
  }

  /**
   * Starts all workers. Resolves when all can serve; rejects with the first failure. `isMigrated` tells them
   * whether the database is migrated.
   */
  start(isMigrated: boolean): Promise<void> {
    this.#isMigrated = isMigrated;
    return new Promise((resolve, reject) => {
      this.#starting = { resolve, reject };
      for (let count = 0; count < this.#options.size; count += 1) this.#fork();
    });
  }

  /**
   * Asks all workers to finish, and kills the rest after `limitMs`. Resolves when all have ended: true if
   * each that has served ended by itself and without an error. Those still starting had nothing to finish.
   */
  async stop(limitMs: number): Promise<boolean> {
    this.#stopping = true;
    for (const pause of this.#pauses) clearTimeout(pause);
    const emptied = new Promise<void>((resolve) => {
      this.#emptied = resolve;
    });
    for (const { worker, readyAtMs } of this.#members.values()) {
      tellWorker(worker, { type: 'stop' });
      // It may not yet have loaded the code that handles messages.
      if (readyAtMs === null) worker.process.kill('SIGTERM');
    }
    if (this.#members.size === 0) return this.#allCleanly;
    const limit = setTimeout(() => this.kill(), limitMs);
    await emptied;
    clearTimeout(limit);
    return this.#allCleanly;
  }

  /** Kills all workers immediately. */
  kill(): void {
    this.#stopping = true;
    for (const { worker } of this.#members.values()) worker.process.kill('SIGKILL');
  }

  #fork(): void {
    if (this.#stopping) return;
    const worker = cluster.fork();
    const member: Member = { worker, state: 'starting', readyAtMs: null, failure: undefined };
    this.#members.set(worker, member);
    worker.on('message', (message: ToPrimary) => this.#heard(member, message));
    worker.on('error', (error) => this.#options.log.debug({ err: error }, 'a worker cannot be reached'));
    worker.once('exit', (code: number | null, signal: string | null) => {
      this.#options.onGone(worker);
      // The last messages of a worker may arrive after its exit event.
      const ended = (): void => {
        clearTimeout(limit);
        worker.off('disconnect', ended);
        this.#ended(member, { code, signal });
      };
      const limit = setTimeout(ended, LAST_WORDS_LIMIT_MS);
      if (worker.isConnected()) worker.once('disconnect', ended);
      else ended();
    });
  }

  #forkAfter(ms: number): void {
    if (ms === 0) {
      this.#fork();
      return;
    }
    const pause = setTimeout(() => {
      this.#pauses.delete(pause);
      this.#fork();
    }, ms);
    this.#pauses.add(pause);
  }

  #heard(member: Member, message: ToPrimary): void {
    const { worker } = member;
    if (message.type === 'hello') {
      const { config } = this.#options;
      const start = { type: 'start', config, isMigrated: this.#isMigrated } as const;
      // Messages sent before its hello were lost.
      tellWorker(worker, this.#stopping ? { type: 'stop' } : start);
    } else if (message.type === 'ready') {
      this.#ready(member);
    } else if (message.type === 'failed') {
      member.failure = message.failure;
    } else if (message.type === 'leaving') {
      const served = member.state === 'serving';
      member.state = 'leaving';
      this.#options.onLeaving(worker);
      tellWorker(worker, { type: 'left' });
      // Only this worker was asked to stop: start a replacement while it finishes.
      if (served) this.#fork();
    } else {
      this.#options.onMessage(worker, message);
    }
  }

  #ready(member: Member): void {
    if (this.#stopping) return;
    member.state = 'serving';
    member.readyAtMs = performance.now();
    this.#options.onServing(member.worker);
    setTimeout(() => {
      if (member.state === 'serving') this.#crashLoop.survived();
    }, EARLY_END_MS).unref();
    if (this.serving !== this.#options.size) return;
    this.#starting?.resolve();
    this.#starting = null;
  }

  #ended(member: Member, exit: Exit): void {
    const { worker, state } = member;
    this.#members.delete(worker);
    // Prevents a late timer from counting it as a survivor.
    member.state = 'leaving';
    this.#options.onEnded(worker);
    if (this.#stopping) {
      if (exit.code !== 0 && member.readyAtMs !== null) this.#allCleanly = false;
      if (this.#members.size === 0) this.#emptied?.();
    } else if (state !== 'leaving') {
      this.#replace(member, exit);
    }
  }

  #replace(member: Member, exit: Exit): void {
    const { log } = this.#options;
    const { worker, failure } = member;
    if (failure !== undefined && this.#starting !== null) {
      this.#starting.reject(new WorkerStartError(failure));
      return;
    }
    this.#crashes += 1;
    const facts = { worker: worker.process.pid, ...exit };
    if (failure?.isTemporary === true) {
      log.warn(facts, `a worker cannot start: ${failure.message}`);
      this.#forkAfter(DATABASE_PAUSE_MS);
      return;
    }
    const early = member.readyAtMs === null || performance.now() - member.readyAtMs < EARLY_END_MS;
    const pause = this.#crashLoop.ended(early);
    const reason = failure === undefined ? '' : ` (${failure.message})`;
    log.error(facts, `a worker ended${reason}${pause === null ? '' : '; another takes its place'}`);
    if (pause !== null) this.#forkAfter(pause);
    else if (this.#starting === null) this.#options.onHopeless();
    else this.#starting.reject(new Error('workers end as soon as they are started'));
  }
}

/** A worker that ends before it is ready, or less than this after, has ended early. */
export const EARLY_END_MS = 1_000;
/** Early ends in a row after which restarting is given up. */
export const MAX_EARLY_ENDS = 5;
/** Pause before replacing a worker that ended early, doubled each time. The first is replaced immediately. */
const FIRST_PAUSE_MS = 100;

/** Decides how to continue after workers that ended unexpectedly. */
export interface CrashLoop {
  /** Milliseconds to wait before the replacement starts, or null if it would be useless. */
  ended(early: boolean): number | null;
  /** A worker has run long enough. */
  survived(): void;
}

export function createCrashLoop(): CrashLoop {
  let earlyEnds = 0;
  return {
    ended(early) {
      if (!early) return 0;
      earlyEnds += 1;
      if (earlyEnds >= MAX_EARLY_ENDS) return null;
      return earlyEnds === 1 ? 0 : FIRST_PAUSE_MS * 2 ** (earlyEnds - 2);
    },
    survived() {
      earlyEnds = 0;
    },
  };
}
