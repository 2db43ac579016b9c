import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Evaluator } from '../../core/evaluator.js';
import { type CustomEvaluatorOptions, loadCustomEvaluator } from './custom-evaluator.js';

/**
 * Loads the modules named by SERVICE_EVALUATORS: packages, or files and folders by a path that begins with
 * `.` or `/`. Rejects when one of them is unusable, naming it: a service that left an evaluator out would
 * deny or allow steps for a hidden reason.
 */
export async function loadCustomEvaluators(
  specifiers: readonly string[],
  options: CustomEvaluatorOptions,
): Promise<Evaluator[]> {
  const loaded = await Promise.allSettled(specifiers.map((specifier) => load(specifier, options)));
  const failed = loaded.find((one) => one.status === 'rejected');
  const evaluators = loaded.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  if (failed === undefined) return evaluators;
  await Promise.all(evaluators.map((evaluator) => evaluator.close?.()));
  throw failed.reason;
}

async function load(specifier: string, options: CustomEvaluatorOptions): Promise<Evaluator> {
  const isPath = /^\.{0,2}\//.test(specifier);
  try {
    const module = isPath ? mainModuleOf(specifier, options.directory) : specifier;
    return await loadCustomEvaluator(module, options);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const hint =
      !isPath && existsSync(path.resolve(options.directory, specifier))
        ? ` (it was taken for a package; the path of a file begins with ./, as in ./${specifier})`
        : '';
    throw new Error(`SERVICE_EVALUATORS: ${specifier} cannot be used: ${reason}${hint}`);
  }
}

/** A folder stands for the main module of the package in it. */
function mainModuleOf(specifier: string, directory: string): string {
  const absolute = path.resolve(directory, specifier);
  if (!existsSync(absolute)) throw new Error(`there is no ${absolute}`);
  return createRequire(path.join(directory, 'package.json')).resolve(absolute);
}
