import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { allOf, FALSE, isStorable } from '../../database/text.js';
import { readFacets } from '../store/event-facets.js';
import { type EventFilter, wantedFacets } from '../store/event-filter.js';
import { idKey } from './event-row.js';
import { IS_DENIAL } from './segment-tables.js';

/** All conditions for the database; or that no event can match the filter. */
export function conditionsOf(filter: EventFilter): Prisma.Sql[] | 'nothing' {
  const { traceId, spanId, executionId, agentName, controlIds = [], fromUs, toUs } = filter;
  const { stepType, stepName, sessionId, stepId, decisionId, minRevision, maxRevision, hasError } = filter;
  const texts = [traceId, spanId, executionId, agentName, stepType, stepName, sessionId, stepId, decisionId];
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
  if (decisionId) conditions.push(Prisma.sql`"decision_id" = ${decisionId}`);
  if (stepId) conditions.push(Prisma.sql`"step_id" = ${stepId}`);
  if (sessionId) conditions.push(Prisma.sql`"session_id" = ${sessionId}`);
  if (stepType) conditions.push(Prisma.sql`"step_type" = ${stepType}`);
  if (stepName) conditions.push(Prisma.sql`"step_name" = ${stepName}`);
  if (minRevision !== undefined) conditions.push(Prisma.sql`"revision" >= ${minRevision}`);
  if (maxRevision !== undefined) conditions.push(Prisma.sql`"revision" <= ${maxRevision}`);
  if (hasError === true) conditions.push(Prisma.sql`"error_message" IS NOT NULL`);
  if (hasError === false) conditions.push(Prisma.sql`"error_message" IS NULL`);
  if (agentName) conditions.push(Prisma.sql`"agent_name" = ${agentName}`);
  if (ids.length > 0) conditions.push(Prisma.sql`"control_id" IN (${Prisma.join(ids)})`);
  const facets = wantedFacets(filter);
  if (facets?.length === 0) return 'nothing';
  if (facets !== undefined) conditions.push(Prisma.sql`"facets" IN (${Prisma.join(facets)})`);
  // The database does not infer it from the list, and it has an index of denials.
  if (facets?.every((one) => isDenial(readFacets(one)))) conditions.push(IS_DENIAL);
  if (fromUs !== undefined) conditions.push(Prisma.sql`"time_us" >= ${fromUs}`);
  if (toUs !== undefined) conditions.push(Prisma.sql`"time_us" <= ${toUs}`);
  return conditions;
}

/** The same as `IS_DENIAL`. */
function isDenial({ matched, action }: ReturnType<typeof readFacets>): boolean {
  return matched && action === 'deny';
}

/** The one condition that stands for a filter. */
export function conditionOf(filter: EventFilter): Prisma.Sql {
  const conditions = conditionsOf(filter);
  return conditions === 'nothing' ? FALSE : allOf(conditions);
}
