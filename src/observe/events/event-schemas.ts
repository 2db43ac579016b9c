import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import { Decimal, isNumber } from '../../../packages/exact-json/src/index.js';
import {
  boolean,
  field,
  freeObject,
  type IssueSink,
  jsonSchemaOf,
  list,
  nullable,
  oneOf,
  orNull,
  readWith,
  refuse,
  report,
  shownText,
  text,
  withDefault,
  withExample,
  withFastRead,
} from '../../contract/input/fields.js';
import { normaliseAgentName } from '../../contract/input/names.js';
import { integer, number, position } from '../../contract/input/numbers.js';
import { pageSize } from '../../contract/input/paging.js';
import type { InputsOf } from '../../contract/input/parse-input.js';
import type { Decision } from '../../kernel/core/types.js';
import { readCursor } from './event-cursor.js';
import { readWellFormedEvent } from './event-reader.js';
import { TOTAL_KINDS } from './event-total.js';
import type { ControlEvent } from './store/event.js';
import type { EventFilter } from './store/event-filter.js';
import type { EventCursor } from './store/event-search.js';
import { type EventTime, readTime, utcTimeOfMs } from './store/event-time.js';
import { MAX_RANGE_DAYS, TIME_RANGES } from './store/time-range.js';

/** Events of one request. */
export const MAX_EVENTS = LIMITS.CreateEventsRequest.events.max;
const limits = LIMITS.ControlExecutionEvent;
const INT32 = { min: -(2 ** 31), max: 2 ** 31 - 1 } as const;

const STAGES = ['pre', 'post'] as const;
const KINDS_OF_STEP = ['llm_call', 'tool_call'] as const;
const DECISIONS = ['deny', 'steer', 'observe'] as const;
/** Former names of an observation in clients. */
const OLDER_NAMES = ['allow', 'warn', 'log'] as const;

/** Longer than any stored name, but otherwise valid: only storing or finding it fails. */
const OVERLONG_AGENT_NAME = /^[a-z0-9:_-]{256,}$/;
const AGENT_NAME_RULE = `must have at least ${limits.agent_name.min} characters: letters, digits, ":", "_" and "-"`;

/** An agent name, normalised, of any length. */
const agentName = field((value, sink) => {
  const name = normaliseAgentName(value);
  if (name !== undefined) return name;
  const given = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return OVERLONG_AGENT_NAME.test(given) ? given : refuse(sink, 'value_error', AGENT_NAME_RULE, value);
}, shownText(limits.agent_name));

const time = field<EventTime>(
  (value, sink) => {
    if (typeof value !== 'string' && !isNumber(value)) {
      return refuse(sink, 'datetime_type', 'must be a time', value);
    }
    return (
      readTime(value instanceof Decimal ? value.toNumber() : value) ??
      refuse(sink, 'datetime_from_date_parsing', 'must be a time', value)
    );
  },
  { type: 'string', format: 'date-time' },
);

const cursor = field<EventCursor>(
  (value, sink) => {
    if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
    return (
      readCursor(value) ?? refuse(sink, 'value_error', 'must be a next_cursor of an earlier reply', value)
    );
  },
  { type: 'string' },
);

const notBlank = text().transform((value, sink) => {
  if (value.trim() === '') report(sink, 'value_error', 'must not be blank', value);
  return value;
});

const stepText = text(limits.session_id);

/** A number that JSON can represent: gRPC also allows others. */
function finite(limits: { min: number; max: number }): z.ZodType<number> {
  return number(limits).transform((value, sink) => {
    if (!Number.isFinite(value)) report(sink, 'finite_number', 'must be a finite number', value);
    return value;
  });
}

/** When absent, a new value is created for every event. */
const orMade = <T>(inner: z.ZodType<T>, make: () => T): z.ZodType<T> =>
  inner.optional().transform((value) => value ?? make());

