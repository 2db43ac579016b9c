import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import { fileURLToPath, type URL } from 'node:url';
import type { WorkerHandle } from '../../../packages/supervised-worker/src/index.js';

/** Code of the error of a process that exceeded its memory; that of Node.js for a thread. */
export const OUT_OF_MEMORY = 'ERR_WORKER_OUT_OF_MEMORY';

/** Characters of the error output that are kept. */
const KEPT_OUTPUT = 16_384;
/** Time after the end for the rest of the output, in milliseconds: a process started by this one may hold it. */
const OUTPUT_GRACE_MS = 1_000;

export interface ProcessWorkerOptions {
  /** The module that the process runs; it uses `process.send` and the event `message`. */
  readonly entry: URL;
  /** Sent as JSON in the first argument. */
  readonly input: object;
  readonly environment: Readonly<Record<string, string>>;
  /** Options of Node.js. */
  readonly execArgv: readonly string[];
}

/**
 * A process of its own with the interface of a worker thread, for code that must not be able to end the
 * service: the heap limit of a thread is not kept for a large array, after which Node.js ends the process.
 * A message `{ crashed }` from it states the uncaught error that ends it.
 */
export class ProcessWorker extends EventEmitter implements WorkerHandle {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #output = '';
  #isTerminated = false;
  #isEnded = false;

  constructor({ entry, input, environment, execArgv }: ProcessWorkerOptions) {
    super();
    const child = fork(fileURLToPath(entry), [JSON.stringify(input)], {
      env: { ...environment },
      execArgv: [...execArgv],
      // Keeps integers beyond 2^53.
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child = child;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#output = (this.#output + text).slice(-KEPT_OUTPUT);
    });
    child.on('message', (message) => {
      if (typeof message !== 'object' || message === null) return;
      if ('crashed' in message) this.emit('error', new Error(String(message.crashed)));
      else this.emit('message', message);
    });
    this.#ended = new Promise((resolve) => {
      const end = (code: number | null, signal: NodeJS.Signals | null): void => {
        if (this.#isEnded) return;
        this.#isEnded = true;
        if (signal !== null && !this.#isTerminated) this.emit('error', this.#reasonOf(signal));
        this.emit('exit', code ?? 1);
        resolve();
      };
      child.on('close', end);
      child.on('exit', (code, signal) => setTimeout(end, OUTPUT_GRACE_MS, code, signal).unref());
      child.on('error', (error) => {
        this.emit('error', error);
        // A process that could not be started has no further event.
        if (child.pid === undefined) end(1, null);
      });
    });
    // The pipe of the output does not keep the process alive, the channel does while it is referenced.
    if (child.stderr instanceof Socket) child.stderr.unref();
  }

  postMessage(message: unknown): void {
    // A process that has ended is noticed by its end.
    this.#child.send(message as object, () => {});
  }

  ref(): void {
    this.#child.ref();
    this.#child.channel?.ref();
  }

  unref(): void {
    this.#child.unref();
    this.#child.channel?.unref();
  }

  terminate(): Promise<void> {
    this.#isTerminated = true;
    this.ref();
    this.#child.kill('SIGKILL');
    return this.#ended;
  }

  #reasonOf(signal: NodeJS.Signals): Error {
    const text = /^(?:FATAL ERROR|Ended): (.+)$/m.exec(this.#output)?.[1];
    if (text === undefined) return new Error(`the process was ended by ${signal}`);
    return Object.assign(new Error(text), /memory/.test(text) ? { code: OUT_OF_MEMORY } : {});
  }
}
