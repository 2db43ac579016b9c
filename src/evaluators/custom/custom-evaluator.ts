import type { Evaluator } from '../../core/evaluator.js';
import { configSchemaOf } from '../config-members.js';
import { ABORT_GRACE_MS, CheckPool, MAX_GROWTH_BYTES } from './check-pool.js';
import { createConfigValidator } from './config-validator.js';
import { startEvaluatorWorker } from './evaluator-worker.js';

/** Options of custom evaluators. */
export interface CustomEvaluatorOptions {
  /** Folder against which relative paths and packages are resolved. */
  readonly directory: string;
  /** Environment variables visible to the author's code. */
  readonly environment: Readonly<Record<string, string>>;
  /** Time limit of an evaluator that sets none, in milliseconds. */
  readonly timeoutMs: number;
  /** Concurrent checks of one evaluator, each in its own worker. */
  readonly workers: number;
  /** Longest time a module may take to load, in milliseconds. */
  readonly startLimitMs?: number;
  /** Growth of the process that ends a running check, in bytes; MAX_GROWTH_BYTES when absent. */
  readonly maxGrowthBytes?: number;
  /** Time a timed-out check gets to end by itself, in milliseconds; ABORT_GRACE_MS when absent. */
  readonly abortGraceMs?: number;
  readonly log: {
    info(facts: object, message: string): void;
    warn(facts: object, message: string): void;
  };
}

/**
 * Loads an author's module, given as absolute path or package name, in a worker and creates an evaluator from
 * it. Rejects when it cannot be loaded or does not implement the interface.
 */
export async function loadCustomEvaluator(
  specifier: string,
  options: CustomEvaluatorOptions,
): Promise<Evaluator> {
  const { directory, environment, log } = options;
  let name = specifier;
  const pool = new CheckPool({
    size: options.workers,
    maxGrowthBytes: options.maxGrowthBytes ?? MAX_GROWTH_BYTES,
    abortGraceMs: options.abortGraceMs ?? ABORT_GRACE_MS,
    startWorker: () =>
      startEvaluatorWorker({
        specifier,
        directory,
        environment,
        startLimitMs: options.startLimitMs,
        onOutput: (line) => log.info({ evaluator: name, output: line }, 'output of a custom evaluator'),
      }),
    onWorkerLost: (reason) =>
      log.warn({ evaluator: name, reason: reason.message }, 'the worker of a custom evaluator is replaced'),
  });
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
      configSchema: configSchemaOf(problemsOf),
      configJsonSchema: description.configJsonSchema,
      compile(config) {
        const [problem] = problemsOf(config);
        if (problem !== undefined) throw new Error(`the configuration is invalid: ${problem.message}`);
        const text = JSON.stringify(config);
        return { evaluate: (data, { signal }) => pool.check(text, data, timeoutMs, signal) };
      },
      status: () => pool.status(),
      close: () => pool.close(),
    };
  } catch (error) {
    await pool.close();
    throw error;
  }
}
