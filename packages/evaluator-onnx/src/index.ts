import { configJsonSchema, type OnnxConfig, readConfig } from './config.js';
import { ModelProcess } from './model-process.js';
import { readModels } from './models.js';
import {
  type CompiledEvaluator,
  type ConfigProblem,
  DEFAULT_LIMITS,
  type EvaluatorResult,
  type HostOptions,
  type JsonObject,
  type JsonValue,
  type ModelLimits,
} from './types.js';

/** How much later the service gives a check up, in milliseconds: the process must have been ended before. */
const MARGIN_MS = 1_000;

/**
 * The `onnx` evaluator: classifies texts with models that the operator mounts, each in a process of its own. Throws when a
 * model has no readable labels. Without models every check is an error.
 */
export function createEvaluator(options: HostOptions, limits: ModelLimits = DEFAULT_LIMITS) {
  const models = readModels(options.onnxModels);
  const processes = new Map(
    [...models].map(([name, model]) => [
      name,
      new ModelProcess(model, limits, (reason) => options.log.warn({ model: name }, reason)),
    ]),
  );
  const unavailable =
    models.size === 0 ? 'SERVICE_ONNX_MODELS is not set, so no model can be asked' : undefined;

  async function check(config: OnnxConfig, data: JsonValue, signal: AbortSignal): Promise<EvaluatorResult> {
    const { model, label, threshold } = config;
    const modelProcess = processes.get(model);
    if (modelProcess === undefined) throw new Error(unavailable ?? `there is no model named ${model}`);
    if (data === null)
      return { matched: false, confidence: 1, message: 'No data to read', metadata: null, error: null };
    const { scores, windows, tokens } = await modelProcess.classify(options.textOf(data), signal);
    const score = scores[models.get(model)?.labels.indexOf(label) ?? -1];
    if (score === undefined) throw new Error(`the model ${model} has no label ${label}`);
    const matched = score >= threshold;
    return {
      matched,
      confidence: matched ? score : 1 - score,
      message: `${label} has the score ${score.toFixed(3)}, ${matched ? 'at least' : 'below'} ${threshold}`,
      metadata: { model, label, score, threshold, windows, tokens },
      error: null,
    };
  }

  return {
    name: 'onnx',
    version: '1.0.0',
    description:
      'Classifies the selected data with a model that the operator mounts, and compares the score of a label.',
    requiresApiKey: false,
    timeoutMs: limits.checkMs + MARGIN_MS,
    // Slow, like a remote service: asked only about steps that nothing else denies.
    external: true as const,
    ...(unavailable === undefined ? {} : { unavailable }),
    configJsonSchema,
    /** What is wrong with a configuration. */
    problemsOf(config: JsonObject): readonly ConfigProblem[] {
      const read = readConfig(config, models);
      return isProblems(read) ? read : [];
    },
    /** Throws on a configuration with problems. */
    compile(config: JsonObject): CompiledEvaluator {
      const read = readConfig(config, models);
      if (isProblems(read)) throw new Error(read[0]?.message ?? 'the configuration is invalid');
      return { evaluate: (data, { signal }) => check(read, data, signal) };
    },
    status() {
      const all = [...processes.values()].map(({ status }) => status);
      const sum = (member: 'running' | 'queued' | 'restarts'): number =>
        all.reduce((total, status) => total + status[member], 0);
      return { running: sum('running'), queued: sum('queued'), workerRestarts: sum('restarts') };
    },
    /** Ends the processes. Checks under way fail. */
    async close(): Promise<void> {
      await Promise.all([...processes.values()].map((one) => one.close()));
    },
  };
}

function isProblems(read: OnnxConfig | readonly ConfigProblem[]): read is readonly ConfigProblem[] {
  return Array.isArray(read);
}
