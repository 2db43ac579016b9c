import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import type { Evaluation } from './evaluation.js';
import { compileSelector } from './selector.js';

/** A selector of a program. Leaves with the same path share it, so a path is resolved once per evaluation. */
export interface SelectorSlot {
  readonly path: string;
  read(evaluation: Evaluation): JsonValue;
}

/** The selectors of a program. */
export interface SelectorTable {
  /** Number of slots that an evaluation needs. */
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
        path,
        read(evaluation) {
          const seen = evaluation.selected.get(index);
          if (seen !== undefined) return seen;
          const value = select(evaluation.step);
          evaluation.selected.put(index, value);
          return value;
        },
      };
      slots.set(path, slot);
      return slot;
    },
  };
}
