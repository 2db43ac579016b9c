import {
  hasOnlyExactNumbers,
  isObject,
  type JsonValue,
  MAX_JSON_DEPTH,
  mayLoseDigits,
  parseJson,
  stringifyJson,
} from '../../../packages/exact-json/src/index.js';

/**
 * A message of the evaluation in JSON whose steps have numbers that no double holds, with these steps as texts (`step_json`):
 * protobuf reads every number of a free-form value as a double. Undefined for any other message, and for invalid ones.
 */
export function withExactSteps(bytes: Uint8Array): Uint8Array | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  if (!mayLoseDigits(text)) return undefined;
  const message = parsed(text);
  const all = isObject(message) ? [message, ...items(message.evaluations)] : [];
  let isExact = true;
  for (const one of all) {
    if (!isObject(one) || !isObject(one.step) || hasOnlyExactNumbers(one.step)) continue;
    // A step in two forms is refused as it was sent.
    if ((one.stepJson ?? one.step_json) !== undefined) return undefined;
    isExact = false;
    one.stepJson = Buffer.from(stringifyJson(one.step)).toString('base64');
    delete one.step;
  }
  return isExact || message === undefined ? undefined : Buffer.from(stringifyJson(message));
}

const items = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : []);

/** Levels around a step: those of a message with several evaluations. */
const ENCLOSING = 4;

/** Undefined for what is invalid, has a member twice, or is beyond the limits of this service: it is refused as it was sent. */
function parsed(text: string): JsonValue | undefined {
  try {
    return parseJson(text, { maxDepth: MAX_JSON_DEPTH + ENCLOSING, anySize: true, duplicates: 'refuse' });
  } catch {
    return undefined;
  }
}
