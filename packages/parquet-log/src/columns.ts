import type { SchemaElement } from 'hyparquet';

/** A value of a column; null only in an optional one. */
export type ParquetValue = string | number | bigint | boolean | null;

/** `int64` has bigints; `timestamp` too, in microseconds since 1970. */
export type ParquetType = 'text' | 'int32' | 'int64' | 'double' | 'boolean' | 'timestamp';

export interface ParquetColumn<Row> {
  readonly name: string;
  readonly type: ParquetType;
  readonly optional?: boolean;
  readonly value: (row: Row) => ParquetValue;
}

const TYPES: Readonly<Record<ParquetType, Omit<SchemaElement, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  int32: { type: 'INT32' },
  int64: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  timestamp: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MICROS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
};

/** The schema of a file: the element of a row, and one for each column. */
export function schemaOf(
  rowName: string,
  columns: readonly Omit<ParquetColumn<never>, 'value'>[],
): SchemaElement[] {
  const elements = columns.map(
    ({ name, type, optional = false }): SchemaElement => ({
      name,
      ...TYPES[type],
      repetition_type: optional ? 'OPTIONAL' : 'REQUIRED',
    }),
  );
  return [{ name: rowName, num_children: columns.length }, ...elements];
}
