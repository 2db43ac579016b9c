import type { ControlResult, EvaluatorResult } from './types.js';

/**
 * Longest text that is kept, in characters: the size of a program counts on about 600 for each control, which is what
 * short patterns and lists need.
 */
const MAX_KEPT_TEXT = 2_000;

/** The text of one control about a result, and what else it was made of. */
interface KeptText {
  readonly name: string;
  readonly action: string;
  readonly steering: ControlResult['steering_context'];
  readonly text: string;
}

/** Results that come again and again, and by control ids the texts that were made of each. */
const STANDING = new WeakMap<EvaluatorResult, Map<number, KeptText>>();

/** Notes that this very object will be part of many verdicts: texts that are made of it are worth keeping. */
export function standing(result: EvaluatorResult): EvaluatorResult {
  STANDING.set(result, new Map());
  return result;
}

/**
 * The text that `print` makes of what a control said, which must not depend on its execution id. Where the result is
 * a standing one, the text is made once and lives as long as the result.
 */
export function keptText(item: ControlResult, print: (item: ControlResult) => string): string {
  const texts = STANDING.get(item.result);
  if (texts === undefined) return print(item);
  const { control_id: id, control_name: name, action, steering_context: steering } = item;
  const kept = texts.get(id);
  if (kept !== undefined && kept.name === name && kept.action === action && kept.steering === steering) {
    return kept.text;
  }
  const made = print(item);
  if (made.length > MAX_KEPT_TEXT) return made;
  // Written out and read, so that it is one piece: concatenated texts stay trees of their parts.
  const text = Buffer.from(made).toString();
  texts.set(id, { name, action, steering, text });
  return text;
}