/** Reads one event. A list of events uses the fast path of `readWellFormedEvent` where possible. */
export function eventSchema(now: () => number): z.ZodType<ControlEvent> {
  const schema = z.object({
    control_execution_id: orMade(text(), randomUUID),
    trace_id: notBlank,
    span_id: notBlank,
    agent_name: agentName,
    control_id: integer(INT32),
    control_name: text(),
    check_stage: oneOf(STAGES),
    applies_to: oneOf(KINDS_OF_STEP),
    action: oneOf([...DECISIONS, ...OLDER_NAMES]).transform(asDecision),
    matched: boolean(),
    confidence: finite(limits.confidence),
    timestamp: orMade(time, () => utcTimeOfMs(now())),
    // Larger numbers could make the sum of many exceed the range of the database.
    execution_duration_ms: orNull(finite(limits.execution_duration_ms)),
    evaluator_name: orNull(text()),
    selector_path: orNull(text()),
    error_message: orNull(text()),
    metadata: withDefault(freeObject(), {}),
    step_type: orNull(stepText),
    step_name: orNull(text(limits.step_name)),
    session_id: orNull(stepText),
    step_id: orNull(stepText),
    revision: orNull(position),
    decision_id: orNull(stepText),
  });
  return schema.transform((event): ControlEvent => ({ origin: 'client', ...event }));
}

function asDecision(name: (typeof DECISIONS)[number] | (typeof OLDER_NAMES)[number]): Decision {
  return name === 'allow' || name === 'warn' || name === 'log' ? 'observe' : name;
}

/** A list with limits; a list beyond them is not read at all. */
function listOf<T>(
  item: z.ZodType<T>,
  { min = 0, max }: { readonly min?: number; readonly max: number },
): z.ZodType<T[]> {
  const items = list(item);
  return field(
    (value, sink) => {
      if (Array.isArray(value) && value.length < min)
        return refuse(sink, 'too_short', `must have at least ${min} item(s)`, value);
      if (Array.isArray(value) && value.length > max)
        return refuse(sink, 'too_long', `must have at most ${max} items`, value);
      return readWith(items, value, sink) ?? z.NEVER;
    },
    { type: 'array', items: jsonSchemaOf(item), minItems: min, maxItems: max },
  );
}

/** Deployed clients expect one problem at the list itself, for any mistake in it. */
const actions = field<Decision[]>(
  (value, sink) => {
    const words = Array.isArray(value) ? DECISIONS.filter((word) => value.includes(word)) : [];
    const known: ReadonlySet<unknown> = new Set(DECISIONS);
    if (Array.isArray(value) && value.every((word) => known.has(word))) return words;
    return refuse(sink, 'value_error', `must be a list of: ${DECISIONS.join(', ')}`, value);
  },
  { type: 'array', items: { type: 'string', enum: [...DECISIONS] } },
);

const anyOf = <const T extends string>(words: readonly T[]): z.ZodType<T[]> =>
  withDefault(list(oneOf(words)), []).transform((found) => [...new Set(found)]);

const range = {
  time_range: oneOf(TIME_RANGES).optional(),
  include_timeseries: withDefault(boolean(), false),
  start_time: nullable(time),
  end_time: nullable(time),
};
type RangeMembers = z.output<z.ZodObject<typeof range>>;

const MAX_RANGE_US = BigInt(MAX_RANGE_DAYS * 86_400) * 1_000_000n;

/** Checks the range of a request; `rangeOf` then reads it. */
function checkRange(
  { time_range: name, start_time: start, end_time: end }: RangeMembers,
  sink: IssueSink,
): void {
  if (start === undefined && end === undefined) return;
  if (name !== undefined) {
    report(sink, 'value_error', 'must not stand beside start_time and end_time', name, ['time_range']);
  }
  if (start === undefined || end === undefined) {
    const [missing, other] = start === undefined ? ['start_time', 'end_time'] : ['end_time', 'start_time'];
    report(sink, 'missing', `Field required: ${other} needs it`, undefined, [missing]);
    return;
  }
  if (end.us <= start.us) report(sink, 'value_error', 'must be after start_time', end.text, ['end_time']);
  if (end.us - start.us > MAX_RANGE_US) {
    const rule = `must be at most ${MAX_RANGE_DAYS} days after start_time`;
    report(sink, 'value_error', rule, end.text, ['end_time']);
  }
}

/** The name is normalised by the service, because it is validated after everything else. */
const statistics = { agent_name: text(), ...range };

/** Longest text in a stream's filter, in UTF-16 code units: it is kept for the life of the stream. */
const watchedText = LIMITS.WatchEventsRequest.session_id;

const watchedName = agentName.transform((name, sink) => {
  if (name.length > watchedText.max)
    report(sink, 'string_too_long', `must have at most ${watchedText.max} characters`, name);
  return name;
});

