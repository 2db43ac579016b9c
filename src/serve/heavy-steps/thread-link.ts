import { Worker } from 'node:worker_threads';
import { SupervisedWorker } from '../../../packages/supervised-worker/src/index.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import { unavailable } from '../../storage/database/errors.js';
import { unpackError } from '../event-reading/sent-error.js';
import type { FromThread, PassOn, StepThreadData, ThreadAnswer, ToThread } from './thread-messages.js';

/** Longest time for the thread to load its modules, and pause after one that could not, in milliseconds. */
const START_LIMIT_MS = 60_000;
const RESTART_PAUSE_MS = 60_000;
/** Longest time without an answer to what was passed on, in milliseconds: a hundred times the largest step. */
const SILENCE_LIMIT_MS = 120_000;
/** In MB. The rest of the heap has the limit of the process. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 16 };

const ENTRY = new URL('./step-thread.js', import.meta.url);

export interface ThreadLinkOptions {
  readonly log: { debug(facts: object, message: string): void };
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** The module of the thread. */
  readonly entry?: URL | undefined;
}

/** What a link needs to work with the thread. */
export interface ThreadLinkUser {
  readonly workerData: StepThreadData;
  /** Whether the thread may wait for this process, so that its silence means nothing. */
  isAwaited(): boolean;
  /** Called with every message, before its answers are settled. */
  received(message: FromThread): void;
  /** Called when the thread is lost: it is not there, and what waits for its answers has not failed yet. */
  lost(): void;
}

interface Waiting {
  resolve(answer: ThreadAnswer): void;
  reject(error: Error): void;
}

/** The thread for large messages, from its start to its end, and its answers, by the numbers of what they answer. */
export class ThreadLink {
  readonly #waiting = new Map<number, Waiting>();
  #worker: SupervisedWorker<never> | undefined;
  #isReady = false;
  #isClosed = false;
  #restartAtMs = Number.NEGATIVE_INFINITY;
  #last = 0;
  #silence: NodeJS.Timeout | undefined;

  constructor(
    private readonly options: ThreadLinkOptions,
    private readonly user: ThreadLinkUser,
  ) {}

  /** Whether the thread takes messages. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Identifies the thread, ready or not; undefined without one. */
  get thread(): object | undefined {
    return this.#worker;
  }

  /** A number that this process gives once. */
  next(): number {
    this.#last += 1;
    return this.#last;
  }

  /** Starts a thread unless there is one, or one could not be started lately. */
  launch(): void {
    const { entry = ENTRY, log, failures, now } = this.options;
    if (this.#worker !== undefined || this.#isClosed || now() < this.#restartAtMs) return;
    const { workerData } = this.user;
    this.#worker = new SupervisedWorker<never>({
      start: () => new Worker(entry, { workerData, resourceLimits: RESOURCE_LIMITS }),
      startLimit: { ms: START_LIMIT_MS, problem: 'the thread could not be started in time' },
      onReady: () => {
        this.#isReady = true;
        log.debug({}, 'the thread for large steps takes messages');
      },
      onNote: (note) => this.#received(note as FromThread),
      onEnd: ({ error, code, wasReady }) => {
        const reason = error ?? new Error(`the thread ended with code ${code}`);
        if (!wasReady) this.#restartAtMs = now() + RESTART_PAUSE_MS;
        if (!this.#isClosed) failures.failed('step thread', 'the thread for large steps ended', reason);
        this.#lost(reason);
      },
    });
  }

  /** Without a thread, the message is dropped. */
  post(message: ToThread, transfer?: readonly ArrayBuffer[]): void {
    this.#worker?.post(message, transfer);
  }

  /** Passes on what has one answer. Throws `stepLost` without a thread. */
  readonly ask: PassOn = (message, transfer) => {
    if (this.#worker === undefined) throw stepLost();
    const number = this.next();
    this.post(message(number), transfer);
    return { number, answer: this.answerTo(number) };
  };

  /** The end of what was passed on with number `to`. */
  answerTo(to: number): Promise<ThreadAnswer> {
    this.#silence ??= setInterval(() => {
      const reason = `no answer for ${SILENCE_LIMIT_MS / 1000} s`;
      if (!this.user.isAwaited()) void this.#worker?.kill(new Error(reason));
    }, SILENCE_LIMIT_MS).unref();
    return new Promise((resolve, reject) => this.#waiting.set(to, { resolve, reject }));
  }

  /** Fails what the thread works at, and ends it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.kill(unavailable('The service is shutting down.'));
  }

  #received(message: FromThread): void {
    const answers = 'answers' in message ? message.answers : undefined;
    if (answers !== undefined) this.#silence?.refresh();
    this.user.received(message);
    for (const answer of answers ?? []) this.#settle(answer);
  }

  #settle(answer: ThreadAnswer): void {
    const known = this.#waiting.get(answer.to);
    this.#waiting.delete(answer.to);
    if (this.#waiting.size === 0) this.#endSilence();
    if (known === undefined) return;
    if ('error' in answer) known.reject(unpackError(answer.error));
    else known.resolve(answer);
  }

  #lost(reason: Error): void {
    this.#worker = undefined;
    this.#isReady = false;
    this.#endSilence();
    this.user.lost();
    const failed = [...this.#waiting.values()];
    this.#waiting.clear();
    const error = unavailable('The step could not be evaluated: the thread for large steps ended.', reason);
    for (const one of failed) one.reject(error);
  }

  #endSilence(): void {
    clearInterval(this.#silence);
    this.#silence = undefined;
  }
}

/** The error of a step that the thread does not have any more. */
export const stepLost = () =>
  unavailable('The step could not be evaluated: the thread for large steps has lost it.');
