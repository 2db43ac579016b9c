import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { LimitState, MemoryAnswer, MemoryCall, MemoryMoment, RuleState } from '../../core/memory.js';
import { amountNumber, amountText } from './amounts.js';
import { durationText } from './duration.js';
import { type CompareConfig, type HistoryConfig, isMeasuring, type MeasuringOp } from './history-config.js';
import {
  compared,
  compares,
  eventsOf,
  type Measured,
  measure,
  seriesOf,
  type WindowAt,
  type WindowEvents,
  wholeSum,
} from './history-measure.js';
import type { HistoryPlan } from './history-plan.js';
import { WhereRun } from './history-run.js';
import {
  keepsFacts,
  keptValue,
  type Present,
  readEvent,
  readPresent,
  type SeriesPlan,
  satisfiesItself,
} from './history-series.js';
import { cannotAnswer, secondsText, timeText } from './limit-answer.js';

/** One answer: what is known of the step and of the window. */
interface Asked extends WindowAt {
  readonly config: HistoryConfig;
  readonly plan: HistoryPlan;
  readonly state: RuleState | undefined;
  readonly call: MemoryCall;
  readonly run: WhereRun;
}

interface Failure {
  readonly error: string;
  /** See `MemoryAnswer.isErrorInternal`. */
  readonly isInternal?: boolean;
}

const UNDECIDED =
  'the events of the window that are kept do not decide the statement: there are more than can be kept, or some are too ' +
  'large to be compared';

/** Answers a statement for the present step. */
export function historyAnswer(
  config: HistoryConfig,
  plan: HistoryPlan,
  state: RuleState | undefined,
  call: MemoryCall,
  moment: MemoryMoment,
): MemoryAnswer {
  const side = call.stage === 'pre' ? '<' : '>';
  const { windowUs } = config;
  const asked: Asked = { config, plan, state, call, moment, windowUs, side, run: new WhereRun(call) };
  const present = presentOf(plan.event, asked);
  if ('failure' in present) return cannotAnswer(present.failure, true);
  const { op, compare } = config;
  if (op === 'sum' && compare !== null && present.isOpen && !keepsFacts(plan.event)) {
    const below = notReached(asked, compare, present);
    if (below !== null) return below;
  }
  const window = eventsOf(seriesOf(state, 'e'), plan.event, present, asked.run, asked);
  if ('error' in window) return cannotAnswer(whereError(window), true);
  if (isMeasuring(op) && compare !== null) return measured(asked, op, compare, present, window);
  if (op === 'not_since') return notSince(asked, window);
  return op === 'previous' ? previous(asked, window) : formerly(asked, window);
}

function presentOf(plan: SeriesPlan, { run, moment }: Asked): Present | { readonly failure: string } {
  const present = readPresent(plan, run, (text) => moment.hash(text));
  const error = present.error ?? (present.missing === null ? null : `${present.missing} is missing`);
  return error === null ? present : { failure: whereError({ error }) };
}

function whereError({ error }: Failure): string {
  return `where cannot be decided for the step: ${error}`;
}

function formerly(asked: Asked, { events, lostUs }: WindowEvents): MemoryAnswer {
  const last = events.find(({ satisfied }) => satisfied === true);
  if (last !== undefined) {
    const message = () =>
      `An event of the last ${durationText(asked.config.windowUs)} satisfies the condition, ${ago(asked, last.atUs)}`;
    return answer(asked, true, message, () => ({ last_at: timeText(last.atUs) }));
  }
  if (lostUs > 0 || events.some(({ satisfied }) => satisfied === null)) return cannotAnswer(UNDECIDED);
  return answer(
    asked,
    false,
    () => `No event of the last ${durationText(asked.config.windowUs)} satisfies the condition`,
  );
}

function previous(asked: Asked, { events: [last] }: WindowEvents): MemoryAnswer {
  if (last === undefined) {
    return answer(asked, false, () => `There is no event in the last ${durationText(asked.config.windowUs)}`);
  }
  if (last.satisfied === null) return cannotAnswer(UNDECIDED);
  const does = last.satisfied ? 'satisfies' : 'does not satisfy';
  const message = () => `The previous event, ${ago(asked, last.atUs)}, ${does} the condition`;
  return answer(asked, last.satisfied, message, () => ({ last_at: timeText(last.atUs) }));
}

