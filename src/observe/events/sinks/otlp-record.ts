import { type JsonObject, stringifyJson } from '../../../../packages/exact-json/src/index.js';
import { EVENT_NAMES } from '../../../contract/telemetry/attribute-names.js';
import { type ControlEvent, forwardedEvent } from '../store/event.js';
import type { TailEvent } from '../store/event-tail.js';
import type { ControlOutcome } from './formats/control-outcome.js';
import { plainEvent } from './formats/plain-event.js';
import type { OtlpRecord } from './otlp-worker.js';

/** Severities of the data model of OpenTelemetry logs. */
const INFO = { severityNumber: 9, severityText: 'INFO' };
const WARN = { severityNumber: 13, severityText: 'WARN' };
const ERROR = { severityNumber: 17, severityText: 'ERROR' };

/** A stored event as a log record: its JSON is the body, what is searched for are attributes. */
export function otlpRecord(tail: TailEvent): OtlpRecord {
  const { position, event } = tail;
  const { us } = event.timestamp;
  const { decision_id: decision } = event;
  const { id, namespace, agent, trace, outcome } = plainEvent(tail);
  return {
    time: [Number(us / 1_000_000n), Number(us % 1_000_000n) * 1_000],
    ...severityOf(event, outcome),
    ...(trace === null ? {} : { trace }),
    name: EVENT_NAMES.event,
    body: stringifyJson(forwardedEvent(event) as JsonObject),
    attributes: {
      [EVENT_NAMES.position]: String(position),
      [EVENT_NAMES.id]: id,
      [EVENT_NAMES.namespace]: namespace,
      [EVENT_NAMES.agent]: agent,
      [EVENT_NAMES.rule]: String(event.control_id),
      [EVENT_NAMES.control]: event.control_name,
      [EVENT_NAMES.stage]: event.check_stage,
      [EVENT_NAMES.action]: event.action,
      [EVENT_NAMES.matched]: event.matched,
      [EVENT_NAMES.outcome]: outcome,
      ...(decision === null ? {} : { [EVENT_NAMES.decision]: decision }),
    },
  };
}

/** A failed check is an error, a match that stops or changes a step a warning. */
function severityOf({ error_message: error }: ControlEvent, outcome: ControlOutcome) {
  if (error !== null) return ERROR;
  return UNCHANGED.has(outcome) ? INFO : WARN;
}
const UNCHANGED: ReadonlySet<ControlOutcome> = new Set(['allow', 'observe', 'approve']);
