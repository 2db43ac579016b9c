import { Decimal } from '../../exact-json/src/index.js';
import { isPlainObject, MAX_DEPTH } from './step-json.js';

/** What a tool is given of an argument that controls look at. */
export interface CheckedCopy {
  readonly value: unknown;
  /** Whether nothing of it is shared with the caller, who could change it while it is checked. */
  readonly isWhole: boolean;
}

/**
 * A copy of plain data, each member read once: its getters have their values, and members that controls do not see, such as
 * hidden ones and those with symbols, are not there. Objects of a class and what says of itself how it looks as JSON, such as
 * dates, stay what they are.
 */
export function checkedCopy(given: unknown): CheckedCopy {
  let isWhole = true;
  const copied = (value: unknown, depth: number): unknown => {
    if (typeof value !== 'object' || value === null || value instanceof Decimal) return value;
    const isList = Array.isArray(value);
    // Deeper data are refused when they are read for controls.
    if (depth >= MAX_DEPTH || 'toJSON' in value || !(isList || isPlainObject(value))) {
      isWhole = false;
      return value;
    }
    if (isList) return Array.from(value, (item: unknown) => copied(item, depth + 1));
    // Unlike assignments this creates a member for "__proto__", too.
    return Object.fromEntries(Object.keys(value).map((key) => [key, copied(value[key], depth + 1)]));
  };
  const value = copied(given, 0);
  return { value, isWhole };
}
