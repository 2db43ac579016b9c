import { Worker } from 'node:worker_threads';
import type { Json } from '../../../packages/evaluator-sdk/src/index.js';
import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import type { EvaluatorResult } from '../../core/types.js';
import type { EvaluatorDescription, FromWorker, ToWorker, WorkerInput } from './worker-messages.js';

/** Longest time a module may take to load, in milliseconds. */
export const START_LIMIT_MS = 10_000;

/**
 * Memory of one worker, in MiB: limit of JavaScript objects. A worker that needs more ends. Buffers are not
 * counted by the engine; `check-pool.ts` monitors them.
 */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };

/** A check run by a worker. */
export interface WorkerCheck {
  /** The configuration as JSON text. */
  readonly config: string;
  readonly data: JsonValue;
  /** Called once, unless the worker ends before. */
  readonly answered: (answer: EvaluatorResult | Error) => void;
}

export interface EvaluatorWorkerOptions extends WorkerInput {
  /** Environment variables visible to the author's code. */
  readonly environment: Readonly<Record<string, string>>;
  /** Called with every line that the author's code writes. */
  readonly onOutput: (line: string) => void;
  /** Longest time the module may take to load, in milliseconds; START_LIMIT_MS when absent. */
  readonly startLimitMs?: number | undefined;
}

/** A worker thread with a loaded author's module. */
export interface EvaluatorWorker {
  /** Rejects when the module cannot be loaded. */
  readonly ready: Promise<EvaluatorDescription>;
  /** Fulfilled when the thread has ended, with the reason; the engine's code when out of memory. */
  readonly ended: Promise<Error>;
  /** Call only when ready and without another check. */
  run(check: WorkerCheck): void;
  /** Aborts the check, whose answer is no longer awaited. */
  abort(): void;
  terminate(reason: Error): void;
}

/** Starts a worker and loads the module in it. */
export function startEvaluatorWorker(options: EvaluatorWorkerOptions): EvaluatorWorker {
  const { specifier, directory, environment, onOutput, startLimitMs = START_LIMIT_MS } = options;
  const input: WorkerInput = { specifier, directory };
  const worker = new Worker(new URL('./worker-entry.mjs', import.meta.url), {
    name: `evaluator ${specifier}`,
    workerData: input,
    env: { ...environment },
    resourceLimits: RESOURCE_LIMITS,
    // The entry sends output itself; output that bypasses it must not mix with the log.
    stdout: true,
    stderr: true,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  worker.stdout.resume();
  worker.stderr.resume();
  const send = (message: ToWorker): void => worker.postMessage(message);
  let nextId = 0;
  let current: WorkerCheck | null = null;
  let reason: Error | null = null;

  function settle(id: number, answer: EvaluatorResult | Error): void {
    if (id !== nextId || current === null) return;
    const { answered } = current;
    current = null;
    answered(answer);
  }

  const ended = new Promise<Error>((resolve) => {
    worker.on('error', (error) => {
      reason ??= error instanceof Error ? error : new Error(String(error));
    });
    worker.on('exit', (code) => resolve(reason ?? new Error(`the worker ended with exit code ${code}`)));
  });
  const ready = new Promise<EvaluatorDescription>((resolve, reject) => {
    const limit = setTimeout(() => {
      terminate(new Error(`the module did not load within ${startLimitMs} ms`));
    }, startLimitMs);
    worker.on('message', (message: FromWorker) => {
      switch (message.type) {
        case 'ready':
          clearTimeout(limit);
          return resolve(message.description);
        case 'failed':
          return terminate(new Error(message.problem));
        case 'answer':
          return settle(message.id, readAnswer(message.answer));
        case 'problem':
          return settle(message.id, new Error(message.problem));
        case 'log':
          return onOutput(message.text);
      }
    });
    void ended.then((error) => {
      clearTimeout(limit);
      reject(error);
    });
  });
  ready.catch(() => undefined);

  function terminate(why: Error): void {
    reason ??= why;
    void worker.terminate();
  }

  return {
    ready,
    ended,
    run(check) {
      current = check;
      nextId += 1;
      // The pool has rejected data that authors cannot receive.
      send({ type: 'check', id: nextId, config: check.config, data: check.data as Json });
    },
    abort: () => send({ type: 'abort' }),
    terminate,
  };
}

/** The worker has already validated the members. */
function readAnswer(text: string): EvaluatorResult {
  const { matched, confidence, message, metadata } = JSON.parse(text) as Omit<EvaluatorResult, 'error'>;
  return { matched, confidence, message, metadata, error: null };
}
