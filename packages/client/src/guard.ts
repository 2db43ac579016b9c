import { clone, create } from '@bufbuild/protobuf';
import { Decision } from '../../../gen/proto/enforcement/v1/control_pb.js';
import {
  type ControlResult,
  type EvaluateResponse,
  EvaluateResponseSchema,
  EvaluatorResultSchema,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { Client, GuardOptions, UncheckedStep } from './client-types.js';
import { type CheckedStep, DeniedError, NotEvaluatedError, SteerError, StepError } from './errors.js';
import { discard, inputOf, readable, thrownData } from './guarded-data.js';
import { checkOptionNames } from './option-names.js';
import type { Evaluation, EvaluationOptions, Stage } from './types.js';
import { isDenying } from './verdict.js';

const OPTION_NAMES = [
  ...['agent', 'step', 'type', 'stages', 'input', 'output', 'context', 'stepId', 'sessionId', 'signal'],
  ...['traceparent', 'timeoutMs', 'minRevision', 'onUnavailable', 'onUnchecked', 'onRefused'],
  'headers',
];
/** Functions whose call returns before anything of their result exists. */
const GENERATORS = new Set(['GeneratorFunction', 'AsyncGeneratorFunction']);

/** Wraps a tool with checks before and after it runs. */
export function guardTool<Args extends readonly unknown[], Result, Refused = never>(
  evaluate: Client['evaluate'],
  tool: (...args: Args) => Result,
  options: GuardOptions<Args, Awaited<Result>, Refused>,
): (...args: Args) => Promise<Awaited<Result> | Refused> {
  checkOptionNames('guard', options, OPTION_NAMES);
  const { agent, step: name, type, stages = ['pre', 'post'], input, output, context } = options;
  if (typeof name !== 'string' || name === '') {
    throw new TypeError(
      'guard: the option "step" is missing: the name under which the agent registered the tool',
    );
  }
  if (typeof tool !== 'function') throw new TypeError(`guard: the tool of step "${name}" is not a function`);
  if (stages.includes('post') && GENERATORS.has(tool.constructor.name)) {
    throw new TypeError(
      `guard: the tool of step "${name}" is a generator, whose output cannot be checked before it is used: ` +
        'wrap a function that returns the whole output, or check the input alone with stages: ["pre"]',
    );
  }

  const { onUnchecked = warnOnce(), onRefused } = options;

  async function guarded(this: unknown, ...args: Args): Promise<Awaited<Result>> {
    // Read before the tool runs: it may change its arguments.
    const step = {
      type,
      name,
      input: readable(input === undefined ? inputOf(name, args) : input(...args), name, 'input'),
      context: typeof context === 'function' ? context(...args) : context,
    };
    const given = optionsOfCall(options, args);
    let uncheckedStages = 0;
    const check = async (stage: Stage, more: object): Promise<void> => {
      const evaluation = await evaluate({ agent, stage, step: { ...step, ...more } }, given);
      throwUnlessSafe(evaluation, { agent, step: name, stage });
      // Absent from older servers, and without a verdict.
      if (evaluation.evaluated && evaluation.verdict.selectedControls === 0) uncheckedStages += 1;
      if (uncheckedStages === stages.length) await onUnchecked({ agent, step: name });
    };
    if (stages.includes('pre')) await check('pre', {});
    let result: Awaited<Result>;
    try {
      result = await tool.call(this, ...args);
    } catch (error) {
      // A model sees what a tool throws as it sees its result.
      if (stages.includes('post')) await check('post', { output: thrownData(error, name) });
      throw error;
    }
    if (stages.includes('post')) {
      try {
        const shown = output === undefined ? result : output(result);
        await check('post', { output: readable(shown, name, 'output') });
      } catch (error) {
        void discard(result);
        throw error;
      }
    }
    return result;
  }

  if (onRefused === undefined) return guarded;
  return async function answering(this: unknown, ...args: Args): Promise<Awaited<Result> | Refused> {
    try {
      return await guarded.call(this, ...args);
    } catch (error) {
      if (error instanceof StepError) return await onRefused(error);
      throw error;
    }
  };
}

/** Warns of the first call of a tool that no control checked. */
function warnOnce(): (step: UncheckedStep) => void {
  let hasWarned = false;
  return ({ step }) => {
    if (hasWarned) return;
    hasWarned = true;
    console.warn(
      `guard: no control checks the step "${step}". Is this the name under which it is registered, and does its agent have ` +
        'a control for it? The option onUnchecked replaces this warning.',
    );
  };
}

/** The options of the evaluations of one call: some are functions of its arguments. */
function optionsOfCall<Args extends readonly unknown[]>(
  options: Omit<GuardOptions<Args, never>, 'onRefused'>,
  args: Args,
): EvaluationOptions {
  const { timeoutMs, minRevision, onUnavailable, headers } = options;
  const of = <T>(value: T | ((...args: Args) => T)): T =>
    typeof value === 'function' ? (value as (...args: Args) => T)(...args) : value;
  return {
    timeoutMs,
    minRevision,
    onUnavailable,
    headers,
    signal: of(options.signal),
    traceparent: of(options.traceparent),
    sessionId: of(options.sessionId),
    stepId: of(options.stepId),
  };
}

function throwUnlessSafe(evaluation: Evaluation, checked: CheckedStep): void {
  if (evaluation.isSafe) return;
  const when = checked.stage === 'pre' ? 'before' : 'after';
  if (!evaluation.evaluated) {
    const message = `Step "${checked.step}" could not be checked ${when} it ran, so it counts as denied. Try again later.`;
    throw new NotEvaluatedError(message, checked, evaluation.error);
  }
  const { matches, errors } = evaluation.verdict;
  const verdict = checked.stage === 'post' ? withoutExplanations(evaluation.verdict) : evaluation.verdict;
  const denying = [...matches, ...errors].filter(isDenying);
  const steering = matches.filter((one) => one.action === Decision.STEER);
  if (evaluation.outcome !== 'steer') {
    const names = namesOf(denying);
    const advice = 'A policy forbids it: do not repeat it unchanged.';
    const message = `Step "${checked.step}" was denied ${when} it ran${by(names)}. ${advice}`;
    throw new DeniedError(message, checked, names, verdict);
  }
  const names = namesOf(steering);
  const guidance = {
    message: steering.flatMap((one) => one.steeringContext?.message ?? []).join('\n'),
    requiredActions: [...new Set(steering.flatMap((one) => one.steeringContext?.requiredActions ?? []))],
  };
  const actions =
    guidance.requiredActions.length === 0
      ? ''
      : ` Required before it is repeated: ${guidance.requiredActions.join('; ')}.`;
  const advice = guidance.message === '' ? '.' : `: ${guidance.message}`;
  const message = `Step "${checked.step}" was steered ${when} it ran${by(names)}${advice}${actions}`;
  throw new SteerError(message, checked, names, verdict, guidance);
}

function namesOf(results: readonly ControlResult[]): string[] {
  return results.map((one) => one.controlName);
}

function by(names: readonly string[]): string {
  return names.length === 0 ? '' : ` by ${names.map((name) => `"${name}"`).join(', ')}`;
}

/** A verdict without explanations of evaluators, because they quote the data. */
function withoutExplanations(verdict: EvaluateResponse): EvaluateResponse {
  const bare = clone(EvaluateResponseSchema, verdict);
  delete bare.reason;
  for (const one of [...bare.matches, ...bare.errors, ...bare.nonMatches]) {
    const { matched = false, confidence = 0 } = one.result ?? {};
    one.result = create(EvaluatorResultSchema, { matched, confidence });
  }
  return bare;
}
