import { isContainer, type JsonValue } from '../../../packages/exact-json/src/index.js';
import {
  createPrefilter,
  MAX_TABLE_CELLS,
  normalizeOnce,
  type Prefilter,
  UNITS_PER_STEP,
} from '../../../packages/linear-text/src/index.js';
import { textOf } from './data-texts.js';
import type { Evaluation } from './evaluation.js';
import { otherForms } from './other-forms.js';

/**
 * Fewer searches of one value than this are faster one by one: in programs that have no more, and in
 * evaluations that reach no more.
 */
export const MIN_SCANNED_SEARCHES = 8;
/** Bytes of a scan's automaton for each character of the literals: its nodes, and rows of its table. */
const NODE_BYTES = 60;
const ROW_BYTES = 256;
/** Upper limit of the table; see `createPrefilter`. */
const MAX_TABLE_BYTES = 4 * MAX_TABLE_CELLS;

/** The searches of leaves in the texts of one selected value, where their literals are known. */
export interface TextScan {
  /** Number of searches. */
  readonly size: number;
  /** Estimated memory in bytes. */
  readonly sizeBytes: number;
  /** Whether search `index` is known to have no match in `data`, the value of its leaves. Not for null. */
  rulesOut(index: number, data: JsonValue, evaluation: Evaluation): boolean;
}

/**
 * Looks for the literals of all searches in one pass, once enough of them were requested; with `normalizes`
 * in the normalised texts. `slot` is the index of its state in an evaluation.
 */
export function createTextScan(
  searches: readonly (readonly string[])[],
  slot: number,
  normalizes: boolean,
): TextScan {
  // Built on first use: many loaded agents never receive a step.
  let prefilter: Prefilter | null = null;
  const characters = searches.flat().reduce((sum, literal) => sum + literal.length, 0);
  return {
    size: searches.length,
    sizeBytes: characters * NODE_BYTES + Math.min(characters * ROW_BYTES, MAX_TABLE_BYTES),
    rulesOut(index, data, evaluation) {
      const state = evaluation.scans[slot];
      if (state === undefined) return false;
      state.asked += 1;
      if (state.asked < MIN_SCANNED_SEARCHES) return false;
      if (state.asked === MIN_SCANNED_SEARCHES) {
        prefilter ??= createPrefilter(searches);
        try {
          if (isContainer(data)) {
            const texts = evaluation.texts.of(data);
            const { json, hidden } = normalizes ? texts.normalized : texts;
            evaluation.account.spend(json.length / UNITS_PER_STEP);
            prefilter.scan(json, state.found, hidden);
          } else {
            const text = textOf(data);
            evaluation.account.spend(text.length / UNITS_PER_STEP);
            const seen = normalizes ? normalizeOnce : (form: string) => form;
            prefilter.scan(seen(text), state.found, otherForms(text).map(seen));
          }
        } catch {
          // Each search reports problems of the texts itself.
          state.found.fill(1);
        }
      }
      return state.found[index] === 0;
    },
  };
}
