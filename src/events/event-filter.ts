import { Prisma } from '../../gen/prisma/sqlite/client.js';
import { invalidRequest } from '../contract/input/parse-input.js';
import type { Warning } from '../contract/warnings/warning.js';
import type { Decision, Stage } from '../core/types.js';
import { isStorable } from '../database/text.js';
import type { AppliesTo, ControlEvent } from './event.js';
import { facetsWhere } from './event-facets.js';
import { idKey } from './event-row.js';
import type { EventTime } from './event-time.js';

/** Filters of a search; an empty text or list, and undefined, do not filter. */
export interface EventFilter {
  readonly traceId?: string | undefined;
  readonly spanId?: string | undefined;
  readonly executionId?: string | undefined;
  readonly agentName?: string | undefined;
  readonly controlIds?: readonly number[];
  readonly actions?: readonly Decision[];
  readonly matched?: boolean | undefined;
  readonly stages?: readonly Stage[];
  readonly appliesTo?: readonly AppliesTo[];
  /** Both inclusive. */
  readonly fromUs?: bigint | undefined;
  readonly toUs?: bigint | undefined;
}

/** Filters as given in requests. */
export interface FilterInput {
  readonly trace_id: string | undefined;
  readonly span_id: string | undefined;
  readonly control_execution_id: string | undefined;
  readonly agent_name: string | undefined;
  readonly control_ids: readonly number[] | undefined;
  readonly actions: readonly Decision[] | undefined;
  readonly matched: boolean | undefined;
  readonly check_stages: readonly Stage[] | undefined;
  readonly applies_to: readonly AppliesTo[] | undefined;
  readonly start_time: EventTime | undefined;
  readonly end_time: EventTime | undefined;
}

export function filterOf(input: FilterInput): EventFilter {
  return {
    traceId: input.trace_id,
    spanId: input.span_id,
    executionId: input.control_execution_id,
    agentName: input.agent_name,
    controlIds: input.control_ids ?? [],
    actions: input.actions ?? [],
    matched: input.matched,
    stages: input.check_stages ?? [],
    appliesTo: input.applies_to ?? [],
    fromUs: input.start_time?.us,
    toUs: input.end_time?.us,
  };
}

/** All conditions for the database; or that no event can match the filter. */
export function conditionsOf(filter: EventFilter): Prisma.Sql[] | 'nothing' {
  const { traceId, spanId, executionId, agentName, controlIds = [], fromUs, toUs } = filter;
  const texts = [traceId, spanId, executionId, agentName];
  if (!texts.every((text) => text === undefined || isStorable(text))) return 'nothing';
  const ids = [...new Set(controlIds)].filter((id) => (id | 0) === id);
  if (controlIds.length > 0 && ids.length === 0) return 'nothing';
  const conditions: Prisma.Sql[] = [];
  if (executionId) conditions.push(Prisma.sql`"control_execution_id" = ${executionId}`);
  if (traceId) conditions.push(Prisma.sql`"trace_key" = ${idKey(traceId)} AND "trace_id" = ${traceId}`);
  if (spanId) {
    // Rows that are older than the key column have none.
    conditions.push(
      Prisma.sql`("span_key" = ${idKey(spanId)} OR "span_key" IS NULL) AND "span_id" = ${spanId}`,
    );
  }
  if (agentName) conditions.push(Prisma.sql`"agent_name" = ${agentName}`);
  if (ids.length > 0) conditions.push(Prisma.sql`"control_id" IN (${Prisma.join(ids)})`);
  const facets = wantedFacets(filter);
  if (facets?.length === 0) return 'nothing';
  if (facets !== undefined) conditions.push(Prisma.sql`"facets" IN (${Prisma.join(facets)})`);
  if (fromUs !== undefined) conditions.push(Prisma.sql`"time_us" >= ${fromUs}`);
  if (toUs !== undefined) conditions.push(Prisma.sql`"time_us" <= ${toUs}`);
  return conditions;
}

/** Whether an event matches a filter, with the same result as `conditionsOf` in the database. */
export function eventTest(filter: EventFilter): (event: ControlEvent) => boolean {
  const { traceId, spanId, executionId, agentName, controlIds = [], fromUs, toUs } = filter;
  const ids = new Set(controlIds);
  const passes = facetsTest(filter);
  return (event) =>
    (!agentName || event.agent_name === agentName) &&
    (ids.size === 0 || ids.has(event.control_id)) &&
    passes(event) &&
    (!traceId || event.trace_id === traceId) &&
    (!spanId || event.span_id === spanId) &&
    (!executionId || event.control_execution_id === executionId) &&
    (fromUs === undefined || event.timestamp.us >= fromUs) &&
    (toUs === undefined || event.timestamp.us <= toUs);
}

/** The same text for the same filter. */
export function filterKey(filter: EventFilter): string {
  return JSON.stringify([
    filter.traceId || null,
    filter.spanId || null,
    filter.executionId || null,
    filter.agentName || null,
    filter.controlIds ?? [],
    filter.actions ?? [],
    filter.matched ?? null,
    filter.stages ?? [],
    filter.appliesTo ?? [],
    filter.fromUs?.toString() ?? null,
    filter.toUs?.toString() ?? null,
  ]);
}

function wantedFacets(filter: EventFilter): number[] | undefined {
  return facetsWhere(facetsTest(filter));
}

type Facets = Pick<ControlEvent, 'matched' | 'check_stage' | 'applies_to' | 'action'>;

function facetsTest({ actions = [], matched, stages = [], appliesTo = [] }: EventFilter) {
  const passes = <T>(wanted: readonly T[], value: T) => wanted.length === 0 || wanted.includes(value);
  return (one: Facets): boolean =>
    (matched === undefined || one.matched === matched) &&
    passes(actions, one.action) &&
    passes(stages, one.check_stage) &&
    passes(appliesTo, one.applies_to);
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
