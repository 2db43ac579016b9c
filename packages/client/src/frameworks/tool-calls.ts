import type { Approval } from '../approvals.js';
import { StepDataError, StepError } from '../errors.js';
import { throwUnlessSafe } from '../refusals.js';
import { isPlainObject } from '../step-json.js';
import type { OnAsk, Outcome } from '../types.js';
import {
  checkFrameworkOptions,
  evaluationOptions,
  type FrameworkCall,
  type FrameworkOptions,
} from './framework-options.js';
import { refusalOf, type ToolRefusal } from './tool-refusal.js';

/** Calls whose runs are remembered. */
const MAX_RUNS = 10_000;
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
  /**
   * Waits for the decision about a call. What is approved is evaluated again when it runs: only that lets it proceed. Undefined if
   * it needs no approval of the service: then its application decides, and the answer is not that of the service.
   */
  decision(call: ToolCall<unknown>): Promise<ToolDecision | undefined>;
}

/** Guards tools as the options say. */
export function createToolCalls(options: FrameworkOptions): ToolCalls {
  checkFrameworkOptions(options);
  const { client, agent, onRefused = 'result', onAsk: asks = 'interrupt', maxWaitMs } = options;
  const unchecked = new Set<string>();
  /** How often tools run or ran, by session and id of the call; the last ones. */
  const runs = new Map<string, number>();
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
      const { stepId, ...settings } = evaluationOf(call);
      const guarded = client.guard(running, {
        ...settings,
        stepId: () => stepId,
        agent,
        step: name,
        input: shown,
        changedArgs: (changed): [Input] => [restored(changed, given)],
        onUnchecked,
        onAsk,
        maxWaitMs,
      });
      count(call, 1);
      let ran = false;
      async function running(input: Input): Promise<Awaited<Output>> {
        const output = await tool(input);
        ran = true;
        return output;
      }
      try {
        return await guarded(given);
      } catch (error) {
        if (onRefused === 'result' && (error instanceof StepError || error instanceof StepDataError))
          return refusalOf(error);
        throw error;
      } finally {
        // What did not run, or failed, may be tried again as the same call.
        if (!ran) count(call, -1);
      }
    },

    async approval(call) {
      if (asks === 'wait') return undefined;
      const step = { name: call.name, input: shown(call.input) };
      const given = { ...evaluationOf(call), accepts: ACCEPTS };
      const evaluation = await client.evaluate({ agent, stage: 'pre', step }, given);
      return evaluation.evaluated && evaluation.outcome === 'ask' ? evaluation.approval : undefined;
    },

    async decision(call) {
      const step = { name: call.name, input: shown(call.input) };
      const waiting = {
        ...evaluationOf(call),
        accepts: ACCEPTS,
        waitForApproval: { maxWaitMs },
      };
      const evaluation = await client.evaluate({ agent, stage: 'pre', step }, waiting);
      try {
        // What a person has changed runs as well: the guard changes it.
        throwUnlessSafe(evaluation, { agent, step: call.name, stage: 'pre' }, ACCEPTS);
        return evaluation.evaluated && evaluation.approval !== undefined ? { approved: true } : undefined;
      } catch (error) {
        if (!(error instanceof StepError)) throw error;
        return { approved: false, refusal: refusalOf(error) };
      }
    },
  };

  /**
   * The options of the evaluations of a call. Models and their providers choose the ids of calls, and some repeat them: what ran is
   * over, and the next call with its id is another step, which an approval or the count of the first one does not cover.
   */
  function evaluationOf(call: FrameworkCall) {
    const given = evaluationOptions(options, call);
    const before = runs.get(keyOf(given));
    if (given.stepId === undefined || before === undefined) return given;
    return { ...given, stepId: `${given.stepId.slice(0, 240)}.r${before}` };
  }

  function count(call: FrameworkCall, change: 1 | -1): void {
    const given = evaluationOptions(options, call);
    if (given.stepId === undefined) return;
    const key = keyOf(given);
    const now = (runs.get(key) ?? 0) + change;
    runs.delete(key);
    if (now > 0) runs.set(key, now);
    const [oldest] = runs.keys();
    if (runs.size > MAX_RUNS && oldest !== undefined) runs.delete(oldest);
  }
}

/** What tells calls apart: ids are those of one conversation. */
function keyOf({ sessionId = '', stepId = '' }: Pick<FrameworkCall, 'sessionId' | 'stepId'>): string {
  return JSON.stringify([sessionId, stepId]);
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
