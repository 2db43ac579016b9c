import type { Evaluator } from '../../core/evaluator.js';
import { configSchemaOf } from '../config-members.js';
import { CheckPool, MAX_GROWTH_BYTES } from './check-pool.js';
import { createConfigValidator } from './config-validator.js';
import { startEvaluatorWorker } from './evaluator-worker.js';

/** What custom evaluators are given. */
export interface CustomEvaluatorOptions {
  /** Folder that relative paths and packages are looked for from. */
  readonly directory: string;
  /** Environment variables that the author's code sees. */
  readonly environment: Readonly<Record<string, string>>;
  /** Time limit of an evaluator that states none, in milliseconds. */
  readonly timeoutMs: number;
  /** Checks of one evaluator at the same time, each in a worker of its own. */
  readonly workers: number;
  /** Longest time a module may take to load, in milliseconds. */
  readonly startLimitMs?: number;
  /** By how many bytes the process may grow while a check runs; MAX_GROWTH_BYTES when absent. */
  readonly maxGrowthBytes?: number;
  readonly log: {
    info(facts: object, message: string): void;
    warn(facts: object, message: string): void;
  };
}

/**
 * Loads an author's module, given as absolute path or name of a package, in a worker, and makes an evaluator of it.
 * Rejects when it cannot be loaded or does not keep to the interface.
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
