import { z } from 'zod';
import { MAX_EXPRESSION_LENGTH } from '../../../../packages/cel/src/index.js';
import { isObject, type JsonObject } from '../../../../packages/exact-json/src/index.js';
import {
  boolean,
  field,
  list,
  nullable,
  oneOf,
  refuse,
  refuseTyped,
  report,
  text,
} from '../../../contract/input/fields.js';
import { STEP_EVENTS, type StepEvent } from '../../core/memory.js';
import { isSelectorPath } from '../../core/selector.js';
import { problemText } from '../cel/compiled-expressions.js';
import { amountNumber, amountOf, MAX_AMOUNT } from './amounts.js';
import { windowLength } from './duration.js';
import { COMPARISONS, type Comparison } from './history-measure.js';
import { compileWhere, whereProblems } from './history-where.js';
import { type CommonConfig, commonMembers } from './memory-evaluator.js';
import { MAX_PATH_LENGTH } from './memory-key.js';

const HISTORY_OPS = ['formerly', 'previous', 'not_since', 'count', 'sum', 'distinct'] as const;
type HistoryOp = (typeof HISTORY_OPS)[number];
/** Those that give a number. */
export type MeasuringOp = 'count' | 'sum' | 'distinct';

/** Most step names, and most texts of `where`, of an event. */
const MAX_NAMES = 100;
const MAX_TEXTS = 16;
/** Largest number that counts are compared with; and if `where` is decided for each event that is kept. */
const MAX_COUNT = 10_000;
const MAX_MIXED_COUNT = 200;

export interface EventConfig {
  readonly kinds: readonly StepEvent[];
  readonly step_names?: readonly string[] | undefined;
  readonly where?: readonly string[] | undefined;
}

export interface CompareConfig {
  readonly op: Comparison;
  /** In billionths. */
  readonly than: bigint;
}

export interface HistoryConfig extends CommonConfig {
  readonly op: HistoryOp;
  readonly windowUs: number;
  readonly event: EventConfig;
  readonly anchor: EventConfig | null;
  /** Path of the value of an event. */
  readonly value: string | null;
  readonly compare: CompareConfig | null;
  readonly includesCurrent: boolean;
}

export function isMeasuring(op: HistoryOp): op is MeasuringOp {
  return op === 'count' || op === 'sum' || op === 'distinct';
}

const whereText = field<string>(
  (value, sink) => {
    if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
    const problems = whereProblems(value).filter(
      ({ code }) => code !== 'always_true' && code !== 'always_false',
    );
    for (const problem of problems) report(sink, 'value_error', problemText(problem), value);
    return problems.length === 0 ? value : z.NEVER;
  },
  { type: 'string', maxLength: MAX_EXPRESSION_LENGTH },
);

function eventSchema(description: string) {
  return z
    .object({
      kinds: list(oneOf(STEP_EVENTS), { min: 1, max: STEP_EVENTS.length }).meta({
        description:
          'What became of the step: "request" (allowed before it runs), "denied", "response" (it has run), "error".',
      }),
      step_names: nullable(list(text({ min: 1 }), { min: 1, max: MAX_NAMES })).meta({
        description: 'Names of steps; without it, steps of every name.',
      }),
      where: nullable(list(whereText, { max: MAX_TEXTS })).meta({
        description:
          'CEL expressions over the earlier event (event.kind, event.step.name, event.step.type, event.input, event.output, ' +
          'event.error, event.context) and the present step (input, output, context, step.name, step.type). All must be true.',
      }),
    })
    .meta({ description });
}

const valuePath = field<string>(
  (value, sink) => {
    if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
    if (value.length > MAX_PATH_LENGTH) {
      return refuse(sink, 'string_too_long', `must have at most ${MAX_PATH_LENGTH} characters`, value);
    }
    if (isSelectorPath(value) && !value.startsWith('*')) return value;
    const message =
      'must be a path that begins with input, output, context, type or name, such as input.amount';
    return refuseTyped(sink, 'value_error', message, value);
  },
  { type: 'string', maxLength: MAX_PATH_LENGTH },
);

const bound = field<bigint>(
  (value, sink) =>
    amountOf(value) ?? refuseTyped(sink, 'value_error', 'must be a number from 0 to 10^15', value),
  { type: 'number', minimum: 0, maximum: MAX_AMOUNT },
);

