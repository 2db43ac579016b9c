import { clone, create } from '@bufbuild/protobuf';
import { Decision } from '../../../gen/proto/enforcement/v1/control_pb.js';
import {
  type ControlResult,
  type EvaluateResponse,
  EvaluateResponseSchema,
  EvaluatorResultSchema,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { Client, GuardOptions } from './client-types.js';
import { type CheckedStep, DeniedError, NotEvaluatedError, SteerError } from './errors.js';
import { isPlainObject } from './step-json.js';
import type { Evaluation, Stage } from './types.js';
import { isDenying } from './verdict.js';

/** Wraps a tool with checks before and after it runs. */
export function guardTool<Args extends readonly unknown[], Result>(
  evaluate: Client['evaluate'],
  tool: (...args: Args) => Result,
  options: GuardOptions<Args, Awaited<Result>>,
): (...args: Args) => Promise<Awaited<Result>> {
  const {
    agent,
    step: name,
    type,
    stages = ['pre', 'post'],
    input = inputOf,
    output,
    context,
    stepId,
  } = options;

  return async function guarded(this: unknown, ...args: Args): Promise<Awaited<Result>> {
    const step = {
      type,
      name,
      // Read before the tool runs: it may change its arguments.
      input: input(...args),
      context: typeof context === 'function' ? context(...args) : context,
    };
    const given = { ...options, stepId: stepId?.(...args) };
    const check = async (stage: Stage, more: object): Promise<void> => {
      const evaluation = await evaluate({ agent, stage, step: { ...step, ...more } }, given);
      throwUnlessSafe(evaluation, { agent, step: name, stage });
    };
    if (stages.includes('pre')) await check('pre', {});
    const result = await tool.call(this, ...args);
    if (stages.includes('post')) {
      await check('post', { output: (output === undefined ? result : output(result)) ?? null });
    }
    return result;
  };
}

function inputOf(...args: readonly unknown[]): unknown {
  const [only] = args;
  return args.length === 1 && isPlainObject(only) ? only : { arguments: args };
}

function throwUnlessSafe(evaluation: Evaluation, checked: CheckedStep): void {
  if (evaluation.isSafe) return;
  const when = checked.stage === 'pre' ? 'before' : 'after';
  if (!evaluation.evaluated) {
    const message = `Step "${checked.step}" was not checked ${when} it ran: ${evaluation.error.rawMessage}`;
    throw new NotEvaluatedError(message, checked, evaluation.error);
  }
  const { matches, errors } = evaluation.verdict;
  const verdict = checked.stage === 'post' ? withoutExplanations(evaluation.verdict) : evaluation.verdict;
  const because = verdict.reason === undefined ? '' : `: ${verdict.reason}`;
  const denying = [...matches, ...errors].filter(isDenying);
  const steering = matches.filter((one) => one.action === Decision.STEER);
  if (evaluation.outcome !== 'steer') {
    const names = namesOf(denying);
    throw new DeniedError(
      `Step "${checked.step}" was denied ${when} it ran${by(names)}${because}`,
      checked,
      names,
      verdict,
    );
  }
  const names = namesOf(steering);
  const guidance = {
    message: steering.flatMap((one) => one.steeringContext?.message ?? []).join('\n'),
    requiredActions: [...new Set(steering.flatMap((one) => one.steeringContext?.requiredActions ?? []))],
  };
  const message = `Step "${checked.step}" was steered ${when} it ran${by(names)}${because}`;
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
