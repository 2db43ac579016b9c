import { DEFAULT_NAMESPACE, type Namespace } from '../../../contract/call/namespace.js';
import { invalidRequest } from '../../../contract/input/parse-input.js';
import type { Warning } from '../../../contract/warnings/warning.js';
import type { Decision, Stage } from '../../../kernel/core/types.js';
import { isStorable } from '../../../storage/database/text.js';
import type { AppliesTo, ControlEvent } from './event.js';
import { facetsOf, facetsWhere } from './event-facets.js';
import { type EventScope, executionKey } from './event-keys.js';
import type { EventTime } from './event-time.js';

/** Members of a filter that name the text which the column of the same name must have, and that text of an event. */
const TEXTS = {
  control_execution_id: (event: ControlEvent) => event.control_execution_id,
  trace_id: (event: ControlEvent) => event.trace_id,
  span_id: (event: ControlEvent) => event.span_id,
  decision_id: (event: ControlEvent) => event.decision_id,
  step_id: (event: ControlEvent) => event.step_id,
  session_id: (event: ControlEvent) => event.session_id,
  step_type: (event: ControlEvent) => event.step_type,
  step_name: (event: ControlEvent) => event.step_name,
  agent_name: (event: ControlEvent) => event.agent_name,
};
type Text = keyof typeof TEXTS;

/**
 * One condition on a column of an event. The stores say it in their language, `eventTest` in memory. Values of ranges are
 * inclusive, and null is in none.
 */
export type EventCondition =
  | { readonly test: 'NAMESPACE'; readonly column: 'agent_name'; readonly namespace: Namespace }
  | { readonly test: '='; readonly column: Text; readonly value: string }
  | { readonly test: '>=' | '<='; readonly column: 'revision' | 'time_us'; readonly value: number | bigint }
  | { readonly test: 'IS NULL' | 'IS NOT NULL'; readonly column: 'error_message' }
  | { readonly test: 'IN'; readonly column: 'control_id' | 'facets'; readonly values: readonly number[] };

/** Undefined when the value does not filter. */
type Condition = EventCondition | undefined;
type Moment = Pick<EventTime, 'us'>;

/** The other members that are conditions of their own. */
const MEMBERS = {
  min_revision: (value: number): Condition => ({ test: '>=', column: 'revision', value }),
  max_revision: (value: number): Condition => ({ test: '<=', column: 'revision', value }),
  has_error: (is: boolean): Condition => ({
    test: is ? 'IS NOT NULL' : 'IS NULL',
    column: 'error_message',
  }),
  control_ids: (ids: readonly number[]): Condition =>
    ids.length === 0 ? undefined : { test: 'IN', column: 'control_id', values: storedIds(ids) },
  start_time: ({ us }: Moment): Condition => ({ test: '>=', column: 'time_us', value: us }),
  end_time: ({ us }: Moment): Condition => ({ test: '<=', column: 'time_us', value: us }),
};
type Members = typeof MEMBERS;

/** The members of a filter that are one condition together. */
interface FacetFilter {
  readonly actions?: readonly Decision[] | undefined;
  readonly matched?: boolean | undefined;
  readonly check_stages?: readonly Stage[] | undefined;
  readonly applies_to?: readonly AppliesTo[] | undefined;
}

/**
 * Filters of a search, named as on the wire; an empty text or list, and undefined, do not filter. Only events of the
 * namespace pass, in which the agent and the id of a check are names; those of `default` if it is absent.
 */
export type EventFilter = FacetFilter & {
  readonly [Name in Text]?: string | undefined;
} & { readonly namespace?: EventScope | undefined } & {
  readonly [Name in keyof Members]?: Parameters<Members[Name]>[0] | undefined;
};

