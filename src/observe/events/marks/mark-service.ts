import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { CallContext, Principal } from '../../../contract/call/handler.js';
import { nameOfKey } from '../../../contract/call/namespace.js';
import { paginationOf } from '../../../contract/call/page.js';
import { callerName, isoOf } from '../../../contract/call/printed.js';
import { controlNotFound } from '../../../manage/controls/control-errors.js';
import { createControlStore } from '../../../manage/controls/control-store.js';
import type { AuditFact } from '../../../storage/database/audit-log.js';
import type { Database } from '../../../storage/database/database.js';
import type { Mutator } from '../../../storage/database/mutator.js';
import { scopeOf } from '../../../storage/database/scoped.js';
import type { ControlEvent } from '../store/event.js';
import type { EventSearch } from '../store/event-search.js';
import { eventNotFound, noMatch, otherControl, tooManyMarks } from './mark-errors.js';
import type { MarkInputs } from './mark-schemas.js';
import { createMarkStore, type MarkRow } from './mark-store.js';

/** Most marks of a namespace. */
const MAX_MARKS = 10_000;
const DAY_MS = 24 * 3_600_000;
/** Marks of so many days are kept even if events are not: pages count them. */
const LEAST_DAYS = 30;

export interface MarkServiceOptions {
  readonly database: Pick<Database, 'client'>;
  readonly mutate: Mutator;
  readonly search: Pick<EventSearch, 'page'>;
  /** How long events are kept; 0 forever. Older marks are removed with the next one that is made. */
  readonly retentionDays: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** See `MAX_MARKS`. */
  readonly maxMarks?: number;
}

/** Marks of matches that should have been none. */
export function createMarkService(options: MarkServiceOptions) {
  const { database, mutate, search, retentionDays, now, maxMarks = MAX_MARKS } = options;

  /** Throws EVENT_NOT_FOUND, or VALIDATION_ERROR for an event without a match of the control. */
  async function matchOf({ principal }: CallContext, input: MarkInputs['markFalsePositive']) {
    const { control_execution_id: id, control_id: controlId } = input;
    const filter = { namespace: principal.namespace, control_execution_id: id };
    const [event] = (await search.page(filter, { limit: 1 })).events;
    if (event === undefined) throw eventNotFound(id);
    if (event.control_id !== controlId) throw otherControl(event.control_id);
    if (!event.matched || event.error_message !== null) throw noMatch();
    return event;
  }

  return {
    /** Throws EVENT_NOT_FOUND, or VALIDATION_ERROR for an event without a match of the control, and for too many marks. */
    async mark(context: CallContext, input: MarkInputs['markFalsePositive']) {
      const { control_execution_id: controlExecutionId, control_id: controlId, note } = input;
      const match = { controlExecutionId, controlId };
      const event = await matchOf(context, input);
      const row = await mutate(context, async (scope) => {
        const store = createMarkStore(scope);
        const before = await store.find(match);
        if (before !== null && (note === undefined || note === before.note)) {
          return { value: before, change: null };
        }
        const marked =
          before !== null && note !== undefined
            ? await store.setNote(match, note)
            : await insert(store, event, input, context.principal);
        const audit = markFact('mark', event.control_name, marked, stateOf(before), stateOf(marked));
        return { value: marked, change: {}, audit };
      });
      return { false_positive: printedMark(row) };
    },

    /** Throws CONTROL_NOT_FOUND if there is neither the mark nor the control. */
    async unmark(context: CallContext, input: MarkInputs['unmarkFalsePositive']) {
      const match = { controlExecutionId: input.control_execution_id, controlId: input.control_id };
      const wasMarked = await mutate(context, async (scope) => {
        const store = createMarkStore(scope);
        const mark = await store.find(match);
        if (mark === null) {
          if ((await createControlStore(scope).find(match.controlId)) === null) {
            throw controlNotFound(match.controlId);
          }
          return { value: false, change: null };
        }
        await store.remove(match);
        return { value: true, change: {}, audit: markFact('unmark', undefined, mark, stateOf(mark), null) };
      });
      return { was_marked: wasMarked };
    },

    /** One page, latest mark first. */
    async list(context: CallContext, input: MarkInputs['listFalsePositives']) {
      const { cursor, limit, control_id: controlId, control_execution_ids: ids, days } = input;
      const page = await createMarkStore(scopeOf(context, database.client)).list({
        cursor,
        limit,
        controlId: controlId ?? null,
        controlExecutionIds: [...new Set(ids)],
        sinceMs: days === undefined ? null : now() - days * DAY_MS,
      });
      return { false_positives: page.rows.map(printedMark), pagination: paginationOf(page, limit) };
    },
  };

  async function insert(
    store: ReturnType<typeof createMarkStore>,
    event: ControlEvent,
    { control_execution_id: controlExecutionId, note }: MarkInputs['markFalsePositive'],
    principal: Principal,
  ): Promise<MarkRow> {
    const nowMs = now();
    if (retentionDays > 0) await store.removeBefore(nowMs - Math.max(retentionDays, LEAST_DAYS) * DAY_MS);
    if ((await store.count()) >= maxMarks) throw tooManyMarks(maxMarks);
    return store.insert({
      controlId: event.control_id,
      controlExecutionId,
      agentName: event.agent_name,
      decisionId: event.decision_id,
      matchedAtMs: Number(event.timestamp.us / 1_000n),
      note: note ?? null,
      markedBy: callerName(principal),
      markedAtMs: nowMs,
    });
  }
}

function markFact(
  what: 'mark' | 'unmark',
  controlName: string | undefined,
  { controlId }: MarkRow,
  before: JsonObject | null,
  after: JsonObject | null,
): AuditFact {
  const name = controlName === undefined ? {} : { name: controlName };
  const action = `control.${what}_false_positive`;
  return { action, resource: 'control', id: String(controlId), ...name, before, after };
}

function stateOf(row: MarkRow | null): JsonObject | null {
  if (row === null) return null;
  const { controlExecutionId, agentName, note } = row;
  return { control_execution_id: controlExecutionId, agent_name: nameOfKey(agentName), note };
}

/** A mark as contained in replies. */
function printedMark(row: MarkRow) {
  return {
    control_execution_id: row.controlExecutionId,
    control_id: row.controlId,
    agent_name: nameOfKey(row.agentName),
    matched_at: isoOf(row.matchedAtMs),
    decision_id: row.decisionId,
    note: row.note,
    marked_by: row.markedBy,
    marked_at: isoOf(row.markedAtMs),
  };
}
