/**
 * Failure texts for callers. The actual cause may quote configuration or data, so it goes to the log and
 * never into a verdict.
 */
export const SCOPE_FAILURE_TEXT = 'Invalid step name regex';
/** A selector with `required` selected nothing. */
export const MISSING_DATA_TEXT = 'The step lacks data that the control requires';
const TIMEOUT_TEXT = 'Evaluator timed out';
const INTERNAL_TEXT = 'Internal evaluator error';

/** The fixed text for a failure of an evaluator. */
export function failureText(original: string): string {
  return /timeout/i.test(original) ? TIMEOUT_TEXT : INTERNAL_TEXT;
}

/** Message of a thrown value. */
export function describeThrown(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  return typeof thrown === 'string' ? thrown : 'something that is not an error was thrown';
}