const compareSchema = z
  .object({
    gt: nullable(bound),
    gte: nullable(bound),
    lt: nullable(bound),
    lte: nullable(bound),
    eq: nullable(bound),
  })
  .transform((given, sink): CompareConfig => {
    const [first, ...others] = COMPARISONS.flatMap((op) => {
      const than = given[op];
      return than === undefined ? [] : [{ op, than }];
    });
    if (first !== undefined && others.length === 0) return first;
    report(sink, 'value_error', `must have exactly one of ${COMPARISONS.join(', ')}`, null);
    return z.NEVER;
  })
  .meta({
    description: 'What the number is compared with: exactly one of "gt", "gte", "lt", "lte" and "eq".',
  });

/** The configuration of `history`. `maxUs`: the longest window. */
export function historySchema(maxUs: number): z.ZodType<HistoryConfig> {
  return z
    .object({
      op: oneOf(HISTORY_OPS).meta({
        description:
          '"formerly": an event satisfies the condition; "previous": the last event does; "not_since": none since the last ' +
          'anchor; "count", "sum", "distinct": the number of events, the sum of their values, or the number of their distinct ' +
          'values compares as `compare` says.',
      }),
      within: windowLength(maxUs).meta({
        description: 'The window, such as "1h". An event that is exactly as old is in it.',
      }),
      event: eventSchema('The events that the statement is about.'),
      anchor: nullable(eventSchema('For "not_since": the event since which no other may be.')),
      value: nullable(valuePath).meta({
        description: 'For "sum" and "distinct": the path of the value of an event, such as "input.amount".',
      }),
      compare: nullable(compareSchema),
      include_current: nullable(boolean()).meta({
        description:
          'For "count", "sum" and "distinct": whether the present step counts, if it is such an event. Default false.',
      }),
      ...commonMembers(['session']),
    })
    .transform(
      ({ within: windowUs, anchor = null, value = null, compare = null, include_current, ...rest }, sink) => {
        const includesCurrent = include_current ?? false;
        const config = { ...rest, windowUs, anchor, value, compare, includesCurrent };
        for (const [member, message] of problemsOf(config))
          report(sink, 'value_error', message, null, [member]);
        return config;
      },
    );
}

type Member = 'anchor' | 'value' | 'compare' | 'include_current';

function* problemsOf(config: HistoryConfig): Generator<readonly [Member, string]> {
  const { op, anchor, value, compare, includesCurrent } = config;
  const measures = isMeasuring(op);
  const needsValue = op === 'sum' || op === 'distinct';
  if (op === 'not_since' && anchor === null) yield ['anchor', 'is required with the op not_since'];
  if (op !== 'not_since' && anchor !== null) yield ['anchor', 'is used with the op not_since only'];
  if (needsValue && value === null) yield ['value', `is required with the op ${op}`];
  if (!needsValue && value !== null) yield ['value', 'is used with the ops sum and distinct only'];
  if (measures && compare === null) yield ['compare', `is required with the op ${op}`];
  if (!measures && compare !== null) yield ['compare', 'is used with the ops count, sum and distinct only'];
  if (!measures && includesCurrent)
    yield ['include_current', 'is used with the ops count, sum and distinct only'];
  if (!measures || op === 'sum' || compare === null) return;
  const { mixed } = compileWhere(config.event.where ?? []);
  const [most, why] =
    mixed.length === 0
      ? [MAX_COUNT, '']
      : [MAX_MIXED_COUNT, ', because where compares events with the step in another way than by =='];
  if (amountNumber(compare.than) > most) yield ['compare', `must be at most ${most}${why}`];
}

/** Earlier steps that a statement is about. */
interface EarlierStep {
  /** One of these; at least one. */
  readonly names: readonly string[];
  /** Whether only steps count that were let pass. */
  readonly hasRun: boolean;
  /** Whether a step passes only after one of them. */
  readonly isRequired: boolean;
}

/**
 * The earlier steps of a configuration of `history`; null if it names none. `positive`: whether its match favours that of its
 * control.
 */
export function earlierStepOf({ op, event, compare }: JsonObject, positive: boolean): EarlierStep | null {
  if (!isObject(event) || !Array.isArray(event.kinds) || !Array.isArray(event.step_names)) return null;
  const names = event.step_names.filter((name) => typeof name === 'string');
  if (names.length === 0) return null;
  const hasRun = !event.kinds.includes('denied');
  const known = HISTORY_OPS.find((one) => one === op);
  if (known === undefined) return null;
  // "Fewer than" and "none since" match while the event is missing.
  const lower = isObject(compare) && ['lt', 'lte'].some((name) => (compare[name] ?? null) !== null);
  const matchesWithout = known === 'not_since' || (isMeasuring(known) && lower);
  return { names, hasRun, isRequired: positive === matchesWithout };
}
