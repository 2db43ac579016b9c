import { Decimal, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { textOf } from '../core/data-texts.js';
import type { CompiledEvaluator, Evaluator } from '../core/evaluator.js';
import { type ConfigProblem, configSchemaOf } from './config/config-members.js';

/** Packages that register an evaluator when installed. */
const PACKAGES = [
  '@control-enforcement/evaluator-vendor-model',
  '@control-enforcement/evaluator-onnx',
] as const;

/** Options passed to such a package. */
export interface OptionalEvaluatorOptions {
  readonly apiKey: string | null;
  readonly apiUrl: string | null;
  /** Models of the evaluator `onnx`, as NAME=FOLDER. */
  readonly onnxModels: readonly string[];
  readonly log: { warn(facts: object, message: string): void };
}

/** Result of `createEvaluator`: an evaluator that validates configurations without service code. */
export interface PackagedEvaluator
  extends Pick<
    Evaluator,
    | 'name'
    | 'version'
    | 'description'
    | 'requiresApiKey'
    | 'timeoutMs'
    | 'external'
    | 'unavailable'
    | 'configJsonSchema'
    | 'status'
    | 'close'
  > {
  problemsOf(config: JsonObject): readonly ConfigProblem[];
  compile(config: JsonObject): CompiledEvaluator;
}

/** The module of such a package. */
export interface EvaluatorPackage {
  createEvaluator(options: OptionalEvaluatorOptions & { textOf(data: JsonValue): string }): PackagedEvaluator;
}

/** The evaluators of the installed packages. Rejects when an installed package does not work. */
export async function loadOptionalEvaluators(
  options: OptionalEvaluatorOptions,
  packages: readonly string[] = PACKAGES,
): Promise<Evaluator[]> {
  const evaluators: Evaluator[] = [];
  for (const name of packages) {
    const found = await importIfInstalled(name);
    if (found !== null) evaluators.push(evaluatorOf(found, options));
  }
  return evaluators;
}

/** The evaluator of a package. */
export function evaluatorOf(found: EvaluatorPackage, options: OptionalEvaluatorOptions): Evaluator {
  const { problemsOf, compile, ...packaged } = found.createEvaluator({ ...options, textOf });
  return {
    ...packaged,
    configSchema: configSchemaOf((config) => problemsOf(withDoubles(config))),
    compile: (config) => compile(withDoubles(config)),
  };
}

/** Packages do not support Decimals, and their settings need no more digits than a double has. */
function withDoubles(config: JsonObject): JsonObject {
  if (!Object.values(config).some((value) => value instanceof Decimal)) return config;
  const members = Object.entries(config);
  return Object.fromEntries(
    members.map(([name, value]) => [name, value instanceof Decimal ? value.toNumber() : value]),
  );
}

async function importIfInstalled(name: string): Promise<EvaluatorPackage | null> {
  try {
    return (await import(name)) as EvaluatorPackage;
  } catch (error) {
    // Node names the package when it is absent, but a file when the package exists and was not built.
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`)) return null;
    throw new Error(`the package ${name} is installed but cannot be used; npm run build builds it`, {
      cause: error,
    });
  }
}
