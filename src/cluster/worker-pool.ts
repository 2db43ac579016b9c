import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import { type StartFailure, type ToPrimary, tellWorker } from './messages.js';

/** How long to wait before another try, in milliseconds, when a worker could not start for want of the database. */
const DATABASE_PAUSE_MS = 1_000;

/**
 * How long what a worker said last is waited for after its end, in milliseconds. Node.js does not always notice the end
 * of a channel by which it was sending a connection.
 */
const LAST_WORDS_LIMIT_MS = 500;

export interface WorkerPoolOptions {
  readonly size: number;
  /** What the workers run by. */
  readonly config: Config;
  readonly log: Logger;
  /** A worker can serve. */
  readonly onServing: (worker: Worker) => void;
  /** It takes no more connections. */
  readonly onLeaving: (worker: Worker) => void;
  /** Its process is gone, though what it said last may still arrive. */
  readonly onGone: (worker: Worker) => void;
  /** Nothing more will be heard of it. */
  readonly onEnded: (worker: Worker) => void;
  /** Everything workers say that the pool does not understand. */
  readonly onMessage: (worker: Worker, message: ToPrimary) => void;
  /** Workers end as soon as they are started: there is no use in going on. */
  readonly onHopeless: () => void;
}

interface Member {
  readonly worker: Worker;
  state: 'starting' | 'serving' | 'leaving';
  /** When it could serve, in milliseconds of a clock that never goes back; null before. */
  readyAtMs: number | null;
  failure: StartFailure | undefined;
}

/** How a process ended. */
interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A worker could not start. */
export class WorkerStartError extends Error {
  constructor(failure: StartFailure) {
    super(failure.message);
    if (failure.stack !== undefined) this.stack = failure.stack;
  }
}

/** Keeps a number of workers running. */
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

  /** Workers that serve. */
  get serving(): number {
    return [...this.#members.values()].filter(({ state }) => state === 'serving').length;
  }

  /** Workers that ended unasked. */
  get crashes(): number {
    return this.#crashes;
  }

  /**
   * Starts all workers. Resolves when each can serve; rejects with what the first says that cannot. `isMigrated` tells
   * them whether the database is up to date.
   */
  start(isMigrated: boolean): Promise<void> {
    this.#isMigrated = isMigrated;
    return new Promise((resolve, reject) => {
      this.#starting = { resolve, reject };
      for (let count = 0; count < this.#options.size; count += 1) this.#fork();
    });
  }

  /**
   * Asks all to finish, and ends those that have not after `limitMs`. Resolves when all have ended: true when each that
   * has served did so by itself and without an error. Those that were about to start had nothing to finish.
   */
  async stop(limitMs: number): Promise<boolean> {
    this.#stopping = true;
    for (const pause of this.#pauses) clearTimeout(pause);
    const emptied = new Promise<void>((resolve) => {
      this.#emptied = resolve;
    });
    for (const { worker, readyAtMs } of this.#members.values()) {
      tellWorker(worker, { type: 'stop' });
      // It may still be loading what it needs to hear messages.
      if (readyAtMs === null) worker.process.kill('SIGTERM');
    }
    if (this.#members.size === 0) return this.#allCleanly;
    const limit = setTimeout(() => this.kill(), limitMs);
    await emptied;
    clearTimeout(limit);
    return this.#allCleanly;
  }

  /** Ends all at once. */
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
      // What a worker said last may arrive after the news of its end.
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
      // What it was told before it said hello, it has not heard.
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
      // Somebody ends this one alone: the next takes over while it finishes.
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
    // A late timer must not take it for a survivor.
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

/** A worker that ends sooner than this after it was ready, or before it was, has ended early. */
export const EARLY_END_MS = 1_000;
/** Early ends in a row after which nobody can expect the next worker to live. */
export const MAX_EARLY_ENDS = 5;
/** Pause before a worker that ended early is replaced, doubled each time. The first one is replaced at once. */
const FIRST_PAUSE_MS = 100;

/** Tells how to go on after workers that ended unasked. */
export interface CrashLoop {
  /** Milliseconds to wait before the replacement starts, or null when it would be useless. */
  ended(early: boolean): number | null;
  /** A worker has lived long enough. */
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
