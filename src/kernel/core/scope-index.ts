import { type CompiledScope, includesStep, type NameFailure, restrictsNames } from './scope.js';
import type { SizedPart, Stage } from './types.js';

/** Something with a scope. */
interface Scoped {
  readonly scope: CompiledScope;
}

/** The controls for a kind of step. Both lists keep the order of the controls passed to the index. */
export interface Selection<T> {
  readonly controls: readonly T[];
  /** Controls whose applicability to the step is unknown. */
  readonly failures: readonly (NameFailure & { readonly control: T })[];
}

/** Finds the controls that apply to a step without testing each of them. */
export interface ScopeIndex<T> extends SizedPart {
  find(stage: Stage, stepType: string, stepName: string): Selection<T>;
}

/** Longer names are not cached: names come from callers, and real tool names are shorter. */
const MAX_REMEMBERED_NAME = 128;
/** Cache limit of an index: this, and this much for each control. One selection takes 8 bytes per control. */
const MEMO_BYTES = 16 * 1024;
const MEMO_BYTES_PER_CONTROL = 256;
/** Memory of a cached name or list besides its characters or items, in bytes. */
const MEMO_ENTRY_BYTES = 100;
/** Memory of each name in the table of exact names besides its controls, in bytes. */
const EXACT_NAME_BYTES = 80;

/** The controls that include one stage and one type. */
interface Bucket<T> {
  /** The selection for names that no control mentions. */
  readonly unnamed: Selection<T>;
  /** Controls with a pattern, whose selection depends on the name. */
  readonly patterned: readonly T[];
  /** Selections by name. */
  readonly byName: Map<string, Selection<T>>;
  /** Selections by the positions of their controls besides `unnamed`: most names share a few selections. */
  readonly byHits: Map<string, Selection<T>>;
}

/**
 * Indexes controls by stage and step type, and by exact name. Results of scope patterns per name are cached.
 * The whole cache is cleared when it exceeds its limit: names are chosen by callers, so which of them will
 * recur is unknown. `scopeOf` may give other scopes than those of the controls.
 */
export function createScopeIndex<T extends Scoped>(
  controls: readonly T[],
  scopeOf: (control: T) => CompiledScope = ({ scope }) => scope,
): ScopeIndex<T> {
  const positions = new Map(controls.map((control, position) => [control, position]));
  const knownTypes = new Set(controls.flatMap((control) => [...(scopeOf(control).stepTypes ?? [])]));
  const named = byExactName(controls, scopeOf);
  const restricted = controls.some((control) => restrictsNames(scopeOf(control)));
  const namedBytes = [...named.values()].reduce((sum, list) => sum + EXACT_NAME_BYTES + 8 * list.length, 0);
  const allowance = MEMO_BYTES + MEMO_BYTES_PER_CONTROL * controls.length;
  const buckets = { pre: new Map<string | null, Bucket<T>>(), post: new Map<string | null, Bucket<T>>() };
  let remembered = 0;

  const remember = (bytes: number) => {
    remembered += bytes;
    if (remembered <= allowance) return;
    buckets.pre.clear();
    buckets.post.clear();
    remembered = bytes;
  };

  /** All types not named by any control share one bucket. */
  const bucketOf = (stage: Stage, stepType: string): Bucket<T> => {
    const type = knownTypes.has(stepType) ? stepType : null;
    const known = buckets[stage].get(type);
    if (known !== undefined) return known;
    const included = controls.filter((control) => includesStep(scopeOf(control), stage, stepType));
    const bucket: Bucket<T> = {
      unnamed: { controls: included.filter((control) => !restrictsNames(scopeOf(control))), failures: [] },
      patterned: included.filter((control) => scopeOf(control).searchName !== null),
      byName: new Map(),
      byHits: new Map(),
    };
    remember(MEMO_ENTRY_BYTES + 16 * included.length);
    buckets[stage].set(type, bucket);
    return bucket;
  };

  const select = (bucket: Bucket<T>, stage: Stage, stepType: string, stepName: string): Selection<T> => {
    const hits = (named.get(stepName) ?? []).filter((control) =>
      includesStep(scopeOf(control), stage, stepType),
    );
    const failures: (NameFailure & { control: T })[] = [];
    for (const control of bucket.patterned) {
      const { stepNames, searchName } = scopeOf(control);
      if (stepNames?.has(stepName) === true) continue;
      const answer = searchName?.(stepName) ?? false;
      if (answer === true) hits.push(control);
      else if (answer !== false) failures.push({ control, problem: answer.problem });
    }
    if (hits.length === 0 && failures.length === 0) return bucket.unnamed;
    const key = JSON.stringify([hits, failures.map(({ control }) => control)].map(positionsOf));
    const known = bucket.byHits.get(key);
    if (known !== undefined) return known;
    const selection = { controls: inOrder([...bucket.unnamed.controls, ...hits]), failures };
    if (isMemorable(stepName, selection)) {
      const items = selection.controls.length + 2 * failures.length;
      remember(MEMO_ENTRY_BYTES + 2 * key.length + 8 * items);
      bucket.byHits.set(key, selection);
    }
    return selection;
  };
  const positionOf = (control: T): number => positions.get(control) ?? 0;
  const positionsOf = (some: readonly T[]) => some.map(positionOf).sort((left, right) => left - right);
  const inOrder = (some: T[]) => some.sort((left, right) => positionOf(left) - positionOf(right));

  return {
    sizeBytes: (restricted ? allowance : 16 * controls.length * (knownTypes.size + 1)) + namedBytes,
    find(stage, stepType, stepName) {
      const bucket = bucketOf(stage, stepType);
      if (bucket.patterned.length === 0 && !named.has(stepName)) return bucket.unnamed;
      const known = bucket.byName.get(stepName);
      if (known !== undefined) return known;
      const selection = select(bucket, stage, stepType, stepName);
      if (isMemorable(stepName, selection)) {
        remember(MEMO_ENTRY_BYTES + 2 * stepName.length);
        bucket.byName.set(ownCopy(stepName), selection);
      }
      return selection;
    },
  };
}

/** The failure message of a search depends on the name, so it is neither cached nor used for another name. */
function isMemorable(stepName: string, { failures }: Selection<unknown>): boolean {
  return stepName.length <= MAX_REMEMBERED_NAME && failures.every(({ problem }) => problem === null);
}

function byExactName<T>(controls: readonly T[], scopeOf: (control: T) => CompiledScope): Map<string, T[]> {
  const named = new Map<string, T[]>();
  for (const control of controls) {
    for (const name of scopeOf(control).stepNames ?? []) {
      const list = named.get(name);
      if (list === undefined) named.set(name, [control]);
      else list.push(control);
    }
  }
  return named;
}

/** Copies a text: a substring of a request retains the whole request. */
function ownCopy(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}
