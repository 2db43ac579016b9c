type Answered<Reply> = (answer: Reply | Error) => void;

/** What is used of a worker thread, or of a process that stands for one. */
export interface WorkerHandle {
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'exit', listener: (code: number) => void): unknown;
  once(event: 'exit', listener: () => void): unknown;
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  ref(): void;
  unref(): void;
  /** Ends it in the middle of its work. */
  terminate(): Promise<unknown>;
}

/** How a worker ended. */
export interface WorkerEnd {
  /** The uncaught error, or the reason of the kill. Undefined when the module ended the worker. */
  readonly error: Error | undefined;
  readonly code: number;
  readonly wasReady: boolean;
  /** A start that fails, or takes too long, ends by a kill too. */
  readonly wasKilled: boolean;
}

export interface SupervisionOptions {
  /** Starts a thread, or a process, whose module answers each request `{ id, … }` with one message `{ id, … }`. */
  readonly start: () => WorkerHandle;
  /**
   * Longest start in milliseconds, and the error after it. The module then begins with `{ ready }`, or with
   * `{ failed: reason }`. Without a limit, a worker takes requests at once.
   */
  readonly startLimit?: { readonly ms: number; readonly problem: string };
  readonly onReady?: (ready: unknown) => void;
  /** Called with all messages that are no part of this protocol. */
  readonly onNote?: (note: unknown) => void;
  /** Called once; left to it are the `unanswered` requests. */
  readonly onEnd: (end: WorkerEnd) => void;
}

/** A worker, from start to end. It keeps the process alive only while requests are unanswered. */
export class SupervisedWorker<Reply> {
  readonly unanswered = new Map<unknown, Answered<Reply>>();
  readonly #worker: WorkerHandle;
  #lastId = 0;
  #wasReady: boolean;
  #wasKilled = false;
  /** When it is set, the worker is ending. */
  #error: Error | undefined;

  constructor(options: SupervisionOptions) {
    const { startLimit } = options;
    const worker = options.start();
    this.#worker = worker;
    this.#wasReady = startLimit === undefined;
    const startTimer =
      startLimit && setTimeout(() => this.kill(new Error(startLimit.problem)), startLimit.ms).unref();
    worker.on('message', (sent) => {
      if (typeof sent !== 'object' || sent === null) return options.onNote?.(sent);
      const message: { id?: unknown; failed?: unknown; ready?: unknown } = sent;
      if (message.id !== undefined) this.#answer(message.id, message as Reply);
      else if (message.failed !== undefined) void this.kill(new Error(String(message.failed)));
      else if (message.ready === undefined) options.onNote?.(message);
      else if (this.#error === undefined) {
        clearTimeout(startTimer);
        this.#wasReady = true;
        options.onReady?.(message.ready);
        if (this.unanswered.size === 0) worker.unref();
      }
    });
    worker.on('error', (error) => {
      this.#error ??= error instanceof Error ? error : new Error(String(error));
    });
    worker.on('exit', (code) => {
      clearTimeout(startTimer);
      options.onEnd({ error: this.#error, code, wasReady: this.#wasReady, wasKilled: this.#wasKilled });
    });
    // Must come last: a listener for messages keeps the process alive.
    worker.unref();
  }

  get isReady(): boolean {
    return this.#wasReady && this.#error === undefined;
  }

  /** Keeps the process alive until the worker is ready. */
  ref(): void {
    this.#worker.ref();
  }

  /** The memory in `transfer` belongs to the worker afterwards; only threads can take it. */
  request(request: object, answered: Answered<Reply>, transfer: readonly ArrayBuffer[] = []): void {
    this.#lastId += 1;
    this.unanswered.set(this.#lastId, answered);
    this.#worker.ref();
    this.#worker.postMessage({ ...request, id: this.#lastId }, transfer);
  }

  /** Sends a message without an answer. As for requests, the memory in `transfer` belongs to the worker afterwards. */
  post(message: unknown, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  /** Waits until the worker has ended by a message, which its module reads after all earlier requests. */
  close(message: unknown): Promise<void> {
    this.#worker.ref();
    this.#worker.postMessage(message);
    return new Promise<void>((resolve) => this.#worker.once('exit', () => resolve()));
  }

  /** Fails all requests and ends the worker in the middle of its work, which not all native code of a thread survives. */
  kill(reason: Error): Promise<unknown> {
    this.#error ??= reason;
    this.#wasKilled = true;
    const unanswered = [...this.unanswered.values()];
    this.unanswered.clear();
    for (const answered of unanswered) answered(reason);
    return this.#worker.terminate();
  }

  #answer(id: unknown, reply: Reply): void {
    const answered = this.unanswered.get(id);
    this.unanswered.delete(id);
    if (this.unanswered.size === 0) this.#worker.unref();
    answered?.(reply);
  }
}

/** The bytes in memory that holds nothing else, so that it can be passed on without a copy. */
export function ownMemory(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isOwn = bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength;
  return isOwn ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}
