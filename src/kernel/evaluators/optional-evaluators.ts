import { Decimal, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { loadOptionalPackage, type MissingPackageLog } from '../../contract/runtime/optional-package.js';
import { textOf } from '../core/data-texts.js';
import type { CompiledEvaluator, Evaluator } from '../core/evaluator.js';
import { type ConfigProblem, configSchemaOf } from './config/config-members.js';
import { missingEvaluators } from './missing-evaluators.js';

/** A package with evaluators, which the service can run without. */
export interface EvaluatorsPackage<Module> {
  readonly name: string;
  /** The names of its evaluators. */
  readonly evaluators: readonly string[];
  readonly load: () => Promise<Module>;
}

/** Evaluators that need no setting: each thread has them itself. */
export const DETECTORS = {
  name: 'detectors',
  evaluators: ['secrets', 'injection', 'pii', 'url', 'shell'],
  load: () => import('../../../packages/detectors/src/index.js'),
};

/** Packages that are built by themselves, with one evaluator each. */
const PACKAGES = [packaged('evaluator-vendor-model', 'vendor.model'), packaged('evaluator-onnx', 'onnx')];

/** `name` is that of the package in its scope. */
export function packaged(name: string, evaluator: string): EvaluatorsPackage<EvaluatorPackage> {
  // No compiler and no bundler looks for it.
  const module: string = `@control-enforcement/${name}`;
  return { name, evaluators: [evaluator], load: () => import(module) };
}

/** Options passed to such a package. */
export interface OptionalEvaluatorOptions {
  readonly apiKey: string | null;
  readonly apiUrl: string | null;
  /** Models of the evaluator `onnx`, as NAME=FOLDER. */
  readonly onnxModels: readonly string[];
  readonly log: MissingPackageLog & { warn(facts: object, message: string): void };
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

/** The module of a package that is built by itself. */
export interface EvaluatorPackage {
  createEvaluator(options: OptionalEvaluatorOptions & { textOf(data: JsonValue): string }): PackagedEvaluator;
}

/** The evaluators of such packages, or what stands for them. Rejects when an installed package does not work. */
export async function loadOptionalEvaluators(
  options: OptionalEvaluatorOptions,
  packages: readonly EvaluatorsPackage<EvaluatorPackage>[] = PACKAGES,
): Promise<Evaluator[]> {
  const evaluators: Evaluator[] = [];
  for (const one of packages) {
    const found = await loadEvaluatorsPackage(one, options.log);
    if (found === null) evaluators.push(...missingEvaluators(one.evaluators, one.name));
    else evaluators.push(evaluatorOf(found, options));
  }
  return evaluators;
}

/** What the package `detectors` has for the service. */
export interface Detectors {
  /** Its evaluators, or what stands for them. */
  readonly evaluators: readonly Evaluator[];
  /** Null without the package. */
  readonly findSensitive: FindSensitive | null;
}

/** Reports where a text looks like a secret or personal data. `place` is as for detectors. Throws if it cannot be searched. */
export type FindSensitive = (
  text: string,
  place: string,
  found: (start: number, end: number) => void,
) => void;

/** Rejects when the package is installed and does not work. */
export async function loadDetectors(log: MissingPackageLog): Promise<Detectors> {
  const found = await loadEvaluatorsPackage(DETECTORS, log, ', and no samples of steps are taken');
  return (
    found ?? { evaluators: missingEvaluators(DETECTORS.evaluators, DETECTORS.name), findSensitive: null }
  );
}

function loadEvaluatorsPackage<Module>(
  { name, evaluators, load }: EvaluatorsPackage<Module>,
  log: MissingPackageLog,
  andMore = '',
): Promise<Module | null> {
  const without = `controls with ${evaluators.join(', ')} are refused, and those that are stored fail closed${andMore}`;
  return loadOptionalPackage({ name, without, load }, log);
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
