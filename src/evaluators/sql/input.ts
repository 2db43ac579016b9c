import { textOf } from '../../evaluation/text.js';
import { isObject, type JsonObject, type JsonValue } from '../../json/json-value.js';

/** What is checked, and the context whose values a query may have to demand. */
export interface SqlInput {
  readonly query: string;
  readonly context: JsonObject;
}

const NO_CONTEXT: JsonObject = {};

/** The query in the data that a selector selected: contract 7.5, table "Input". Blank when there is none. */
export function readInput(data: JsonValue): SqlInput {
  if (data === null) return { query: '', context: NO_CONTEXT };
  if (!isObject(data)) return { query: textOf(data), context: NO_CONTEXT };
  const context = own(data, 'context');
  return {
    query: Object.hasOwn(data, 'input') && Object.hasOwn(data, 'type') ? stepQuery(data) : queryMember(data),
    context: isObject(context) ? context : NO_CONTEXT,
  };
}

function stepQuery(step: JsonObject): string {
  const input = own(step, 'input');
  if (isObject(input)) return queryMember(input);
  return textOrEmpty(input);
}

function queryMember(data: JsonObject): string {
  return textOrEmpty(own(data, 'query'));
}

function textOrEmpty(value: JsonValue | undefined): string {
  return value === undefined || value === null ? '' : textOf(value);
}

function own(data: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(data, key) ? data[key] : undefined;
}
