import type { Approval } from '../approvals.js';
import { StepDataError, StepError } from '../errors.js';
import { throwUnlessSafe } from '../refusals.js';
import { isPlainObject } from '../step-json.js';
import type { OnAsk, Outcome } from '../types.js';
import { evaluationOptions, type FrameworkCall, type FrameworkOptions } from './framework-options.js';
import { refusalOf, type ToolRefusal } from './tool-refusal.js';

const ACCEPTS: readonly Outcome[] = ['steer', 'ask', 'modify'];

/** A call of a tool by a model. */
export interface ToolCall<Input> extends FrameworkCall {
  /** Name of the step: that of the tool. */
  readonly name: string;
  /** What the model gave. One that is no plain object is the member `input` of the step. */
  readonly input: Input;
}

/** How an approval that a framework interrupted for has ended. */
export type ToolDecision =
  | { readonly approved: true }
  | { readonly approved: false; readonly refusal: ToolRefusal };

/** The calls of the tools of a framework. */
export interface ToolCalls {
  /**
   * Checks a call, runs the tool with the input that may run, and checks what it returns. The result is that of the tool, as it
   * may be shown, or why there is none. Rejects with what the tool throws, unless a control denies that, and with a
   * ConnectError for what the service refuses, such as an unknown agent.
   */
  run<Input, Output>(
    call: ToolCall<Input>,
    tool: (input: Input) => Output,
    onAsk?: (approval: Approval) => OnAsk | Promise<OnAsk>,
  ): Promise<Awaited<Output> | ToolRefusal>;
  /** The approval that a call waits for, before it runs; undefined if it needs none, or is refused anyway. */
  approval(call: ToolCall<unknown>): Promise<Approval | undefined>;
  /** Waits for the decision about a call. What is approved is evaluated again when it runs: only that lets it proceed. */
  decision(call: ToolCall<unknown>): Promise<ToolDecision>;
}

/** Guards tools as the options say. */
export function createToolCalls(options: FrameworkOptions): ToolCalls {
  const { client, agent, onRefused = 'result', onAsk: asks = 'interrupt', maxWaitMs } = options;
  const unchecked = new Set<string>();
  const onUnchecked =
    options.onUnchecked ??
    (({ step }: { readonly step: string }) => {
      if (unchecked.has(step)) return;
      unchecked.add(step);
      console.warn(
        `no control checks the step "${step}": is this the name under which controls know the tool? The option ` +
          'onUnchecked replaces this warning',
      );
    });

  return {
    async run<Input, Output>(
      call: ToolCall<Input>,
      tool: (input: Input) => Output,
      onAsk: (approval: Approval) => OnAsk | Promise<OnAsk> = () => (asks === 'wait' ? 'wait' : 'throw'),
    ): Promise<Awaited<Output> | ToolRefusal> {
      const { name, input: given } = call;
      const guarded = client.guard(tool, {
        ...evaluationSettings(call),
        agent,
        step: name,
        input: shown,
        changedArgs: (changed): [Input] => [restored(changed, given)],
        onUnchecked,
        onAsk,
        maxWaitMs,
      });
      try {
        return await guarded(given);
      } catch (error) {
        if (onRefused === 'result' && (error instanceof StepError || error instanceof StepDataError))
          return refusalOf(error);
        throw error;
      }
    },

    async approval(call) {
      if (asks === 'wait') return undefined;
      const step = { name: call.name, input: shown(call.input) };
      const given = { ...evaluationOptions(options, call), accepts: ACCEPTS };
      const evaluation = await client.evaluate({ agent, stage: 'pre', step }, given);
      return evaluation.evaluated && evaluation.outcome === 'ask' ? evaluation.approval : undefined;
    },

    async decision(call) {
      const step = { name: call.name, input: shown(call.input) };
      const waiting = {
        ...evaluationOptions(options, call),
        accepts: ACCEPTS,
        waitForApproval: { maxWaitMs },
      };
      const evaluation = await client.evaluate({ agent, stage: 'pre', step }, waiting);
      try {
        // What a person has changed runs as well: the guard changes it.
        throwUnlessSafe(evaluation, { agent, step: call.name, stage: 'pre' }, ACCEPTS);
        return { approved: true };
      } catch (error) {
        if (!(error instanceof StepError)) throw error;
        return { approved: false, refusal: refusalOf(error) };
      }
    },
  };

  function evaluationSettings(call: FrameworkCall) {
    const { stepId, signal, ...settings } = evaluationOptions(options, call);
    return { ...settings, signal, stepId: () => stepId };
  }
}

/** The input of a step: an object, whose members selectors can name. */
function shown(input: unknown): unknown {
  if (isPlainObject(input)) return input;
  return input === undefined ? {} : { input };
}

/** What a tool gets for a changed input. */
function restored<Input>(changed: unknown, given: Input): Input {
  if (isPlainObject(given) || given === undefined) return changed as Input;
  return (changed as { readonly input: Input }).input;
}