/** "L since R": there is an anchor, and no event after the last one. An event at the time of the anchor is not after it. */
function notSince(asked: Asked, { events, lostUs }: WindowEvents): MemoryAnswer {
  const { plan, state, run, config } = asked;
  if (plan.anchor === null) return cannotAnswer('the statement has no anchor');
  const present = presentOf(plan.anchor, asked);
  if ('failure' in present) return cannotAnswer(present.failure, true);
  const anchors = eventsOf(seriesOf(state, 'a'), plan.anchor, present, run, asked);
  if ('error' in anchors) return cannotAnswer(whereError(anchors), true);
  const candidates = anchors.events.filter(({ satisfied }) => satisfied !== false);
  const sure = candidates.find(({ satisfied }) => satisfied === true);
  const event = events.find(({ satisfied }) => satisfied === true);
  // The latest time at which there may have been an anchor, and the latest at which there may have been an event.
  const lastAnchorUs = Math.max(candidates[0]?.atUs ?? 0, candidates.length === 0 ? anchors.lostUs : 0);
  const lastEventUs = events.find(({ satisfied }) => satisfied !== false)?.atUs ?? lostUs;
  if (lastAnchorUs === 0) {
    return answer(asked, false, () => `There was no anchor in the last ${durationText(config.windowUs)}`);
  }
  if (event !== undefined && event.atUs > lastAnchorUs) {
    const message = () => `An event since the last anchor satisfies the condition, ${ago(asked, event.atUs)}`;
    return answer(asked, false, message, () => ({ last_at: timeText(event.atUs) }));
  }
  if (sure === undefined || Math.max(lastEventUs, lostUs) > sure.atUs) return cannotAnswer(UNDECIDED);
  const message = () => `No event since the last anchor, ${ago(asked, sure.atUs)}, satisfies the condition`;
  return answer(asked, true, message, () => ({ anchor_at: timeText(sure.atUs) }));
}

/** The answer for a sum that does not reach its limit, the usual case; null where each event has to be looked at. */
function notReached(asked: Asked, compare: CompareConfig, present: Present): MemoryAnswer | null {
  const isBound = asked.plan.event.limit !== null;
  const whole = isBound ? wholeSum(seriesOf(asked.state, 'e'), asked) : null;
  const current = whole === null ? null : currentValue(asked, present);
  if (whole === null || (current !== null && typeof current === 'object')) return null;
  const least = current === null ? whole.sum : whole.sum + BigInt(current);
  if (compares(compare.op, least, compare.than)) return null;
  const found: Measured = { least, most: least, leavesUs: null };
  return new MeasuredAnswer(asked, 'sum', compare, found, whole.lastUs, false, current !== null);
}

function measured(
  asked: Asked,
  op: MeasuringOp,
  compare: CompareConfig,
  present: Present,
  window: WindowEvents,
): MemoryAnswer {
  const current = currentValue(asked, present);
  if (current !== null && typeof current === 'object') return cannotAnswer(current.error, current.isInternal);
  const found = measure(op, window, current, (number) => compares(compare.op, number, compare.than));
  const matched = compared(compare.op, found, compare.than);
  if (matched === null) return cannotAnswer(UNDECIDED);
  const last = window.events.find(({ satisfied }) => satisfied === true)?.atUs ?? null;
  return new MeasuredAnswer(asked, op, compare, found, last, matched, current !== null);
}

/** Without functions of its own: a step may concern a thousand of these answers, of which few are told. */
class MeasuredAnswer implements MemoryAnswer {
  readonly error = null;
  readonly limit: LimitState | null;

  constructor(
    private readonly asked: Asked,
    private readonly op: MeasuringOp,
    private readonly compare: CompareConfig,
    private readonly found: Measured,
    private readonly lastUs: number | null,
    readonly matched: boolean,
    private readonly isIncluded: boolean,
  ) {
    this.limit = limitState(asked, found, lastUs, matched);
  }

