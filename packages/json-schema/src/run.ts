import type { JsonValue } from '../../exact-json/src/index.js';
import type { Work } from './work.js';

/** Position of a value in the data; null is the top. */
export type SchemaPlace = { readonly parent: SchemaPlace; readonly key: string | number } | null;

/** A compiled keyword, or a compiled schema: whether a value satisfies it. */
export type SchemaCheck = (value: JsonValue, place: SchemaPlace, run: Run) => boolean;

/** Problems that are described; the others are only counted. */
const WORDED_PROBLEMS = 3;
/** Longest shown text of a place and of a reason, in UTF-16 code units. */
const SHOWN_LENGTH = 300;

/** Result that a check computes: only whether there is a problem, the first one, or all of them. */
export type Wanted = 'validity' | 'first' | 'all';

/** One check of a value against a schema. */
export class Run {
  readonly work: Work;
  /** Number of problems found. */
  count = 0;
  /** The first problems as `path: reason`. */
  readonly texts: string[] = [];
  private wanted: Wanted;

  constructor(work: Work, wanted: Wanted) {
    this.work = work;
    this.wanted = wanted;
  }

  /** Whether one problem is enough. */
  get endsAtFirst(): boolean {
    return this.wanted !== 'all';
  }

  /** Records a problem; always returns false, the result of the check. */
  fail(place: SchemaPlace, reason: () => string): false {
    if (this.wanted === 'validity') return false;
    this.count += 1;
    if (this.texts.length < WORDED_PROBLEMS) {
      this.texts.push(`${cut(pathOf(place))}: ${cut(reason())}`);
    }
    return false;
  }

  /** The place of a member or item; not created unless places are needed. */
  below(parent: SchemaPlace, key: string | number): SchemaPlace {
    return this.wanted === 'validity' ? null : { parent, key };
  }

  /** Whether a value satisfies a schema whose problems are not reported. */
  holds(check: SchemaCheck, value: JsonValue): boolean {
    const { wanted } = this;
    this.wanted = 'validity';
    const valid = check(value, null, this);
    this.wanted = wanted;
    return valid;
  }
}

/** Names and indexes joined by dots; `root` for the top. */
function pathOf(place: SchemaPlace): string {
  const keys: (string | number)[] = [];
  for (let at = place; at !== null; at = at.parent) keys.unshift(at.key);
  return keys.length === 0 ? 'root' : keys.join('.');
}

function cut(text: string): string {
  return text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH - 3)}...`;
}
