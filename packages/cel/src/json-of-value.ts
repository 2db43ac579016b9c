import { Decimal, type JsonObject, type JsonValue } from '../../exact-json/src/index.js';
import { cidrText, ipText } from './network-text.js';
import { durationText, timestampText } from './time-text.js';
import {
  CelBytes,
  CelCidr,
  CelDouble,
  CelDuration,
  CelIp,
  CelMap,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type Value,
} from './values.js';

/** Most items of a list, and of a map that an expression made, that are converted. */
const MAX_ITEMS = 100;
/** Most levels of lists that are converted. */
const MAX_LEVELS = 5;

/**
 * A value as JSON, for display: times and addresses as texts, bytes by their number. Objects of JSON are themselves, lists are
 * cut after 100 items.
 */
export function jsonOfValue(value: Value, level = 0): JsonValue {
  if (typeof value !== 'object' || value === null || value instanceof Decimal) return value;
  if (value instanceof CelDouble) return Number.isFinite(value.value) ? value.value : String(value.value);
  if (value instanceof CelUint) return value.value;
  if (value instanceof CelTimestamp) return timestampText(value);
  if (value instanceof CelDuration) return durationText(value);
  if (value instanceof CelIp) return ipText(value);
  if (value instanceof CelCidr) return cidrText(value);
  if (value instanceof CelTypeValue) return value.name;
  if (value instanceof CelBytes) return `${value.bytes.length} bytes`;
  if (level >= MAX_LEVELS) return '…';
  if (Array.isArray(value)) {
    return value.slice(0, MAX_ITEMS).map((item: Value) => jsonOfValue(item, level + 1));
  }
  if (!(value instanceof CelMap)) return value as JsonObject;
  const object: JsonObject = {};
  for (const [key, item] of [...value.entries.values()].slice(0, MAX_ITEMS)) {
    const name = String(jsonOfValue(key));
    Object.defineProperty(object, name, {
      value: jsonOfValue(item, level + 1),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return object;
}
