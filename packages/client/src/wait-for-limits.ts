import { newId } from './new-id.js';
import { onAbort } from './pending.js';
import { milliseconds, whole } from './settings.js';
import type { Evaluation, EvaluationOptions, EvaluationRequest, WaitForLimits } from './types.js';

const DEFAULT_RETRIES = 10;
const MOST_RETRIES = 1_000;
/** Those that wait for the same limit do not return at the same moment: up to this share of the wait, and this time, later. */
const JITTER_SHARE = 0.1;
const MIN_JITTER_MS = 20;

/** The function that evaluates once. */
export type Evaluate = (request: EvaluationRequest, options: EvaluationOptions) => Promise<Evaluation>;

/**
 * Evaluates a step, and again, with the same step id, once the limit that it reached may have room, until it may proceed, the
 * verdict is another one, or the waits would be longer than allowed. `closing` is aborted when the client is closed.
 */
export async function evaluateWaiting(
  evaluate: Evaluate,
  request: EvaluationRequest,
  given: EvaluationOptions,
  wait: WaitForLimits,
  closing: AbortSignal,
  random: () => number = Math.random,
): Promise<Evaluation> {
  let leftMs = milliseconds('maxWaitMs', wait.maxWaitMs, 1);
  const retries = whole('maxRetries', wait.maxRetries ?? DEFAULT_RETRIES, MOST_RETRIES);
  const options = { ...given, stepId: given.stepId ?? newId() };
  for (let retry = 0; ; retry += 1) {
    const evaluation = await evaluate(request, options);
    const atLeastMs = evaluation.evaluated ? evaluation.retryAfterMs : undefined;
    if (evaluation.isSafe || atLeastMs === undefined || atLeastMs > leftMs || retry >= retries)
      return evaluation;
    const jitterMs = random() * Math.max(MIN_JITTER_MS, atLeastMs * JITTER_SHARE);
    const pauseMs = Math.min(leftMs, atLeastMs + jitterMs);
    await pause(pauseMs, given.signal === undefined ? [closing] : [closing, given.signal]);
    leftMs -= pauseMs;
  }
}

/** Rejects with the reason of the first signal that is aborted. */
async function pause(ms: number, signals: readonly AbortSignal[]): Promise<void> {
  for (const signal of signals) signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const stops: (() => void)[] = [];
    const end = (act: () => void) => (): void => {
      clearTimeout(timer);
      for (const stop of stops) stop();
      act();
    };
    const timer = setTimeout(end(resolve), ms);
    for (const signal of signals)
      stops.push(
        onAbort(
          signal,
          end(() => reject(signal.reason)),
        ),
      );
  });
}
