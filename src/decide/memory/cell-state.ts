import {
  type Delta,
  RULE_KINDS,
  type RuleKind,
  type RuleReducer,
  type RuleState,
} from '../../kernel/core/memory.js';

export type Reducers = Readonly<Record<RuleKind, RuleReducer>>;

/** Most steps of a cell that are known as repeated, and most entries that are recognised, and for how long. */
const MAX_STEPS = 4_096;
const MAX_RECENT = 1_024;
const RECENT_US = 600_000_000;

/** An entry of a cell: what one step adds to it. Short names: each entry is stored and sent. */
export interface Entry {
  /** When, in microseconds since 1970; greater than that of the entry before. */
  readonly a: number;
  /** The process that wrote it, and its number among those of the process: an exchange whose reply was lost is recognised by it. */
  readonly w: string;
  readonly n: number;
  /** How long it matters, in seconds. */
  readonly x: number;
  /** Hash of the step; absent without a step id. */
  readonly k?: string;
  /** Stage at which the step was counted, so that it is not counted again; absent for a denied step. */
  readonly s?: 'pre' | 'post';
  /** Of a step that was counted before it runs: see `MemoryPlan.stepDigest`. */
  readonly c?: string;
  /** By rule id. A rule may occur more than once. */
  readonly d?: readonly (readonly [string, Delta])[];
  /** 1 marks the step as denied, 0 takes the mark away. */
  readonly m?: 0 | 1;
  /** Rules whose states are forgotten; empty for everything. */
  readonly r?: readonly string[];
}

/** What is kept for a key: a fold of its entries. */
export interface CellState {
  readonly rules: Map<string, RuleState>;
  /** Stage and hash of steps that were counted, with their times and digests, the newest last. */
  readonly steps: Map<string, CountedStep>;
  /** Hashes of steps that were denied. */
  readonly denied: Map<string, number>;
  /** Ids of the last entries with their times: an entry whose acknowledgement was lost is looked for among them. */
  readonly recent: Map<string, number>;
  /** Time of the last entry. */
  lastUs: number;
  /** When nothing of it matters any more. */
  expiresUs: number;
}

/** When a step was counted, and the digest of its content; empty at its end. */
export type CountedStep = readonly [atUs: number, digest: string];

export function newCellState(): CellState {
  return {
    rules: new Map(),
    steps: new Map(),
    denied: new Map(),
    recent: new Map(),
    lastUs: 0,
    expiresUs: 0,
  };
}

/** Letters of kinds, with which the ids of rules begin. */
const KIND_OF = new Map<string, RuleKind>(RULE_KINDS.map((kind) => [kind.charAt(0), kind]));

/** The kind of a rule by its id; undefined for one of a later version of the service. */
export const kindOfRule = (ruleId: string): RuleKind | undefined => KIND_OF.get(ruleId.charAt(0));

/** The id of an entry within its cell. */
export const entryId = (writer: string, number: number): string => `${writer}${number.toString(36)}`;

/** Folds an entry into a state, which it changes. */
export function fold(state: CellState, entry: Entry, reducers: Reducers): void {
  if (entry.r !== undefined) forget(state, entry.r);
  for (const [ruleId, delta] of entry.d ?? []) {
    const kind = kindOfRule(ruleId);
    if (kind === undefined) continue;
    const before = state.rules.get(ruleId);
    state.rules.set(ruleId, reducers[kind].apply(before, delta, entry.a, entry.k ?? null));
  }
  if (entry.k !== undefined) {
    if (entry.s !== undefined) newest(state.steps, entry.s + entry.k, [entry.a, entry.c ?? ''], MAX_STEPS);
    if (entry.m === 1) newest(state.denied, entry.k, entry.a, MAX_STEPS);
    else if (entry.m === 0) state.denied.delete(entry.k);
  }
  newest(state.recent, entryId(entry.w, entry.n), entry.a, MAX_RECENT);
  state.lastUs = Math.max(state.lastUs, entry.a);
  state.expiresUs = Math.max(state.expiresUs, entry.a + entry.x * 1e6);
}

function forget(state: CellState, ruleIds: readonly string[]): void {
  for (const ruleId of ruleIds) state.rules.delete(ruleId);
  if (ruleIds.length > 0) return;
  state.rules.clear();
  state.steps.clear();
  state.denied.clear();
}

function newest<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value as string);
}

/** Removes what cannot matter any more. `stepsBeforeUs`: steps from before are no longer known as repeated. */
export function prune(state: CellState, nowUs: number, stepsBeforeUs: number, reducers: Reducers): void {
  for (const [ruleId, kept] of state.rules) {
    const kind = kindOfRule(ruleId);
    const left = kind === undefined ? kept : reducers[kind].prune(kept, nowUs);
    if (left === undefined) state.rules.delete(ruleId);
    else if (left !== kept) state.rules.set(ruleId, left);
  }
  for (const [id, [atUs]] of state.steps) {
    if (atUs >= stepsBeforeUs) break;
    state.steps.delete(id);
  }
  forgetBefore(state.denied, stepsBeforeUs);
  forgetBefore(state.recent, nowUs - RECENT_US);
}

function forgetBefore(times: Map<string, number>, beforeUs: number): void {
  for (const [id, atUs] of times) {
    if (atUs >= beforeUs) break;
    times.delete(id);
  }
}

/** Used share of the limit of a rule, 0 to 1. */
export function usedByRule(ruleId: string, kept: RuleState, nowUs: number, reducers: Reducers): number {
  const kind = kindOfRule(ruleId);
  return kind === undefined ? 0 : reducers[kind].used(kept, nowUs);
}

/** A state as the text of a checkpoint. */
export function printState({ rules, steps, denied, recent, lastUs, expiresUs }: CellState): string {
  return JSON.stringify({
    r: [...rules],
    s: [...steps],
    d: [...denied],
    w: [...recent],
    l: lastUs,
    x: expiresUs,
  });
}

/** The state of a checkpoint. Throws if it is none. */
export function parseState(text: string): CellState {
  const { r, s, d, w, l, x } = JSON.parse(text);
  if (!Number.isFinite(l) || !Number.isFinite(x)) throw new SyntaxError('a checkpoint has no times');
  return {
    rules: new Map(pairs(r)),
    steps: new Map(pairs(s)),
    denied: new Map(pairs(d)),
    recent: new Map(pairs(w)),
    lastUs: l,
    expiresUs: x,
  };
}

/** The entry of a text. Throws if it is none. */
export function parseEntry(text: string): Entry {
  const entry = JSON.parse(text) as Entry;
  const { a, w, n, x, d = [], r = [] } = entry;
  if (![a, n, x].every(Number.isFinite) || typeof w !== 'string' || !Array.isArray(r)) {
    throw new SyntaxError('an entry has no time or no writer');
  }
  pairs(d);
  return entry;
}

/** The value, if it is a list of pairs that begin with a text. */
function pairs<Value>(value: readonly (readonly [string, Value])[]): readonly (readonly [string, Value])[] {
  const isPairs =
    Array.isArray(value) &&
    value.every((pair) => Array.isArray(pair) && pair.length === 2 && typeof pair[0] === 'string');
  if (!isPairs) throw new SyntaxError('a list of pairs is expected');
  return value;
}
