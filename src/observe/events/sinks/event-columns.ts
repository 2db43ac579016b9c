import { stringifyJson } from '../../../../packages/exact-json/src/index.js';
import type { ParquetColumn, ParquetType, ParquetValue } from '../../../../packages/parquet-log/src/index.js';
import { nameOfKey, namespaceOfKey } from '../../../contract/call/namespace.js';
import type { ControlEvent } from '../store/event.js';
import { plainExecutionId } from '../store/event-keys.js';
import type { TailEvent } from '../store/event-tail.js';

type Column = ParquetColumn<TailEvent>;

/** A member of every event, as it is. */
const member = (name: keyof ControlEvent, type: ParquetType): Column => ({
  name,
  type,
  value: ({ event }) => event[name] as ParquetValue,
});
/** A member that is null in some events. */
const optional = (name: keyof ControlEvent, type: ParquetType): Column => ({
  ...member(name, type),
  optional: true,
});

/** Columns of the Parquet files: the members of an event as clients get them, its position and its namespace. */
export const EVENT_COLUMNS: readonly Column[] = [
  { name: 'position', type: 'int64', value: ({ position }) => position },
  {
    name: 'control_execution_id',
    type: 'text',
    value: ({ event }) => plainExecutionId(event.control_execution_id, event.agent_name),
  },
  member('trace_id', 'text'),
  member('span_id', 'text'),
  { name: 'agent_name', type: 'text', value: ({ event }) => nameOfKey(event.agent_name) },
  member('control_id', 'int32'),
  member('control_name', 'text'),
  member('check_stage', 'text'),
  member('applies_to', 'text'),
  member('action', 'text'),
  member('matched', 'boolean'),
  member('confidence', 'double'),
  { name: 'timestamp', type: 'timestamp', value: ({ event }) => event.timestamp.us },
  // As clients get it, with its own offset.
  { name: 'timestamp_text', type: 'text', value: ({ event }) => event.timestamp.text },
  optional('execution_duration_ms', 'double'),
  optional('evaluator_name', 'text'),
  optional('selector_path', 'text'),
  optional('error_message', 'text'),
  // The JSON text of an object.
  { name: 'metadata', type: 'text', value: ({ event }) => stringifyJson(event.metadata) },
  optional('step_type', 'text'),
  optional('step_name', 'text'),
  optional('session_id', 'text'),
  optional('step_id', 'text'),
  {
    ...optional('revision', 'int64'),
    value: ({ event }) => (event.revision === null ? null : BigInt(event.revision)),
  },
  optional('decision_id', 'text'),
  { name: 'namespace', type: 'text', value: ({ event }) => namespaceOfKey(event.agent_name) },
];
