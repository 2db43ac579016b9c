import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Model } from './models.js';
import type { Classification, ModelLimits } from './types.js';

/** Characters of the error output that are kept for the reason of an end. */
const KEPT_OUTPUT = 4_096;

interface Request {
  readonly text: string;
  settle(answer: Classification | Error): void;
}

type Message = { ready: true } | { failed: string } | { answer: Classification } | { problem: string };

/** A model in a process of its own, which starts with the first check. Its checks run one after another. */
export class ModelProcess {
  readonly #model: Model;
  readonly #limits: ModelLimits;
  readonly #onLost: (reason: string) => void;
  readonly #queue: Request[] = [];
  #running: Request | undefined;
  #child: ChildProcess | undefined;
  #isReady = false;
  #restarts = 0;
  #isClosed = false;
  /** Why the last start failed, and until when none is tried again (`performance.now`). */
  #failure: { readonly reason: string; readonly until: number } | undefined;

  constructor(model: Model, limits: ModelLimits, onLost: (reason: string) => void) {
    this.#model = model;
    this.#limits = limits;
    this.#onLost = onLost;
  }

  /** Rejects when the model cannot be loaded, on its errors, after the time limit, and when `signal` is aborted. */
  classify(text: string, signal: AbortSignal): Promise<Classification> {
    const refusal = this.#refusal(text, signal);
    if (refusal !== undefined) return Promise.reject(new Error(refusal));
    return new Promise((resolve, reject) => {
      const request: Request = {
        text,
        settle(answer) {
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
          if (answer instanceof Error) reject(answer);
          else resolve(answer);
        },
      };
      const { checkMs } = this.#limits;
      const timer = setTimeout(() => this.#giveUp(request, `timeout after ${checkMs} ms`), checkMs);
      const onAbort = (): void => this.#giveUp(request, 'the check was given up');
      signal.addEventListener('abort', onAbort, { once: true });
      this.#queue.push(request);
      this.#start();
      this.#next();
    });
  }

  get status(): { readonly running: number; readonly queued: number; readonly restarts: number } {
    return { running: this.#running ? 1 : 0, queued: this.#queue.length, restarts: this.#restarts };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const child = this.#child;
    if (child === undefined) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  #refusal(text: string, signal: AbortSignal): string | undefined {
    const { characters, queued } = this.#limits;
    if (this.#isClosed) return 'the service is shutting down';
    if (signal.aborted) return 'the check was given up';
    if (this.#queue.length >= queued) return `the queue of the model ${this.#model.name} is full`;
    if (text.length > characters) {
      return `the text has ${text.length} characters, and a model is given at most ${characters}`;
    }
    const failure = this.#failure;
    return failure !== undefined && performance.now() < failure.until ? failure.reason : undefined;
  }

  #start(): void {
    if (this.#child !== undefined) return;
    const { memoryMib, windows, startMs } = this.#limits;
    const input = { folder: this.#model.folder, labels: this.#model.labels.length, memoryMib, windows };
    const child = fork(
      fileURLToPath(new URL('./model-worker.js', import.meta.url)),
      [JSON.stringify(input)],
      {
        env: {},
        execArgv: [],
        serialization: 'advanced',
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      },
    );
    this.#child = child;
    let reason = '';
    let output = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-KEPT_OUTPUT);
    });
    const startTimer = setTimeout(() => {
      reason = `the model was not loaded within ${startMs} ms`;
      child.kill('SIGKILL');
    }, startMs);
    child.on('message', (message: Message) => {
      if ('failed' in message) reason = message.failed;
      else if ('ready' in message) {
        clearTimeout(startTimer);
        this.#isReady = true;
        this.#failure = undefined;
        this.#next();
      } else this.#answered('problem' in message ? new Error(message.problem) : message.answer);
    });
    child.on('error', (error) => {
      reason ||= error.message;
      if (child.pid === undefined) this.#ended(reason);
    });
    child.on('close', (code, signal) => {
      clearTimeout(startTimer);
      const told = /^Ended: (.+)$/m.exec(output)?.[1];
      this.#ended(reason || told || `its process ended with ${signal ?? `code ${code}`}`);
    });
  }

  #next(): void {
    if (!this.#isReady || this.#running !== undefined) return;
    this.#running = this.#queue.shift();
    if (this.#running !== undefined) this.#child?.send({ text: this.#running.text }, () => {});
  }

  #answered(answer: Classification | Error): void {
    const request = this.#running;
    this.#running = undefined;
    request?.settle(answer);
    this.#next();
  }

  /** A check whose text the model is reading cannot be taken back: the process ends, and the next check starts another. */
  #giveUp(request: Request, why: string): void {
    const index = this.#queue.indexOf(request);
    if (index >= 0) this.#queue.splice(index, 1);
    else if (this.#running === request) this.#child?.kill('SIGKILL');
    request.settle(new Error(why));
  }

  #ended(why: string): void {
    const wasReady = this.#isReady;
    const reason = `the model ${this.#model.name} cannot be used: ${why}`;
    this.#child = undefined;
    this.#isReady = false;
    if (this.#isClosed) {
      this.#failAll('the service is shutting down');
      return;
    }
    this.#onLost(reason);
    this.#restarts += 1;
    if (wasReady) {
      this.#running?.settle(new Error(reason));
      this.#running = undefined;
      if (this.#queue.length > 0) this.#start();
      return;
    }
    this.#failure = { reason, until: performance.now() + this.#limits.restartMs };
    this.#failAll(reason);
  }

  #failAll(reason: string): void {
    const waiting = this.#running === undefined ? [] : [this.#running];
    waiting.push(...this.#queue.splice(0));
    this.#running = undefined;
    for (const request of waiting) request.settle(new Error(reason));
  }
}