  message(): string {
    const { asked, op, compare, found, matched, isIncluded } = this;
    return told(asked, measuredText(asked, op, compare, found, matched, isIncluded));
  }

  metadata(): JsonObject {
    const { least, most } = this.found;
    return {
      op: this.op,
      [this.op]: amountNumber(least),
      ...(most === least ? {} : { at_least: true }),
      ...(this.lastUs === null ? {} : { last_at: timeText(this.lastUs) }),
    };
  }
}

function measuredText(
  { config }: Asked,
  op: MeasuringOp,
  compare: CompareConfig,
  { least, most }: Measured,
  matched: boolean,
  isIncluded: boolean,
): string {
  const noun = { count: 'events', sum: 'is the sum of values', distinct: 'distinct values' }[op];
  const included = isIncluded ? ', with the present step' : '';
  const holds = matched ? 'which is' : 'which is not';
  return (
    `${most === least ? '' : 'at least '}${amountText(least)} ${noun} in the last ${durationText(config.windowUs)}` +
    `${included}, ${holds} ${WORDS[compare.op]} ${amountText(compare.than)}`
  );
}

const WORDS = { gt: 'more than', gte: 'at least', lt: 'less than', lte: 'at most', eq: 'equal to' } as const;

/**
 * The value of the present step if it counts: before it runs as its request, or, where requests do not count, as its response;
 * after it as what it has become. Null if it does not count.
 */
function currentValue(asked: Asked, present: Present): string | null | Failure {
  const { config, plan, call, run, moment } = asked;
  if (!config.includesCurrent) return null;
  const { kinds } = plan.event;
  const before = kinds.has('request') ? 'request' : 'response';
  const after = call.identity.error === null ? 'response' : 'error';
  const hash = (text: string): string => moment.hash(text);
  const series = { ...plan.event, value: null };
  const read = readEvent(series, call, call.stage === 'pre' ? before : after, run, hash);
  if (read === null) return null;
  const itself = satisfiesItself(series, read, present, run);
  if (itself === null) return { error: UNDECIDED };
  if (typeof itself === 'object') return { error: whereError(itself), isInternal: true };
  if (!itself) return null;
  const value = keptValue(plan.event, call, hash);
  if (value !== null) return value ?? '';
  const wanted = config.op === 'sum' ? 'no number from 0 to 10^15' : 'missing';
  return { error: `${config.value ?? 'the value'} is ${wanted}, and the present step counts` };
}

function limitState(
  { config, plan, moment }: Asked,
  { least, leavesUs }: Measured,
  lastUs: number | null,
  matched: boolean,
): LimitState | null {
  const { limit } = plan.event;
  if (limit === null) return null;
  const afterUs = (atUs: number): number => Math.max(1, atUs + config.windowUs + 1 - moment.nowUs);
  return {
    limit,
    remaining: matched ? 0 : Math.max(0, limit - amountNumber(least)),
    resetsAfterUs: lastUs === null ? null : afterUs(lastUs),
    retryAfterUs: matched && leavesUs !== null ? afterUs(leavesUs) : null,
    windowUs: config.windowUs,
  };
}

function answer(
  asked: Asked,
  matched: boolean,
  message: () => string,
  metadata: () => JsonObject = () => ({}),
): MemoryAnswer {
  return {
    matched,
    message: () => told(asked, message()),
    metadata: () => ({ op: asked.config.op, ...metadata() }),
    limit: null,
    error: null,
  };
}

/** A message, with since when the events are known. */
function told({ config, moment: { sinceUs, nowUs } }: Asked, text: string): string {
  const isYoung = sinceUs !== null && nowUs - sinceUs < config.windowUs;
  const known = isYoung ? ` (recorded since ${timeText(sinceUs)})` : '';
  return text.charAt(0).toUpperCase() + text.slice(1) + known;
}

function ago({ moment }: Asked, atUs: number): string {
  return `${secondsText(moment.nowUs - atUs)} ago`;
}
