import { textOf } from '../../core/text.js';
import { isObject, type JsonObject, type JsonValue } from '../../json/json-value.js';

/** What is checked, and the context whose values a query may have to demand. */
export interface SqlInput {
  /** Blank when there is none. */
  readonly query: string;
  readonly context: JsonObject;
  /** The object that the query was looked for in: other texts in it may be statements as well. Null for other data. */
  readonly around: JsonObject | null;
}

const NO_CONTEXT: JsonObject = {};

/**
 * The query in selected data: contract 7.5, table "Input". Of a whole step, which only the selector `*` selects, the
 * input is the data and the context of the step is the context; what the members of other data are called changes
 * nothing.
 */
export function readInput(data: JsonValue, isWholeStep: boolean): SqlInput {
  if (!isWholeStep) return readData(data, isObject(data) ? own(data, 'context') : undefined);
  return isObject(data)
    ? readData(own(data, 'input') ?? null, own(data, 'context'))
    : readData(data, undefined);
}

function readData(data: JsonValue, given: JsonValue | undefined): SqlInput {
  const context = isObject(given) ? given : NO_CONTEXT;
  if (isObject(data)) return { query: textOrEmpty(own(data, 'query')), context, around: data };
  return { query: textOrEmpty(data), context, around: null };
}

function textOrEmpty(value: JsonValue | undefined): string {
  return value === undefined || value === null ? '' : textOf(value);
}

function own(data: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(data, key) ? data[key] : undefined;
}
