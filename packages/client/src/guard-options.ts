import type { GuardOptions } from './client-types.js';
import { newId } from './new-id.js';
import { milliseconds } from './settings.js';
import type { EvaluationOptions, WaitForApproval, WaitForLimits } from './types.js';

/** The session that the calls of a tool belong to. */
export interface GuardScope {
  readonly agent: string | undefined;
  readonly sessionId: string;
  readonly waitForLimits: WaitForLimits | undefined;
}

/** How the calls of a tool wait for approvals; undefined if they do not. Throws a TypeError for an unknown value. */
export function waitOf({
  onAsk = 'throw',
  maxWaitMs,
}: Pick<GuardOptions<never, never>, 'onAsk' | 'maxWaitMs'>): WaitForApproval | undefined {
  if (maxWaitMs !== undefined) milliseconds('maxWaitMs', maxWaitMs, 1);
  if (onAsk === 'throw') return undefined;
  if (onAsk === 'wait') return { maxWaitMs };
  if (typeof onAsk === 'function') return { maxWaitMs, onAsk };
  throw new TypeError('guard: onAsk must be "wait", "throw" or a function');
}

/** The options of the evaluations of one call: some are functions of its arguments. */
export function optionsOfCall<Args extends readonly unknown[]>(
  options: Omit<GuardOptions<Args, never>, 'onRefused'>,
  args: Args,
  scope: GuardScope | undefined,
): EvaluationOptions {
  const { timeoutMs, minRevision, onUnavailable, headers } = options;
  const of = <T>(value: T | ((...args: Args) => T)): T =>
    typeof value === 'function' ? (value as (...args: Args) => T)(...args) : value;
  const stepId = of(options.stepId);
  return {
    timeoutMs,
    minRevision,
    onUnavailable,
    headers,
    signal: of(options.signal),
    traceparent: of(options.traceparent),
    sessionId: scope?.sessionId ?? of(options.sessionId),
    stepId: scope === undefined ? stepId : (stepId ?? newId()),
  };
}
