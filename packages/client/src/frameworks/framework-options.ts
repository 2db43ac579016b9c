import type { Client, UncheckedStep } from '../client-types.js';
import type { StepDataError, StepError } from '../errors.js';
import { checkOptionNames } from '../settings.js';
import type { OnUnavailable } from '../types.js';
import { type WindowOptions, windowSettings } from './text-windows.js';

/** Why a step does not proceed: a verdict, no verdict, or data that no control can look at. */
export type Refused = StepError | StepDataError;

/** What the adapters of all frameworks have in common. */
export interface FrameworkOptions {
  readonly client: Client;
  /** The agent; that of the client when absent. */
  readonly agent?: string | undefined;
  /** Id of the session, or a function that returns it, for servers with many conversations. */
  readonly sessionId?: string | (() => string | undefined) | undefined;
  /** Time limit of one evaluation, in milliseconds; that of the client when absent. */
  readonly timeoutMs?: number | undefined;
  /** What proceeds without an answer of the service; as the client says when absent, which is `deny`. */
  readonly onUnavailable?: OnUnavailable | undefined;
  /**
   * What becomes of a call that does not proceed: a result that the model understands (`result`, the default), or the error
   * (`throw`).
   */
  readonly onRefused?: 'result' | 'throw' | undefined;
  /**
   * What a tool call does whose step a person must approve: it becomes an interrupt of the framework (`interrupt`, the
   * default), or it waits for the decision (`wait`).
   */
  readonly onAsk?: 'interrupt' | 'wait' | undefined;
  /** Longest time that a call waits for an approval, in milliseconds; until the approval expires when absent. */
  readonly maxWaitMs?: number | undefined;
  /** Called for each tool call that no control checks. A warning on the console, once for each tool, when absent. */
  readonly onUnchecked?: ((step: UncheckedStep) => void | Promise<void>) | undefined;
  /** How calls of models are checked; false for a middleware that leaves them alone. */
  readonly model?: ModelOptions | false | undefined;
}

/** How calls of a model are checked. */
export interface ModelOptions {
  /** Name of the step, whose type is `llm`; `model` when absent. */
  readonly step?: string | undefined;
  /** What stands in place of an answer that is refused; the message of the error when absent. */
  readonly refusalText?: ((error: Refused) => string) | undefined;
  /** The windows in which streamed text is checked. */
  readonly windows?: WindowOptions | undefined;
}

/** The ids of one call, as its framework knows them. */
export interface FrameworkCall {
  /** The same in all evaluations of the call. */
  readonly stepId?: string | undefined;
  /** For calls of frameworks that know their conversation; the option `sessionId` comes first. */
  readonly sessionId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const NAMES = [
  ...['client', 'agent', 'sessionId', 'timeoutMs', 'onUnavailable', 'onRefused', 'onAsk', 'maxWaitMs'],
  ...['onUnchecked', 'model'],
];

/** Throws a TypeError for an option that does not exist, or whose value means nothing: it would be ignored without a word. */
export function checkFrameworkOptions(options: FrameworkOptions): void {
  checkOptionNames('createEnforcement', options, NAMES);
  const { client, onRefused, onAsk, model } = options;
  if (client === undefined) throw new TypeError('createEnforcement: the option "client" is missing');
  if (!['result', 'throw', undefined].includes(onRefused))
    throw new TypeError('createEnforcement: onRefused must be "result" or "throw"');
  if (!['interrupt', 'wait', undefined].includes(onAsk))
    throw new TypeError('createEnforcement: onAsk must be "interrupt" or "wait"');
  if (!model) return;
  checkOptionNames('createEnforcement: model', model, ['step', 'refusalText', 'windows']);
  if (model.windows !== undefined) windowSettings(model.windows);
}

/** The options of the evaluations of a call. */
export function evaluationOptions(
  { timeoutMs, onUnavailable, sessionId }: FrameworkOptions,
  call: FrameworkCall,
) {
  const session = typeof sessionId === 'function' ? sessionId() : sessionId;
  return {
    timeoutMs,
    onUnavailable,
    sessionId: session ?? call.sessionId,
    stepId: call.stepId,
    signal: call.signal,
  };
}
