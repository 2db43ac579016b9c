import { type JsonObject, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { nameOfKey, namespaceOfKey } from '../../contract/call/namespace.js';
import { EVENT_NAMES } from '../../contract/telemetry/attribute-names.js';
import { type ControlEvent, forwardedEvent } from '../store/event.js';
import { plainExecutionId } from '../store/event-keys.js';
import type { TailEvent } from '../store/event-tail.js';
import type { OtlpRecord } from './otlp-worker.js';

/** Severities of the data model of OpenTelemetry logs. */
const INFO = { severityNumber: 9, severityText: 'INFO' };
const WARN = { severityNumber: 13, severityText: 'WARN' };
const ERROR = { severityNumber: 17, severityText: 'ERROR' };

const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/;
const SPAN_ID = /^(?!0{16})[0-9a-f]{16}$/;

/** A stored event as a log record: its JSON is the body, what is searched for are attributes. */
export function otlpRecord({ position, event }: TailEvent): OtlpRecord {
  const { us } = event.timestamp;
  const { trace_id: traceId, span_id: spanId, decision_id: decision } = event;
  const isTraced = TRACE_ID.test(traceId) && SPAN_ID.test(spanId);
  return {
    time: [Number(us / 1_000_000n), Number(us % 1_000_000n) * 1_000],
    ...severityOf(event),
    ...(isTraced ? { trace: { traceId, spanId } } : {}),
    name: EVENT_NAMES.event,
    body: stringifyJson(forwardedEvent(event) as JsonObject),
    attributes: {
      [EVENT_NAMES.position]: String(position),
      [EVENT_NAMES.id]: plainExecutionId(event.control_execution_id, event.agent_name),
      [EVENT_NAMES.namespace]: namespaceOfKey(event.agent_name),
      [EVENT_NAMES.agent]: nameOfKey(event.agent_name),
      [EVENT_NAMES.rule]: String(event.control_id),
      [EVENT_NAMES.control]: event.control_name,
      [EVENT_NAMES.stage]: event.check_stage,
      [EVENT_NAMES.action]: event.action,
      [EVENT_NAMES.matched]: event.matched,
      ...(decision === null ? {} : { [EVENT_NAMES.decision]: decision }),
    },
  };
}

/** A failed check is an error, a match that stops or changes a step a warning. */
function severityOf({ error_message: error, matched, action }: ControlEvent) {
  if (error !== null) return ERROR;
  return matched && action !== 'observe' ? WARN : INFO;
}
