import { canonicalJson, type JsonValue } from '../../../../packages/exact-json/src/index.js';
import type { MemoryCall, StepEvent } from '../../core/memory.js';
import { rootOf } from '../cel/compiled-expressions.js';
import { amountOf } from './amounts.js';
import type { Added, Keeping, Kept } from './history-reducer.js';
import { eventOf, eventOfFacts, factsText, type TextResult, type WhereRun } from './history-run.js';
import type { Link, Where } from './history-where.js';

/** Hash of a text with the key of the store. */
export type Hash = (text: string) => string;

/** Which events a series has, and what is kept of them. */
export interface SeriesPlan {
  readonly kinds: ReadonlySet<StepEvent>;
  /** Null for every name. */
  readonly names: ReadonlySet<string> | null;
  readonly where: Where;
  /** Links whose hashes are parts of the key. */
  readonly keyLinks: readonly Link[];
  /** Links whose hashes are kept with the event. */
  readonly factLinks: readonly Link[];
  /** Whether events that do not satisfy the condition are recorded too, because they come between. */
  readonly recordsAll: boolean;
  /** Reads the value that is added or told apart; null without one. */
  readonly value: ((step: MemoryCall['step']) => JsonValue) | null;
  /** Whether values are added; otherwise they are told apart. */
  readonly isAdded: boolean;
  readonly keep: Keeping;
  readonly most: number;
  readonly enough: bigint | null;
  /** For lists of limits. */
  readonly limit: number | null;
}

/** An event as it is recorded. */
export interface ReadEvent {
  /** Hashes of the links that are parts of the key. */
  readonly links: readonly string[];
  readonly added: Added;
}

/** Whether the plan keeps facts of its events. */
export function keepsFacts({ factLinks, where, recordsAll }: SeriesPlan): boolean {
  return recordsAll || factLinks.length > 0 || where.mixed.length > 0;
}

/** The step as an event of the series; null if it is none. Changes the event of `run`. */
export function readEvent(
  plan: SeriesPlan,
  call: MemoryCall,
  kind: StepEvent,
  run: WhereRun,
  hash: Hash,
): ReadEvent | null {
  if (!plan.kinds.has(kind)) return null;
  const isNamed = plan.names === null || plan.names.has(call.step.name);
  if (!isNamed && !plan.recordsAll) return null;
  run.event = eventOf(call, kind);
  const satisfied = isNamed ? filtered(plan, run) : false;
  const value = keptValue(plan, call, hash);
  const read = satisfied === false || value === null ? null : facts(plan, satisfied, run, hash);
  if (read === null || value === null)
    return plan.recordsAll ? { links: [], added: added(plan, kind, [0]) } : null;
  const links = plan.keyLinks.map((link) => hashOf(run.text(link.event), hash));
  // Without its links it is not known which steps it is compared with: it equals none of theirs.
  if (!links.every((link) => link !== null)) return null;
  return { links, added: added(plan, kind, read.facts, value) };
}

/** Whether the event satisfies the terms that read nothing else; null if they exceed a limit. */
function filtered({ where }: SeriesPlan, run: WhereRun): boolean | null {
  let satisfied: boolean | null = true;
  for (const filter of where.filters) {
    const result = run.evaluate(filter);
    if (!result.ok && result.isLimit === true) satisfied = null;
    else if (!result.ok || result.value !== true) return false;
  }
  return satisfied;
}

/** The value as it is kept; null if the event has none that counts, undefined if it needs none. */
export function keptValue(
  { value, isAdded }: SeriesPlan,
  { step }: MemoryCall,
  hash: Hash,
): string | null | undefined {
  if (value === null) return undefined;
  const found = value(step);
  if (!isAdded) return found === null ? null : hash(`value ${canonicalJson(found)}`);
  const amount = amountOf(found);
  return amount === null ? null : String(amount);
}

/** What is kept for the terms that are decided later: null if that is not possible; the whole is null if the event satisfies none. */
function facts(
  plan: SeriesPlan,
  satisfied: true | null,
  run: WhereRun,
  hash: Hash,
): { readonly facts: JsonValue[] | null | undefined } | null {
  const texts = plan.factLinks.map((link) => run.text(link.event));
  if (texts.some((text) => !('text' in text) && text.isLimit !== true)) return null;
  const hashes = texts.map((text) => hashOf(text, hash));
  const mixed = plan.where.mixed.length === 0 ? [] : [factsText(run.event ?? {}, plan.where.facts)];
  const all = [...hashes, ...mixed];
  if (satisfied === null || all.includes(null)) return { facts: null };
  return { facts: keepsFacts(plan) ? [1, ...all] : undefined };
}