/** All conditions of a filter; or that no event can match it. */
export function conditionsOf(filter: EventFilter): readonly EventCondition[] | 'nothing' {
  const { namespace = DEFAULT_NAMESPACE } = filter;
  const found = [
    // The key of an agent tells its namespace.
    namespace === 'all' || filter.agent_name
      ? undefined
      : ({ test: 'NAMESPACE', column: 'agent_name', namespace } as const),
    ...(Object.keys(TEXTS) as Text[]).map((column): Condition => {
      const value = filter[column];
      return value ? { test: '=', column, value: keyOf(namespace, column, value) } : undefined;
    }),
    ...(Object.keys(MEMBERS) as (keyof Members)[]).map((name) => {
      const value = filter[name];
      return value === undefined ? undefined : MEMBERS[name](value as never);
    }),
    facetCondition(filter),
  ];
  const conditions = found.filter((one) => one !== undefined);
  return conditions.every(isPossible) ? conditions : 'nothing';
}

function keyOf(namespace: EventScope, column: Text, value: string): string {
  if (namespace === 'all') return value;
  if (column === 'agent_name') return namespace.agentKey(value);
  return column === 'control_execution_id' ? executionKey(namespace, value) : value;
}

function isPossible(condition: EventCondition): boolean {
  if (condition.test === 'IN') return condition.values.length > 0;
  return condition.test !== '=' || isStorable(condition.value);
}

/** Those that the column of an id can have. */
function storedIds(ids: readonly number[]): readonly number[] {
  return [...new Set(ids)].filter((id) => (id | 0) === id);
}

function facetCondition({ actions, matched, check_stages, applies_to }: FacetFilter): Condition {
  const passes = <T>(wanted: readonly T[] = [], value: T) => wanted.length === 0 || wanted.includes(value);
  const values = facetsWhere(
    (one) =>
      (matched === undefined || one.matched === matched) &&
      passes(actions, one.action) &&
      passes(check_stages, one.check_stage) &&
      passes(applies_to, one.applies_to),
  );
  return values && { test: 'IN', column: 'facets', values };
}

/** Whether an event matches a filter, with the same result as a search of any store. */
export function eventTest(filter: EventFilter): (event: ControlEvent) => boolean {
  const conditions = conditionsOf(filter);
  if (conditions === 'nothing') return () => false;
  const tests = conditions.map(testOf);
  const last = tests.pop() ?? (() => true);
  return tests.reduceRight((rest, test) => (event) => test(event) && rest(event), last);
}

/** Numbers of an event by column. */
const NUMBERS = {
  revision: (event: ControlEvent) => event.revision,
  time_us: (event: ControlEvent) => event.timestamp.us,
  control_id: (event: ControlEvent) => event.control_id,
  facets: (event: ControlEvent) => facetsOf(event),
};

function testOf(condition: EventCondition): (event: ControlEvent) => boolean {
  switch (condition.test) {
    case 'NAMESPACE': {
      const { namespace } = condition;
      return (event) => namespace.contains(event.agent_name);
    }
    case '=': {
      const { value } = condition;
      const textOf = TEXTS[condition.column];
      return (event) => textOf(event) === value;
    }
    case 'IN': {
      const numberOf = NUMBERS[condition.column];
      const values = new Set(condition.values);
      return (event) => values.has(numberOf(event));
    }
    case 'IS NULL':
      return ({ error_message }) => error_message === null;
    case 'IS NOT NULL':
      return ({ error_message }) => error_message !== null;
    default: {
      const { test, value } = condition;
      const numberOf = NUMBERS[condition.column];
      return (event) => {
        const number = numberOf(event);
        return number !== null && (test === '>=' ? number >= value : number <= value);
      };
    }
  }
}

/** The same text for filters with the same conditions. */
export function filterKey(filter: EventFilter): string {
  return JSON.stringify(conditionsOf(filter), (name, value) => {
    if (name === 'namespace') return (value as Namespace).name;
    return typeof value === 'bigint' ? String(value) : value;
  });
}

/**
 * Throws a VALIDATION_ERROR for unknown filters, with an item for each: without them a search would return
 * more than requested.
 */
export function refuseUnknownFilters(ignored: readonly Warning[]): void {
  if (ignored.length === 0) return;
  throw invalidRequest(
    ignored.map(({ code, field, message }) => ({
      resource: 'Request',
      field,
      code: 'extra_forbidden',
      message: code === 'unknown_member' ? message.replace('unknown member', 'unknown filter') : message,
    })),
  );
}
