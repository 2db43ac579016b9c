import type { ControlResult, EvaluatorResult } from './types.js';

/**
 * Longest text that is kept, in bytes: the size of a program counts on about 600 for each control, which is what
 * short patterns and lists need.
 */
const MAX_KEPT_BYTES = 2_000;

/** Controls whose texts are kept with one result; when there are more, those that are gone must make room. */
const MAX_KEPT_TEXTS = 1_000;

/** The text of one control about a result, and what else it was made of. */
interface KeptText {
  readonly name: string;
  readonly action: string;
  readonly steering: ControlResult['steering_context'];
  readonly bytes: Buffer;
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
 * a standing one, the text is made once, as UTF-8, and lives as long as the result.
 */
export function keptText(item: ControlResult, print: (item: ControlResult) => string): Buffer | string {
  const texts = STANDING.get(item.result);
  if (texts === undefined) return print(item);
  const { control_id: id, control_name: name, action, steering_context: steering } = item;
  const kept = texts.get(id);
  if (kept !== undefined && kept.name === name && kept.action === action && kept.steering === steering) {
    return kept.bytes;
  }
  const text = print(item);
  const size = Buffer.byteLength(text);
  if (size > MAX_KEPT_BYTES) return text;
  // In memory of its own: it would keep all the rest of the pool of Node.js.
  const bytes = Buffer.allocUnsafeSlow(size);
  bytes.write(text);
  if (texts.size >= MAX_KEPT_TEXTS) texts.clear();
  texts.set(id, { name, action, steering, bytes });
  return bytes;
}
