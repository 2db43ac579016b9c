/**
 * Columns of the Parquet files: the members of an event as clients get them, and its position. Plain JavaScript,
 * because the thread that writes the files reads it.
 */

/**
 * @typedef {import('hyparquet').SchemaElement} SchemaElement
 * @typedef {Omit<SchemaElement, 'repetition_type'> & { name: string }} ColumnType
 */

/** @type {(name: string) => ColumnType} */
const text = (name) => ({
  name,
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
});
/** @type {(name: string) => ColumnType} */
const long = (name) => ({ name, type: 'INT64' });
/** @type {(name: string) => ColumnType} */
const double = (name) => ({ name, type: 'DOUBLE' });
/** @type {(column: ColumnType) => SchemaElement} */
const required = (column) => ({ ...column, repetition_type: 'REQUIRED' });
/** @type {(column: ColumnType) => SchemaElement} */
const optional = (column) => ({ ...column, repetition_type: 'OPTIONAL' });

/** In the order of the file. */
export const COLUMNS = [
  required(long('position')),
  required(text('control_execution_id')),
  required(text('trace_id')),
  required(text('span_id')),
  required(text('agent_name')),
  required({ name: 'control_id', type: 'INT32' }),
  required(text('control_name')),
  required(text('check_stage')),
  required(text('applies_to')),
  required(text('action')),
  required({ name: 'matched', type: 'BOOLEAN' }),
  required(double('confidence')),
  required({
    name: 'timestamp',
    type: 'INT64',
    converted_type: 'TIMESTAMP_MICROS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  }),
  // As clients get it, with its own offset.
  required(text('timestamp_text')),
  optional(double('execution_duration_ms')),
  optional(text('evaluator_name')),
  optional(text('selector_path')),
  optional(text('error_message')),
  // The JSON text of an object.
  required(text('metadata')),
  optional(text('step_type')),
  optional(text('step_name')),
  optional(text('session_id')),
  optional(text('step_id')),
  optional(long('revision')),
  optional(text('decision_id')),
];