/** Filters of events, parameterised by the types of ids and of the agent name. */
const filters = (id: z.ZodType<string>, name: z.ZodType<string>) =>
  ({
    trace_id: nullable(id),
    span_id: nullable(id),
    control_execution_id: nullable(id),
    agent_name: nullable(name),
    control_ids: nullable(listOf(integer(), LIMITS.QueryEventsRequest.control_ids)),
    actions: nullable(actions),
    matched: nullable(boolean()),
    check_stages: nullable(anyOf(STAGES)),
    applies_to: nullable(anyOf(KINDS_OF_STEP)),
    start_time: nullable(time),
    end_time: nullable(time),
    step_type: nullable(id),
    step_name: nullable(id),
    session_id: nullable(id),
    step_id: nullable(id),
    decision_id: nullable(id),
    min_revision: nullable(position),
    max_revision: nullable(position),
    has_error: nullable(boolean()),
  }) satisfies { readonly [Name in Exclude<keyof EventFilter, 'namespace'>]-?: z.ZodType<EventFilter[Name]> };

/** Read by the JSON routes: see the option `on_request` of the members of an event. */
const include_step = nullable(boolean());

const EXAMPLE_FILTERS = { agent_name: 'billing-bot-01', actions: ['deny'], matched: true };

/** Input schemas of ObservabilityService, by RPC. */
export function createEventSchemas(now: () => number) {
  const event = withFastRead(eventSchema(now), (value) => readWellFormedEvent(value, now));
  const events = listOf(event, LIMITS.CreateEventsRequest.events);
  return {
    createEvents: withExample(z.object({ events }), {
      events: [
        {
          control_execution_id: '5f0c7a52-9d0b-4a57-8e0a-5d7d3c0f1b11',
          trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
          span_id: '00f067aa0ba902b7',
          agent_name: 'billing-bot-01',
          control_id: 1,
          control_name: 'no-card-numbers',
          check_stage: 'pre',
          applies_to: 'tool_call',
          action: 'deny',
          matched: true,
          confidence: 1,
        },
      ],
    }),
    /** One message of the stream. */
    ingestEvents: z.object({ events }),
    publishEvents: z.object({ events }),
    queryEvents: withExample(
      z.object({
        ...filters(text(), agentName),
        limit: pageSize(LIMITS.QueryEventsRequest.limit, 100),
        offset: withDefault(integer({ ...LIMITS.QueryEventsRequest.offset, max: INT32.max }), 0),
        cursor: nullable(cursor),
        include_step,
        include_buffered: withDefault(boolean(), false),
        total: nullable(oneOf(TOTAL_KINDS)),
      }),
      { ...EXAMPLE_FILTERS, limit: 20 },
    ),
    exportEvents: withExample(z.object({ ...filters(text(), agentName), include_step }), EXAMPLE_FILTERS),
    watchEvents: z.object({
      ...filters(text(watchedText), watchedName),
      after_position: nullable(position),
    }),
    getStats: z.object(statistics).superRefine(checkRange),
    getControlStats: z.object({ control_id: integer(), ...statistics }).superRefine(checkRange),
    getStatsOverview: z
      .object({
        ...range,
        limit: pageSize(LIMITS.GetStatsOverviewRequest.limit, 10),
        control_id: nullable(integer(INT32)),
        top_by_matches: withDefault(boolean(), false),
      })
      .superRefine(checkRange),
    getEvaluationStats: z
      .object({
        agent_name: nullable(agentName),
        ...range,
        limit: pageSize(LIMITS.GetEvaluationStatsRequest.limit, 10),
        include_previous: withDefault(boolean(), false),
        listed_agents: withDefault(list(agentName, LIMITS.GetEvaluationStatsRequest.listed_agents), []),
      })
      .superRefine(checkRange)
      .superRefine(({ agent_name: name, listed_agents: listed }, sink) => {
        if (name === undefined || listed.length === 0) return;
        report(sink, 'value_error', 'must not stand beside agent_name', listed.length, ['listed_agents']);
      }),
    getObservabilityStatus: z.object({}),
    flushEvents: z.object({}),
  };
}

/** Outputs of the schemas of ObservabilityService, by RPC. */
export type ObservabilityInputs = InputsOf<ReturnType<typeof createEventSchemas>>;
