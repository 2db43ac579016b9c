import { ConnectError } from '@connectrpc/connect';
import type { Client, GuardOptions, UncheckedStep } from './client-types.js';
import { StepError } from './errors.js';
import { type GuardScope, optionsOfCall, waitOf } from './guard-options.js';
import {
  changedData,
  checkedCopy,
  checkUnchanged,
  discard,
  errorText,
  inputOf,
  readable,
  thrownData,
} from './guarded-data.js';
import { onAbort } from './pending.js';
import { throwUnlessSafe } from './refusals.js';
import { checkOptionNames } from './settings.js';
import type { Evaluation, Modification, Outcome, Stage } from './types.js';

/** Options that a session gives its tools. */
const SCOPE_NAMES = ['agent', 'sessionId'];
const OPTION_NAMES = [
  ...['step', 'type', 'stages', 'input', 'output', 'context', 'stepId', 'signal', 'waitForLimits'],
  ...['traceparent', 'timeoutMs', 'minRevision', 'onUnavailable', 'onUnchecked', 'onRefused'],
  ...['headers', 'onAsk', 'maxWaitMs', 'changedArgs'],
];
/** Functions whose call returns before anything of their result exists. */
const GENERATORS = new Set(['GeneratorFunction', 'AsyncGeneratorFunction']);

/** What a call adds to its step once it has ended. */
interface StepEnd {
  readonly output?: unknown;
}

/**
 * Wraps a tool with checks before and after it runs. In a session the end of a step that may have been counted is always
 * sent, so that what the step reserved is settled.
 */
export function guardTool<Args extends readonly unknown[], Result, Refused = never>(
  evaluate: Client['evaluate'],
  tool: (...args: Args) => Result,
  options: GuardOptions<Args, Awaited<Result>, Refused>,
  scope?: GuardScope,
): (...args: Args) => Promise<Awaited<Result> | Refused> {
  const known = scope === undefined ? [...SCOPE_NAMES, ...OPTION_NAMES] : OPTION_NAMES;
  checkOptionNames('guard', options, known);
  const { step: name, type, stages = ['pre', 'post'], input, output, context } = options;
  const { agent } = scope ?? options;
  const waitForLimits = options.waitForLimits ?? scope?.waitForLimits;
  const checksEnd = stages.includes('post');
  demandGuardable(tool, name, checksEnd);
  const { onUnchecked = warnOnce(), onRefused, changedArgs } = options;
  const waitForApproval = waitOf(options);
  const acceptsBefore = acceptedBefore(input, changedArgs);
  const acceptsAfter: Outcome[] = output === undefined ? ['steer', 'modify'] : ['steer'];

  async function guarded(this: unknown, ...args: Args): Promise<Awaited<Result>> {
    const shownInput = (): unknown =>
      readable(input === undefined ? inputOf(name, args) : input(...args), name, 'input');
    // What is checked is what the tool gets, whatever becomes of the caller's object meanwhile.
    const held = input === undefined && stages.includes('pre') ? checkedCopy(inputOf(name, args)) : undefined;
    // Read before the tool runs: it may change its arguments.
    let step = {
      type,
      name,
      input: held === undefined ? shownInput() : readable(held.value, name, 'input'),
      context: typeof context === 'function' ? context(...args) : context,
    };
    const given = optionsOfCall(options, args, scope);
    const demandSafe = createDemand({ agent, step: name }, stages.length, onUnchecked);
    /** Sends the end of the step. The caller may leave meanwhile; in a session, it is evaluated nevertheless. */
    const sendEnd = (end: StepEnd, stepError?: string): Promise<Evaluation> => {
      const request = { agent, stage: 'post', step: { ...step, ...end } } as const;
      const accepts = checksEnd && stepError === undefined ? acceptsAfter : undefined;
      const ending = { ...given, stepError, accepts };
      if (scope === undefined) return evaluate(request, ending);
      const { signal, ...lasting } = ending;
      return unlessAborted(evaluate(request, lasting), signal);
    };
    /** Sends an end whose verdict has no effect. */
    const settle = async (stepError?: string, end: StepEnd = {}): Promise<void> => {
      if (scope !== undefined) await sendEnd(end, stepError).catch(() => {});
    };

    if (stages.includes('pre')) {
      try {
        const asking = { ...given, waitForLimits, waitForApproval, accepts: acceptsBefore };
        const evaluation = await evaluate({ agent, stage: 'pre', step }, asking);
        const modification = await demandSafe(evaluation, 'pre', acceptsBefore);
        // What was approved is what the caller still means; what is no copy must be what was checked.
        if ((evaluation.evaluated && evaluation.approval !== undefined) || held?.isWhole !== true)
          checkUnchanged(name, step.input, shownInput());
        if (held !== undefined && args.length > 0) args = [held.value, ...args.slice(1)] as unknown as Args;
        if (modification !== undefined) {
          const from = held === undefined ? step.input : held.value;
          const changed = changedData(name, modification.patch, 'input', from);
          step = { ...step, input: readable(changed, name, 'input') };
          args = changedArgs?.(changed, ...args) ?? ([changed, ...args.slice(1)] as unknown as Args);
        }
      } catch (error) {
        // A step that was denied or refused has no end. Any other may have been counted, though it does not run.
        if (!isRefusal(error) && !(error instanceof ConnectError)) void settle('the step did not run');
        throw error;
      }
    }
    let result: Awaited<Result>;
    try {
      result = await tool.call(this, ...args);
    } catch (error) {
      await failed(error);
      throw error;
    }
    try {
      if (!checksEnd) {
        // What is not to be checked leaves the process only if the caller says what of it.
        await settle(
          undefined,
          output === undefined || scope === undefined ? {} : { output: shownOutput(result) },
        );
        return result;
      }
      const modification = await demandSafe(
        await sendEnd({ output: shownOutput(result) }),
        'post',
        acceptsAfter,
      );
      if (modification === undefined) return result;
      return changedData(name, modification.patch, 'output', result) as Awaited<Result>;
    } catch (error) {
      void discard(result);
      throw error;
    }

    function shownOutput(made: Awaited<Result>): unknown {
      try {
        return readable(output === undefined ? made : output(made), name, 'output');
      } catch (error) {
        void settle();
        throw error;
      }
    }

    /** Throws only what a caller gets instead of the error of the tool. */
    async function failed(thrown: unknown): Promise<void> {
      const text = errorText(thrown);
      if (!checksEnd) return settle(text);
      let end: StepEnd;
      try {
        // A model sees what a tool throws as it sees its result.
        end = { output: thrownData(thrown, name) };
      } catch (error) {
        await settle(text);
        throw error;
      }
      try {
        await demandSafe(await sendEnd(end, text), 'post', []);
      } catch (error) {
        // Within a session, a service that does not answer does not hide why a tool failed.
        if (scope === undefined || isRefusal(error)) throw error;
      }
    }
  }

  return onRefused === undefined ? guarded : answering(guarded, onRefused);
}

