import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import { compileSelector } from '../../core/selector.js';
import { amountNumber } from './amounts.js';
import { type CompareConfig, type EventConfig, type HistoryConfig, isMeasuring } from './history-config.js';
import { ONE } from './history-measure.js';
import type { SeriesPlan } from './history-series.js';
import { compileWhere, type Link, type Where } from './history-where.js';

/** The two newest events: the newest may be that of the step itself, sent again. */
const NEWEST = 2;
/** Most events that are kept if the condition is decided for each of them. */
const MOST_WITH_FACTS = 256;
/** Fewest events of counts; more are kept in powers of two, so that most changes of a threshold keep the state. */
const FEWEST_COUNTED = 16;
/** Most events of a sum; beyond them neighbours are merged. */
const MOST_ADDED = 4_096;

/** The series of a statement. */
export interface HistoryPlan {
  readonly event: SeriesPlan;
  readonly anchor: SeriesPlan | null;
}

export function planOf(config: HistoryConfig): HistoryPlan {
  const where = compileWhere(config.event.where ?? []);
  if (config.anchor === null) {
    const keyLinks = config.op === 'previous' ? [] : where.links;
    return { event: seriesPlan(config, config.event, where, keyLinks), anchor: null };
  }
  const anchorWhere = compileWhere(config.anchor.where ?? []);
  const pairs = sharedLinks(where.links, anchorWhere.links);
  const plan = (event: EventConfig, of: Where, side: 0 | 1): SeriesPlan =>
    seriesPlan(
      config,
      event,
      of,
      pairs.map((pair) => pair[side]),
    );
  return { event: plan(config.event, where, 0), anchor: plan(config.anchor, anchorWhere, 1) };
}

/** Links that compare events of both series with the same of the step: only these can be parts of one key. */
function sharedLinks(links: readonly Link[], others: readonly Link[]): (readonly [Link, Link])[] {
  const pairs: (readonly [Link, Link])[] = [];
  for (const link of links) {
    const isSame = ({ step }: Link): boolean => step.text === link.step.text;
    const other = others.find(isSame);
    if (other !== undefined && !pairs.some(([known]) => isSame(known))) pairs.push([link, other]);
  }
  return pairs;
}

function seriesPlan(
  config: HistoryConfig,
  { kinds, step_names: names }: EventConfig,
  where: Where,
  keyLinks: readonly Link[],
): SeriesPlan {
  const { op, value, compare } = config;
  const factLinks = where.links.filter((link) => !keyLinks.includes(link));
  const hasFacts = factLinks.length > 0 || where.mixed.length > 0;
  return {
    kinds: new Set(kinds),
    names: names === undefined ? null : new Set(names),
    where,
    keyLinks,
    factLinks,
    recordsAll: op === 'previous',
    value: value === null ? null : compileSelector(value),
    isAdded: op === 'sum',
    limit: compare === null ? null : limitOf(op, compare),
    ...keeping(config, hasFacts),
  };
}

function keeping(
  { op, compare }: HistoryConfig,
  hasFacts: boolean,
): Pick<SeriesPlan, 'keep' | 'most' | 'enough'> {
  const newest = { keep: 'newest', enough: null } as const;
  if (op === 'previous') return { ...newest, most: NEWEST };
  const than = compare?.than ?? 0n;
  if (op === 'sum' && !hasFacts) return { keep: 'sum', most: MOST_ADDED, enough: powerOfTen(than) };
  // One more than decides, and one that may be of the step itself.
  const counted = powerOfTwo(Math.ceil(amountNumber(than)) + 2);
  if (hasFacts)
    return { ...newest, most: op === 'sum' ? MOST_WITH_FACTS : Math.max(MOST_WITH_FACTS, counted) };
  if (op === 'count') return { ...newest, most: counted };
  return op === 'distinct'
    ? { keep: 'distinct', enough: null, most: 2 * counted }
    : { ...newest, most: NEWEST };
}

function powerOfTwo(least: number): number {
  let power = FEWEST_COUNTED;
  while (power < least) power *= 2;
  return power;
}

function powerOfTen(least: bigint): bigint {
  let power = ONE;
  while (power < least) power *= 10n;
  return power;
}

/** The largest number with which a statement does not hold; null for one that does not bound it from above. */
export function limitOf(op: HistoryConfig['op'], { op: comparison, than }: CompareConfig): number | null {
  if (!isMeasuring(op) || (comparison !== 'gt' && comparison !== 'gte')) return null;
  if (op === 'sum') return amountNumber(than);
  const whole = than / ONE;
  const isBelow = comparison === 'gte' && than % ONE === 0n;
  return Math.max(0, Number(isBelow ? whole - 1n : whole));
}

/** What of a series its state depends on. */
export function seriesFacts(
  { kinds, names, where, keyLinks, factLinks, ...rest }: SeriesPlan,
  value: string | null,
): JsonObject {
  return {
    kinds: [...kinds].sort(),
    names: names === null ? null : [...names].sort(),
    filters: where.filters.map(({ text }) => text).sort(),
    keyLinks: keyLinks.map(({ event }) => event.text),
    factLinks: factLinks.map(({ event }) => event.text),
    facts: where.facts.map((path) => [...path]),
    value,
    isAdded: rest.isAdded,
    recordsAll: rest.recordsAll,
    keep: rest.keep,
    most: rest.most,
    enough: rest.enough === null ? null : String(rest.enough),
  };
}
