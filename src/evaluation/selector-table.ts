import type { JsonValue } from '../json/json-value.js';
import type { EvaluationContext } from './condition.js';
import { compileSelector } from './selector.js';

/** A selector of a program. Leaves with the same path share it, so a path is followed once per evaluation. */
export interface SelectorSlot {
  read(context: EvaluationContext): JsonValue;
}

/** The selectors of a program. */
export interface SelectorTable {
  /** Number of slots that a context needs. */
  readonly size: number;
  slot(path: string): SelectorSlot;
}

/** An empty table; it grows while a program is compiled. */
export function createSelectorTable(): SelectorTable {
  const slots = new Map<string, SelectorSlot>();
  return {
    get size() {
      return slots.size;
    },
    slot(path) {
      const known = slots.get(path);
      if (known !== undefined) return known;
      const select = compileSelector(path);
      const index = slots.size;
      const slot: SelectorSlot = {
        read(context) {
          const seen = context.selected[index];
          if (seen !== undefined) return seen;
          const value = select(context.step);
          context.selected[index] = value;
          return value;
        },
      };
      slots.set(path, slot);
      return slot;
    },
  };
}
