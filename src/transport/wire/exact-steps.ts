import {
  hasOnlyExactNumbers,
  isObject,
  type JsonValue,
  mayLoseDigits,
  parseStoredJson,
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

/** Undefined for what is invalid, or beyond the limits of this service: Connect says what is wrong with it. */
function parsed(text: string): JsonValue | undefined {
  try {
    return parseStoredJson(text);
  } catch {
    return undefined;
  }
}
