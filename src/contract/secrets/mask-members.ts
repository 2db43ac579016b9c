import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { isSecretName } from './secret-names.js';

/** Replacement of a value that is not stored. */
export const MASKED_VALUE = '***';

/**
 * The value with MASKED_VALUE in place of each member whose name marks a secret, whatever the member holds.
 * Parts without such a member are shared with the given value, which is not changed.
 */
export function maskMembers(value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    const items = value.map(maskMembers);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isObject(value)) return value;
  const masked: JsonObject = {};
  let isChanged = false;
  for (const [name, member] of Object.entries(value)) {
    const kept = isSecretName(name) ? MASKED_VALUE : maskMembers(member);
    isChanged ||= kept !== member;
    // A member may be named __proto__.
    Object.defineProperty(masked, name, {
      value: kept,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return isChanged ? masked : value;
}
