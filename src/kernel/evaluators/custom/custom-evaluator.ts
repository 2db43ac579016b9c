import { ProcessWorker } from '../../../contract/runtime/process-worker.js';
import type { Evaluator } from '../../core/evaluator.js';
import { configSchemaOf } from '../config/config-members.js';
import { type CheckLimits, CheckPool, type CheckWorker } from './check-pool.js';
import { createConfigValidator } from './config-validator.js';
import type { LogLine, WorkerInput } from './worker-messages.js';

const ENTRY = new URL('./worker-entry.mjs', import.meta.url);
/** Longest time a module may take to load, in milliseconds. */
const START_LIMIT_MS = 10_000;
/** Heap of one worker, in MiB; it needs some memory beside it. */
const HEAP_MB = 256;
/** Memory at which a worker is ended, in bytes; the engine does not count buffers as heap. */
const MAX_MEMORY_BYTES = 768 * 1024 * 1024;

/** Options of custom evaluators. */
export interface CustomEvaluatorOptions extends CheckLimits {
  /** Folder against which relative paths and packages are resolved. */
  readonly directory: string;
  /** Environment variables visible to the author's code. */
  readonly environment: Readonly<Record<string, string>>;
  /** Time limit of an evaluator that sets none, in milliseconds. */
  readonly timeoutMs: number;
  /** Longest time a module may take to load, in milliseconds; START_LIMIT_MS when absent. */
  readonly startLimitMs?: number;
  /** Memory at which a worker is ended, in bytes; MAX_MEMORY_BYTES when absent. */
  readonly maxMemoryBytes?: number;
  readonly log: {
    info(facts: object, message: string): void;
    warn(facts: object, message: string): void;
  };
}

/**
 * Loads an author's module, given as absolute path or package name, in a process and creates an evaluator from
 * it. Rejects when it cannot be loaded or does not implement the interface.
 */
export async function loadCustomEvaluator(
  specifier: string,
  options: CustomEvaluatorOptions,
): Promise<Evaluator> {
  const { directory, environment, log, startLimitMs = START_LIMIT_MS } = options;
  const { maxMemoryBytes = MAX_MEMORY_BYTES } = options;
  let name = specifier;
  const worker: CheckWorker = {
    start: () =>
      new ProcessWorker({
        entry: ENTRY,
        input: { specifier, directory, maxMemoryBytes } satisfies WorkerInput,
        environment,
        execArgv: [`--max-old-space-size=${HEAP_MB}`, '--disable-warning=ExperimentalWarning'],
      }),
    startLimit: { ms: startLimitMs, problem: `the module did not load within ${startLimitMs} ms` },
    onNote: (line) =>
      log.info({ evaluator: name, output: (line as LogLine).log }, 'output of a custom evaluator'),
  };
  const pool = new CheckPool(worker, options, (reason) =>
    log.warn({ evaluator: name, reason: reason.message }, 'the worker of a custom evaluator is replaced'),
  );
  const description = await pool.start();
  try {
    const problemsOf = createConfigValidator(description.configJsonSchema);
    name = description.name;
    const timeoutMs = description.timeoutMs ?? options.timeoutMs;
    return {
      name,
      version: description.version,
      description: description.description,
      requiresApiKey: description.requiresApiKey,
      timeoutMs,
      external: true,
      locates: true,
      configSchema: configSchemaOf(problemsOf),
      configJsonSchema: description.configJsonSchema,
      compile(config) {
        const [problem] = problemsOf(config);
        if (problem !== undefined) throw new Error(`the configuration is invalid: ${problem.message}`);
        const text = JSON.stringify(config);
        return {
          evaluate: (data, { signal }) => pool.check(text, data, timeoutMs, signal),
          locate: (searched, { signal }) => pool.locate(text, searched, timeoutMs, signal),
        };
      },
      status: () => pool.status(),
      close: () => pool.close(),
    };
  } catch (error) {
    await pool.close();
    throw error;
  }
}