/** Throws a TypeError for what cannot be guarded. */
function demandGuardable(tool: unknown, name: unknown, checksEnd: boolean): void {
  if (typeof name !== 'string' || name === '') {
    throw new TypeError(
      'guard: the option "step" is missing: the name under which the agent registered the tool',
    );
  }
  if (typeof tool !== 'function') throw new TypeError(`guard: the tool of step "${name}" is not a function`);
  if (checksEnd && GENERATORS.has(tool.constructor.name)) {
    throw new TypeError(
      `guard: the tool of step "${name}" is a generator, whose output cannot be checked before it is used: ` +
        'wrap a function that returns the whole output, or check the input alone with stages: ["pre"]',
    );
  }
}

/** A changed input must be what the tool gets. */
function acceptedBefore(input: unknown, changedArgs: unknown): Outcome[] {
  return input === undefined || changedArgs !== undefined ? ['steer', 'ask', 'modify'] : ['steer', 'ask'];
}

/** The same with what `onRefused` makes of a refusal as its result. */
function answering<Args extends readonly unknown[], Result, Refused>(
  guarded: (...args: Args) => Promise<Result>,
  onRefused: (error: StepError) => Refused | Promise<Refused>,
): (...args: Args) => Promise<Result | Refused> {
  return async function answering(this: unknown, ...args: Args): Promise<Result | Refused> {
    try {
      return await guarded.call(this, ...args);
    } catch (error) {
      if (error instanceof StepError) return await onRefused(error);
      throw error;
    }
  };
}

/** What the stages of one call demand. Tells `onUnchecked` when no control checked any of them. */
function createDemand(
  subject: UncheckedStep,
  stages: number,
  onUnchecked: NonNullable<GuardOptions<never, never>['onUnchecked']>,
) {
  let uncheckedStages = 0;
  /** The change without which the step must not proceed. Throws if it must not, or cannot be changed. */
  return async (
    evaluation: Evaluation,
    stage: Stage,
    accepts: readonly Outcome[],
  ): Promise<Modification | undefined> => {
    const modification = throwUnlessSafe(evaluation, { ...subject, stage }, accepts);
    // Absent from older servers, and without a verdict.
    if (evaluation.evaluated && evaluation.verdict.selectedControls === 0) uncheckedStages += 1;
    if (uncheckedStages === stages) await onUnchecked(subject);
    return modification;
  };
}

/** Whether an error is about a verdict. */
function isRefusal(error: unknown): boolean {
  return error instanceof StepError && error.verdict !== undefined;
}

/** The result of work that goes on when its caller leaves: then it rejects with the reason of the signal. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason);
    const stop = signal.aborted ? leave : onAbort(signal, leave);
    work.then(resolve, reject).finally(stop);
    if (signal.aborted) leave();
  });
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
