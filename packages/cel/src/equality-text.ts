import { canonicalJson, Decimal, type JsonValue } from '../../exact-json/src/index.js';
import { cidrText, ipText } from './network-text.js';
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
} from './values.js';

/**
 * A text that is the same for values that are equal by `==`, and differs for others, so that values can be compared by hashes
 * of it: objects by their members in any order, numbers by their value whatever their kind. Null for a value that contains
 * NaN, which equals nothing. `value` is that of a `CelResult`. Time and length are linear in the size of the value, but for
 * the sorting of members.
 */
export function equalityText(value: unknown): string | null {
  const plain = value instanceof CelDouble || value instanceof CelUint ? value.value : value;
  if (typeof plain === 'number' && !Number.isFinite(plain)) return Number.isNaN(plain) ? null : String(plain);
  if (typeof plain !== 'object' || plain === null || plain instanceof Decimal) {
    return canonicalJson(plain as JsonValue);
  }
  if (value instanceof CelTimestamp) return `timestamp(${value.seconds},${value.nanos})`;
  if (value instanceof CelDuration) return `duration(${value.nanos})`;
  if (value instanceof CelBytes) return `bytes(${value.bytes.join()})`;
  if (value instanceof CelIp) return `ip(${ipText(value)})`;
  if (value instanceof CelCidr) return `cidr(${cidrText(value)})`;
  if (value instanceof CelTypeValue) return `type(${value.name})`;
  if (Array.isArray(value))
    return joined(
      '[',
      value.map((item) => equalityText(item)),
      ']',
    );
  const entries: readonly (readonly [unknown, unknown])[] =
    value instanceof CelMap ? [...value.entries.values()] : Object.entries(value as object);
  const members = entries.map(([key, item]): string | null => {
    const text = equalityText(item);
    return text === null ? null : `${equalityText(key)}:${text}`;
  });
  return joined('{', members.sort(), '}');
}

function joined(open: string, parts: readonly (string | null)[], close: string): string | null {
  return parts.includes(null) ? null : `${open}${parts.join(',')}${close}`;
}
