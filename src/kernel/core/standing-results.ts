import type { ControlResult, EvaluatorResult } from './types.js';

/**
 * Longest text that is cached, in bytes: the size estimate of a program assumes about 600 per control, which
 * is what short patterns and lists need.
 */
const MAX_KEPT_BYTES = 2_000;

/** Controls whose texts are cached with one result; beyond this the cache is cleared. */
const MAX_KEPT_TEXTS = 1_000;

/** The text of one control for a result, and its other inputs. */
interface KeptText {
  readonly name: string;
  readonly action: string;
  readonly steering: ControlResult['steering_context'];
  readonly bytes: Buffer;
}

/** Recurring results, with the texts printed from each by control id. */
const STANDING = new WeakMap<EvaluatorResult, Map<number, KeptText>>();

/** Marks an object as part of many verdicts, so that texts printed from it are cached. */
export function standing(result: EvaluatorResult): EvaluatorResult {
  STANDING.set(result, new Map());
  return result;
}

/**
 * The text that `print` makes of a control result, which must not depend on its execution id. For a standing
 * result the text is made once, as UTF-8, and lives as long as the result.
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
  // A separate allocation: a slice would retain the rest of Node's buffer pool.
  const bytes = Buffer.allocUnsafeSlow(size);
  bytes.write(text);
  if (texts.size >= MAX_KEPT_TEXTS) texts.clear();
  texts.set(id, { name, action, steering, bytes });
  return bytes;
}
