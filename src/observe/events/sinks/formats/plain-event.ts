import type { JsonObject } from '../../../../../packages/exact-json/src/index.js';
import { nameOfKey, namespaceOfKey } from '../../../../contract/call/namespace.js';
import { forwardedEvent } from '../../store/event.js';
import { plainExecutionId } from '../../store/event-keys.js';
import type { TailEvent } from '../../store/event-tail.js';
import { utcTime } from '../../store/event-time.js';
import { type ControlOutcome, controlOutcome } from './control-outcome.js';

/** What exported records tell of their origin. */
export interface ExportSource {
  /** Id of the database whose events they are. */
  readonly instance: string;
  /** Version of this service. */
  readonly version: string;
}

/** What every format has of an event: names in place of keys. */
export interface PlainEvent {
  /** `control_execution_id`: unique in the namespace. */
  readonly id: string;
  readonly namespace: string;
  readonly agent: string;
  /** The time in UTC, as RFC 3339 with up to six digits of a second. */
  readonly time: string;
  /** The ids of its trace, if both have the form of W3C Trace Context. */
  readonly trace: { readonly traceId: string; readonly spanId: string } | null;
  /** A number as long as that is exact. */
  readonly position: number | bigint;
  readonly outcome: ControlOutcome;
}

const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/;
const SPAN_ID = /^(?!0{16})[0-9a-f]{16}$/;

export function plainEvent({ position, event }: Pick<TailEvent, 'position' | 'event'>): PlainEvent {
  const { control_execution_id: key, agent_name: agentKey, trace_id: traceId, span_id: spanId } = event;
  return {
    id: plainExecutionId(key, agentKey),
    namespace: namespaceOfKey(agentKey),
    agent: nameOfKey(agentKey),
    time: utcTime(event.timestamp.us).text,
    trace: TRACE_ID.test(traceId) && SPAN_ID.test(spanId) ? { traceId, spanId } : null,
    position: asNumber(position),
    outcome: controlOutcome(event),
  };
}

/** The event as clients get it, its namespace, and its position in the log. */
export function plainData({ position, event }: Pick<TailEvent, 'position' | 'event'>): JsonObject {
  return { position: asNumber(position), ...(forwardedEvent(event) as JsonObject) };
}

const asNumber = (position: bigint): number | bigint =>
  position <= Number.MAX_SAFE_INTEGER ? Number(position) : position;
