import {
  type JsonObject,
  parseStoredJson,
  stringifyJson,
} from '../../../../packages/exact-json/src/index.js';
import { isStorable } from '../../../storage/database/text.js';
import { type ControlEvent, ORIGINS, STEP_MEMBERS } from './event.js';
import { facetsOf, readFacets } from './event-facets.js';

/**
 * What a column holds. A `text` is the member of the same name, as the client has sent it; a `name` is short, and has
 * only characters that every store can hold; `json` is the text of an object.
 */
export type ColumnType = 'text' | 'name' | 'json' | 'byte' | 'integer' | 'long' | 'double';

export interface EventColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly isNullable: boolean;
}

const column = (type: ColumnType, name: string): EventColumn => ({ name, type, isNullable: false });
const nullable = (type: ColumnType, name: string): EventColumn => ({ name, type, isNullable: true });

/** The columns of an event that every store has, in the order of `valuesOf` and `eventOf`. */
export const EVENT_COLUMNS: readonly EventColumn[] = [
  column('long', 'time_us'),
  column('name', 'time_text'),
  column('name', 'control_execution_id'),
  column('text', 'trace_id'),
  column('text', 'span_id'),
  column('name', 'agent_name'),
  column('integer', 'control_id'),
  column('text', 'control_name'),
  column('byte', 'facets'),
  column('byte', 'origin'),
  column('double', 'confidence'),
  nullable('double', 'duration_ms'),
  nullable('text', 'evaluator_name'),
  nullable('text', 'selector_path'),
  nullable('text', 'error_message'),
  column('json', 'metadata'),
  // The last ones, in the order of `STEP_MEMBERS`.
  nullable('text', 'step_type'),
  nullable('text', 'step_name'),
  nullable('text', 'session_id'),
  nullable('text', 'step_id'),
  nullable('long', 'revision'),
  nullable('text', 'decision_id'),
];

/** Index of the first column of the step. */
export const FIRST_STEP_COLUMN = EVENT_COLUMNS.length - STEP_MEMBERS.length;

/** A value of a row in JSON. */
export type JsonColumnValue = null | string | number;

/** The values of `EVENT_COLUMNS`. Numbers may be given in another form. */
export function valuesOf(
  event: ControlEvent,
  confidence = event.confidence,
  durationMs = event.execution_duration_ms,
): JsonColumnValue[] {
  return [
    // As text: it can exceed 2^53.
    String(event.timestamp.us),
    event.timestamp.text,
    event.control_execution_id,
    event.trace_id,
    event.span_id,
    event.agent_name,
    event.control_id,
    event.control_name,
    facetsOf(event),
    ORIGINS.indexOf(event.origin),
    confidence,
    durationMs,
    event.evaluator_name,
    event.selector_path,
    event.error_message,
    metadataText(event.metadata),
    event.step_type,
    event.step_name,
    event.session_id,
    event.step_id,
    event.revision,
    event.decision_id,
  ];
}

/** Most events have none. */
function metadataText(metadata: JsonObject): string {
  for (const _ in metadata) return stringifyJson(metadata);
  return '{}';
}

/** Reads the values of `EVENT_COLUMNS`, from an index of a row on; what a row lacks is null. */
export function eventOf(row: readonly unknown[], from: number): ControlEvent {
  const [us, text, id, trace_id, span_id, agent_name, control_id, control_name, facets, origin, ...more] =
    row.slice(from);
  const [confidence, duration, evaluator_name, selector_path, error_message, metadata, ...step] = more;
  const [step_type, step_name, session_id, step_id, revision, decision_id] = step;
  return {
    origin: ORIGINS[Number(origin)] ?? 'merged',
    control_execution_id: String(id),
    trace_id: String(trace_id),
    span_id: String(span_id),
    agent_name: String(agent_name),
    control_id: Number(control_id),
    control_name: String(control_name),
    ...readFacets(Number(facets)),
    confidence: Number(confidence),
    timestamp: { us: BigInt(String(us)), text: String(text) },
    execution_duration_ms: numberOrNull(duration),
    evaluator_name: textOrNull(evaluator_name),
    selector_path: textOrNull(selector_path),
    error_message: textOrNull(error_message),
    metadata: parseStoredJson(String(metadata)) as JsonObject,
    step_type: textOrNull(step_type),
    step_name: textOrNull(step_name),
    session_id: textOrNull(session_id),
    step_id: textOrNull(step_id),
    revision: numberOrNull(revision),
    decision_id: textOrNull(decision_id),
  };
}

function textOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

function numberOrNull(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

/** The length of a UUID. */
const MAX_EXECUTION_ID_LENGTH = 36;
const MAX_AGENT_NAME_LENGTH = 255;
const TEXTS = EVENT_COLUMNS.filter(({ type }) => type === 'text').map(
  ({ name }) => name as keyof ControlEvent,
);

/** Whether every store can hold an event unchanged. Deployed clients expect failure only on storing. */
export function isStorableEvent(event: ControlEvent): boolean {
  const { control_execution_id: id, agent_name } = event;
  if (id.length > MAX_EXECUTION_ID_LENGTH || agent_name.length > MAX_AGENT_NAME_LENGTH) return false;
  for (const name of TEXTS) {
    const text = event[name];
    if (text !== null && !isStorable(text as string)) return false;
  }
  return isStorable(id);
}

/** Memory of an event besides its unlimited texts: keys, numbers and texts with a limit. */
const FIXED_OCTETS = 400;

/** The approximate size of an event in bytes, in a query. */
export function octetsOf(lengthOf: (column: string) => string): string {
  const lengths = EVENT_COLUMNS.filter(({ type }) => type === 'text' || type === 'json').map(
    ({ name, isNullable }) => (isNullable ? `COALESCE(${lengthOf(name)}, 0)` : lengthOf(name)),
  );
  return [FIXED_OCTETS, ...lengths].join(' + ');
}
