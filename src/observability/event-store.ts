import { createHash } from 'node:crypto';
import { type Event, Prisma } from '../../gen/prisma/sqlite/client.js';
import type { DbClient } from '../database/client.js';
import { isStorable } from '../database/text.js';
import type { Decision, Stage } from '../evaluation/types.js';
import type { JsonObject } from '../json/json-value.js';
import { parseStoredJson } from '../json/parse-json.js';
import { stringifyJson } from '../json/stringify-json.js';
import type { AppliesTo, ControlEvent } from './event.js';

/** Rows of one statement: its arguments stay below what both databases bind quickly. */
const ROWS_PER_INSERT = 200;

/** Filters of a search; an empty text or list, and undefined, do not filter. */
export interface EventFilter {
  readonly traceId: string | undefined;
  readonly spanId: string | undefined;
  readonly executionId: string | undefined;
  readonly agentName: string | undefined;
  readonly controlIds: readonly number[];
  readonly actions: readonly Decision[];
  readonly matched: boolean | undefined;
  readonly stages: readonly Stage[];
  readonly appliesTo: readonly AppliesTo[];
  /** Both inclusive. */
  readonly fromUs: bigint | undefined;
  readonly toUs: bigint | undefined;
}

/** Reads and writes events through one client. */
export interface EventStore {
  /** Stores events. One whose id is known already is left as it is; of several with one id the first one is kept. */
  insert(events: readonly ControlEvent[]): Promise<void>;
  /** A page of the events that satisfy a filter, latest first, and how many there are. */
  find(
    filter: EventFilter,
    limit: number,
    offset: number,
  ): Promise<{ events: ControlEvent[]; total: number }>;
}

export function createEventStore(client: DbClient): EventStore {
  return {
    async insert(events) {
      const rows = inIdOrder(events);
      for (let at = 0; at < rows.length; at += ROWS_PER_INSERT) {
        const values = rows.slice(at, at + ROWS_PER_INSERT).map(rowValues);
        await client.$executeRaw`
          INSERT INTO "events" (${COLUMNS}) VALUES ${Prisma.join(values)}
          ON CONFLICT ("control_execution_id") DO NOTHING`;
      }
    },
    async find(filter, limit, offset) {
      const where = condition(filter);
      if (where === 'nothing') return { events: [], total: 0 };
      const total = await client.event.count({ where });
      const rows = await client.event.findMany({
        where,
        // The id makes pages of events that have the same time reliable.
        orderBy: [{ timeUs: 'desc' }, { controlExecutionId: 'desc' }],
        take: limit,
        skip: offset,
      });
      return { events: rows.map(eventOf), total };
    },
  };
}

/** Transactions that insert the same ids in different orders would wait for each other. */
function inIdOrder(events: readonly ControlEvent[]): ControlEvent[] {
  const first = new Map<string, ControlEvent>();
  for (const event of events) {
    if (!first.has(event.control_execution_id)) first.set(event.control_execution_id, event);
  }
  return [...first.values()].sort((a, b) => (a.control_execution_id < b.control_execution_id ? -1 : 1));
}

const COLUMNS = Prisma.raw(
  [
    'control_execution_id',
    'time_us',
    'time_text',
    'trace_key',
    'trace_id',
    'span_id',
    'agent_name',
    'control_id',
    'control_name',
    'check_stage',
    'applies_to',
    'action',
    'matched',
    'confidence',
    'duration_ms',
    'evaluator_name',
    'selector_path',
    'error_message',
    'metadata',
  ]
    .map((name) => `"${name}"`)
    .join(', '),
);

function rowValues(event: ControlEvent): Prisma.Sql {
  return Prisma.sql`(${Prisma.join([
    event.control_execution_id,
    event.timestamp.us,
    event.timestamp.text,
    traceKey(event.trace_id),
    event.trace_id,
    event.span_id,
    event.agent_name,
    event.control_id,
    event.control_name,
    event.check_stage,
    event.applies_to,
    event.action,
    event.matched,
    event.confidence,
    event.execution_duration_ms,
    event.evaluator_name,
    event.selector_path,
    event.error_message,
    stringifyJson(event.metadata),
  ])})`;
}

function traceKey(traceId: string): bigint {
  return createHash('sha256').update(traceId).digest().readBigInt64BE();
}

function condition(filter: EventFilter): Prisma.EventWhereInput | 'nothing' {
  const { traceId, spanId, executionId, agentName, controlIds, fromUs, toUs } = filter;
  const texts = [traceId, spanId, executionId, agentName];
  if (!texts.every((text) => text === undefined || isStorable(text))) return 'nothing';
  const known = [...new Set(controlIds)].filter((id) => (id | 0) === id);
  if (controlIds.length > 0 && known.length === 0) return 'nothing';
  const where: Prisma.EventWhereInput = {};
  if (traceId) Object.assign(where, { traceKey: traceKey(traceId), traceId });
  if (spanId) where.spanId = spanId;
  if (executionId) where.controlExecutionId = executionId;
  if (agentName) where.agentName = agentName;
  if (known.length > 0) where.controlId = { in: known };
  if (filter.actions.length > 0) where.action = { in: [...filter.actions] };
  if (filter.matched !== undefined) where.matched = filter.matched;
  if (filter.stages.length > 0) where.checkStage = { in: [...filter.stages] };
  if (filter.appliesTo.length > 0) where.appliesTo = { in: [...filter.appliesTo] };
  if (fromUs !== undefined || toUs !== undefined) {
    where.timeUs = {
      ...(fromUs === undefined ? {} : { gte: fromUs }),
      ...(toUs === undefined ? {} : { lte: toUs }),
    };
  }
  return where;
}

function eventOf(row: Event): ControlEvent {
  return {
    control_execution_id: row.controlExecutionId,
    trace_id: row.traceId,
    span_id: row.spanId,
    agent_name: row.agentName,
    control_id: row.controlId,
    control_name: row.controlName,
    // Only `rowValues` writes these columns.
    check_stage: row.checkStage as Stage,
    applies_to: row.appliesTo as AppliesTo,
    action: row.action as Decision,
    matched: row.matched,
    confidence: row.confidence,
    timestamp: { us: row.timeUs, text: row.timeText },
    execution_duration_ms: row.durationMs,
    evaluator_name: row.evaluatorName,
    selector_path: row.selectorPath,
    error_message: row.errorMessage,
    metadata: parseStoredJson(row.metadata) as JsonObject,
  };
}