/** What the present step is compared with events by. */
export interface Present {
  /** Whether the terms that read the step alone hold: otherwise no event satisfies the condition. */
  readonly isOpen: boolean;
  /** Hashes of the step's sides of the links that are parts of the key, and of the others. */
  readonly keyHashes: readonly string[];
  readonly factHashes: readonly string[];
  /** A member that the step lacks and a link reads. */
  readonly missing: string | null;
  /** Why the condition cannot be decided for the step. */
  readonly error: string | null;
}

const OPEN: Present = { isOpen: true, keyHashes: [], factHashes: [], missing: null, error: null };
const CLOSED: Present = { isOpen: false, keyHashes: [], factHashes: [], missing: null, error: null };

/** Whether events are compared with the present step at all. */
export function readsPresent({ where, keyLinks, factLinks }: SeriesPlan): boolean {
  return where.guards.length + keyLinks.length + factLinks.length > 0;
}

/** Reads the present step. As in `&&` of CEL, a term that is false decides whatever others lack. */
export function readPresent(plan: SeriesPlan, run: WhereRun, hash: Hash): Present {
  if (!readsPresent(plan)) return OPEN;
  let error: string | null = null;
  let missing: string | null = null;
  for (const guard of plan.where.guards) {
    const result = run.evaluate(guard);
    if (result.ok && result.value === false) return CLOSED;
    if (!result.ok) error ??= result.error;
    else if (result.value !== true) error ??= 'a term of where is no boolean';
  }
  const hashes = (links: readonly Link[]): string[] =>
    links.map((link) => {
      const text = run.text(link.step);
      if ('text' in text) return hash(`link ${text.text}`);
      if (text.missing !== null) missing ??= text.missing;
      else error ??= text.error;
      return '';
    });
  const [keyHashes, factHashes] = [hashes(plan.keyLinks), hashes(plan.factLinks)];
  return { isOpen: true, keyHashes, factHashes, missing, error };
}

/** Whether an event satisfies the condition; null if that cannot be told; an error if the step lacks what it needs. */
export type Satisfied = boolean | null | { readonly error: string };

/** Whether a kept event satisfies the condition. */
export function satisfies(plan: SeriesPlan, [, , , kept]: Kept, present: Present, run: WhereRun): Satisfied {
  if (!present.isOpen) return false;
  if (kept === null || (kept === undefined && keepsFacts(plan))) return null;
  if (kept === undefined) return true;
  if (kept[0] === 0) return false;
  if (present.factHashes.some((hashed, index) => kept[index + 1] !== hashed)) return false;
  const text = kept[plan.factLinks.length + 1];
  if (plan.where.mixed.length === 0) return true;
  if (typeof text !== 'string') return null;
  const { event, isWhole } = eventOfFacts(text, plan.where.facts);
  run.event = event;
  return mixedHold(plan, isWhole, run);
}

/** Whether the present step, as an event, satisfies its own condition. */
export function satisfiesItself(
  plan: SeriesPlan,
  read: ReadEvent,
  present: Present,
  run: WhereRun,
): Satisfied {
  if (!present.isOpen || present.keyHashes.some((hashed, index) => read.links[index] !== hashed))
    return false;
  const { facts } = read.added;
  const kept: Kept = facts === undefined ? [0, ''] : [0, '', null, facts];
  return satisfies(plan, kept, present, run);
}

/** A term that is false decides; then what the step lacks, what the event lacks, and what takes too much work. */
function mixedHold({ where }: SeriesPlan, isWhole: boolean, run: WhereRun): Satisfied {
  let [lack, isLacking, isLimited]: [string | null, boolean, boolean] = [null, false, false];
  for (const term of where.mixed) {
    const result = run.evaluate(term);
    if (result.ok && result.value === false) return false;
    if (result.ok && result.value === true) continue;
    if (result.ok) lack ??= 'a term of where is no boolean';
    else if (result.isLimit === true) isLimited = true;
    else if (result.missing === null ? !isWhole : rootOf(result.missing) === 'event') isLacking = true;
    else lack ??= result.error;
  }
  if (lack !== null) return { error: lack };
  if (isLacking) return false;
  return isLimited ? null : true;
}

function hashOf(result: TextResult, hash: Hash): string | null {
  return 'text' in result ? hash(`link ${result.text}`) : null;
}

function added(
  { keep, most, enough, limit }: SeriesPlan,
  kind: StepEvent,
  facts: JsonValue[] | null | undefined,
  value?: string,
): Added {
  return {
    keep,
    most,
    ...(enough === null ? {} : { enough: String(enough) }),
    side: kind === 'denied' ? '' : kind === 'request' ? '<' : '>',
    ...(value === undefined ? {} : { value }),
    ...(facts === undefined ? {} : { facts }),
    ...(limit === null ? {} : { limit }),
  };
}
