import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import type { TextSpan } from './evaluator.js';
import type { EvaluatorPart } from './evaluator-part.js';
import type { WithTimeout } from './leaf.js';
import type { PreparedLeaf } from './prepared-control.js';
import { type NextTurn, StepAccount } from './step-account.js';
import { type ChangeKeys, changeKeys, dataAt, mapStrings } from './step-change.js';
import { checkSpan } from './text-spans.js';
import type { Step } from './types.js';

/** What a search for the places of matches needs. */
export interface LocatorOptions {
  readonly withTimeout?: WithTimeout;
  readonly nextTurn?: NextTurn;
}

/** A text of a step in which a control matches. */
export interface MatchPlace {
  /** From the member of the step; items of lists by their index. */
  readonly keys: readonly string[];
  readonly text: string;
  readonly spans: readonly TextSpan[];
}

/** Most texts of one step that external evaluators are asked about: each is a check of its own. */
const MAX_EXTERNAL_TEXTS = 100;

/** Finds where checks match. Work is bounded for all searches of one locator together. */
export function createLocator(options: LocatorOptions & { readonly signal: AbortSignal }) {
  const account = new StepAccount(options.nextTurn);
  let external = 0;

  async function spansIn(text: string, { compiled, external: isExternal, timeoutMs }: EvaluatorPart) {
    if (compiled.locate === undefined) return [];
    if (isExternal) {
      external += 1;
      if (external > MAX_EXTERNAL_TEXTS)
        throw new Error(`more than ${MAX_EXTERNAL_TEXTS} texts would have to be checked once more`);
    }
    if (account.mustWait) await account.later(() => {});
    if (account.isExhausted) throw new Error('it costs too much to find where the controls match');
    const { signal } = options;
    signal.throwIfAborted();
    const found = compiled.locate(text, { signal, spend: (steps) => account.spend(steps) });
    if (!(found instanceof Promise)) return found;
    return options.withTimeout === undefined ? found : options.withTimeout(found, timeoutMs);
  }

  return {
    /**
     * The texts at or below `keys` in which the checks of `leaves` match, each only in the data that it selects. Rejects if a check cannot say where it matches.
     */
    async find(step: Step, keys: ChangeKeys, leaves: readonly PreparedLeaf[]): Promise<MatchPlace[]> {
      const places: MatchPlace[] = [];
      for (const leaf of leaves) {
        const shared = leaf.part.compiled.locate !== undefined ? sharedKeys(keys, leaf.path) : null;
        const data = shared === null ? undefined : dataAt(step, shared);
        if (shared === null || data === undefined) continue;
        for (const { text, keys: at } of textsOf(data, shared)) {
          const spans = await spansIn(text, leaf.part);
          for (const span of spans) checkSpan(span, text);
          if (spans.length > 0) places.push({ keys: at, text, spans });
        }
      }
      return places;
    },
  };
}

/** The longer one of two paths if it is below the other one; otherwise null. */
function sharedKeys(keys: ChangeKeys, path: string): ChangeKeys | null {
  if (path === '*') return keys;
  const selected = changeKeys(path);
  const [longer, shorter] = selected.length > keys.length ? [selected, keys] : [keys, selected];
  return shorter.every((key, index) => key === longer[index]) ? longer : null;
}

function textsOf(data: JsonValue, keys: ChangeKeys): { text: string; keys: readonly string[] }[] {
  const texts: { text: string; keys: readonly string[] }[] = [];
  mapStrings(
    data,
    (text, at) => {
      texts.push({ text, keys: at });
      return text;
    },
    keys,
  );
  return texts;
}
