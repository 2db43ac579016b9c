import { invalidRequest } from '../../contract/input/parse-input.js';
import type { Warning } from '../../contract/warnings/warning.js';
import type { Decision, Stage } from '../../core/types.js';
import type { AppliesTo, ControlEvent } from './event.js';
import { facetsWhere } from './event-facets.js';
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
  readonly stepType?: string | undefined;
  readonly stepName?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly stepId?: string | undefined;
  readonly decisionId?: string | undefined;
  /** Both inclusive; events without a revision pass neither. */
  readonly minRevision?: number | undefined;
  readonly maxRevision?: number | undefined;
  readonly hasError?: boolean | undefined;
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
  readonly step_type: string | undefined;
  readonly step_name: string | undefined;
  readonly session_id: string | undefined;
  readonly step_id: string | undefined;
  readonly decision_id: string | undefined;
  readonly min_revision: number | undefined;
  readonly max_revision: number | undefined;
  readonly has_error: boolean | undefined;
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
    stepType: input.step_type,
    stepName: input.step_name,
    sessionId: input.session_id,
    stepId: input.step_id,
    decisionId: input.decision_id,
    minRevision: input.min_revision,
    maxRevision: input.max_revision,
    hasError: input.has_error,
  };
}

/** Whether an event matches a filter, with the same result as a search of any store. */
export function eventTest(filter: EventFilter): (event: ControlEvent) => boolean {
  const { traceId, spanId, executionId, agentName, controlIds = [], fromUs, toUs, hasError } = filter;
  const ids = new Set(controlIds);
  const passes = facetsTest(filter);
  const isStepOf = stepTest(filter);
  return (event) =>
    (!agentName || event.agent_name === agentName) &&
    (ids.size === 0 || ids.has(event.control_id)) &&
    passes(event) &&
    (!traceId || event.trace_id === traceId) &&
    (!spanId || event.span_id === spanId) &&
    (!executionId || event.control_execution_id === executionId) &&
    isStepOf(event) &&
    (hasError === undefined || (event.error_message !== null) === hasError) &&
    (fromUs === undefined || event.timestamp.us >= fromUs) &&
    (toUs === undefined || event.timestamp.us <= toUs);
}

function stepTest(filter: EventFilter): (event: ControlEvent) => boolean {
  const { stepType, stepName, sessionId, stepId, decisionId, minRevision = 0, maxRevision } = filter;
  const anyRevision = filter.minRevision === undefined && maxRevision === undefined;
  const upTo = maxRevision ?? Number.MAX_SAFE_INTEGER;
  return (event) =>
    (!sessionId || event.session_id === sessionId) &&
    (!stepId || event.step_id === stepId) &&
    (!decisionId || event.decision_id === decisionId) &&
    (!stepType || event.step_type === stepType) &&
    (!stepName || event.step_name === stepName) &&
    (anyRevision || (event.revision !== null && event.revision >= minRevision && event.revision <= upTo));
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
    filter.stepType || null,
    filter.stepName || null,
    filter.sessionId || null,
    filter.stepId || null,
    filter.decisionId || null,
    filter.minRevision ?? null,
    filter.maxRevision ?? null,
    filter.hasError ?? null,
  ]);
}

/** The facets that pass; undefined when all of them do. */
export function wantedFacets(filter: EventFilter): number[] | undefined {
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
