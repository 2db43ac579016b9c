import type { JsonValue } from '../../exact-json/src/index.js';
import { EvaluatedKeys } from './evaluated-keys.js';
import type { Work } from './work.js';

/** Position of a value in the data; null is the top. */
export type SchemaPlace = { readonly parent: SchemaPlace; readonly key: string | number } | null;

/** A compiled keyword, or a compiled schema: whether a value satisfies it. */
export type SchemaCheck = (value: JsonValue, place: SchemaPlace, run: Run) => boolean;

/** A violation of a keyword. */
export interface SchemaProblem {
  /** The violated keyword; `false` for the schema that allows nothing. */
  readonly keyword: string;
  /** Names and indexes from the top to the value. */
  readonly path: readonly (string | number)[];
  /** Completes a sentence about the value: "is longer than 5". */
  readonly reason: string;
  /** The missing or superfluous members, or the allowed types; empty for other keywords. */
  readonly names: readonly string[];
}

/** Problems that are described by default; the others are only counted. */
const DESCRIBED_PROBLEMS = 3;
/** Longest shown text of a place and of a reason, in UTF-16 code units. */
const SHOWN_LENGTH = 300;

/** Result that a check computes: only whether there is a problem, the first one, or all of them. */
export type Wanted = 'validity' | 'first' | 'all';

/** A problem whose texts are not built yet. */
interface Failure extends Pick<SchemaProblem, 'keyword' | 'names'> {
  readonly place: SchemaPlace;
  readonly reason: () => string;
}

/** One check of a value against a schema. */
export class Run {
  readonly work: Work;
  /** Number of problems found. */
  count = 0;
  private readonly described: number;
  private readonly failures: Failure[] = [];
  private wanted: Wanted;
  private keys: EvaluatedKeys | undefined;

  constructor(work: Work, wanted: Wanted, described = DESCRIBED_PROBLEMS) {
    this.work = work;
    this.wanted = wanted;
    this.described = described;
  }

  /** Whether one problem is enough. */
  get endsAtFirst(): boolean {
    return this.wanted !== 'all';
  }

  /** Members and items that schemas have evaluated; used only for schemas with unevaluated keywords. */
  get evaluated(): EvaluatedKeys {
    this.keys ??= new EvaluatedKeys();
    return this.keys;
  }

  /** The first problems. Their texts are built here, not during the check. */
  get problems(): SchemaProblem[] {
    return this.failures.map(({ place, keyword, reason, names }) => ({
      keyword,
      path: pathOf(place),
      reason: cut(reason()),
      names,
    }));
  }

  /** The first problems as `path: reason`; the path is `root` for the top. */
  get texts(): string[] {
    const placeOf = (path: SchemaProblem['path']) => (path.length === 0 ? 'root' : path.join('.'));
    return this.problems.map(({ path, reason }) => `${cut(placeOf(path))}: ${reason}`);
  }

  /** Records a problem; always returns false, the result of the check. */
  fail(place: SchemaPlace, keyword: string, reason: () => string, names: readonly string[] = []): false {
    if (this.wanted === 'validity') return false;
    this.count += 1;
    if (this.failures.length < this.described) this.failures.push({ place, keyword, reason, names });
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

/** A problem as a sentence; `what` names the whole value, other places are JSON Pointers. */
export function describeProblem({ path, reason }: SchemaProblem, what: string): string {
  const parts = path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`);
  return `${path.length === 0 ? `the ${what}` : parts.join('')} ${reason}`;
}

function pathOf(place: SchemaPlace): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at = place; at !== null; at = at.parent) keys.push(at.key);
  return keys.reverse();
}

function cut(text: string): string {
  return text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH - 3)}...`;
}
