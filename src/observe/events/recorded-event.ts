import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { Namespace } from '../../contract/call/namespace.js';
import type { HaltNotice } from '../../decide/halts/halt.js';
import type { SchemaMismatch } from '../../kernel/core/step-schemas.js';
import type { LeafLabel } from '../../kernel/core/trace.js';
import type { ControlResult } from '../../kernel/core/types.js';
import type { ControlEvent, EventStep } from './store/event.js';
import { executionKey } from './store/event-keys.js';
import { utcTimeOfMs } from './store/event-time.js';
import { type EventVerdict, verdictMetadata } from './store/event-verdict.js';
import type { TraceIds } from './trace-ids.js';

/** Name of the evaluator of events of halts. */
export const HALT = 'halt';

/** The data of a check kept until it is written; small, because there may be many. */
export interface Note {
  readonly namespace: Namespace;
  readonly item: Pick<ControlResult, 'control_execution_id' | 'control_id' | 'control_name' | 'action'>;
  readonly matched: boolean;
  readonly confidence: number;
  readonly error: string | null;
  readonly leaf: LeafLabel | null;
  readonly request: Pick<ControlEvent, 'agent_name' | 'check_stage' | 'applies_to'> & EventStep;
  readonly mismatch: SchemaMismatch | null;
  readonly halt: HaltNotice | null;
  /** Of a match that denies. */
  readonly verdict: EventVerdict | null;
  readonly trace: TraceIds;
  readonly atMs: number;
}

/** The event of a note. */
export function eventOf(note: Note): ControlEvent {
  const { namespace, item, matched, confidence, error, leaf, request, halt, trace, atMs } = note;
  return {
    ...item,
    control_execution_id: executionKey(namespace, item.control_execution_id),
    ...request,
    origin: trace.madeUp ? 'untraced_service' : 'service',
    trace_id: trace.traceId,
    span_id: trace.spanId,
    matched,
    confidence,
    timestamp: utcTimeOfMs(atMs),
    execution_duration_ms: null,
    evaluator_name: halt === null ? (leaf?.evaluatorName ?? null) : HALT,
    selector_path: leaf?.path ?? null,
    error_message: error,
    metadata: metadataOf(note),
  };
}

function metadataOf({ mismatch, halt, verdict }: Pick<Note, 'mismatch' | 'halt' | 'verdict'>): JsonObject {
  if (halt !== null) return { halt: { id: halt.haltId, reason: halt.reason } };
  return {
    ...(mismatch === null ? {} : { schema_mismatch: { ...mismatch } }),
    ...(verdict === null ? {} : verdictMetadata(verdict)),
  };
}
