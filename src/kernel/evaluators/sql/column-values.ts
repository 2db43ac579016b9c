import {
  isContainer,
  isObject,
  type JsonObject,
  type JsonValue,
} from '../../../../packages/exact-json/src/index.js';
import type { EqualityTest, Statement, TableReference } from '../../../../packages/sql-reader/src/index.js';
import { textOf } from '../../core/data-texts.js';
import type { ColumnValueRule, SqlConfig } from './config.js';
import { type Check, type Violation, violation } from './result.js';

/** Whether each statement restricts its rows to the context (a tenant filter, for example). */
export const checkColumnValues: Check = ({ statements }, config, context) => {
  const { columnValues } = config;
  if (columnValues === null) return null;
  for (const [index, statement] of statements.entries()) {
    if (!touchesTable(statement)) continue;
    for (const rule of columnValues) {
      const found = checkRule(statement, rule, config, context);
      if (found !== null) return describe(found.kind, found.more, rule, index);
    }
  }
  return null;
};

function touchesTable({ tables, operations, hidesTables }: Statement): boolean {
  return tables.length > 0 || hidesTables || operations.some(({ dynamic }) => dynamic);
}

function describe(kind: string, more: JsonObject, rule: ColumnValueRule, index: number): Violation {
  return violation(`Column ${rule.name} is not held to the value of the context: ${kind}`, {
    violation: kind,
    statement_index: index,
    required_column: rule.name,
    context_key: rule.contextKey,
    ...more,
  });
}

interface Problem {
  readonly kind: string;
  readonly more: JsonObject;
}

function checkRule(
  statement: Statement,
  rule: ColumnValueRule,
  { fold }: SqlConfig,
  context: JsonObject,
): Problem | null {
  const { filter, tables } = statement;
  if (filter === null) return { kind: 'missing_top_level_where', more: {} };
  if (!Object.hasOwn(context, rule.contextKey)) return { kind: 'missing_context_value', more: {} };
  const value = context[rule.contextKey] ?? null;
  const wanted = scalarText(value);
  if (wanted === null) {
    return { kind: 'invalid_context_value_type', more: { context_value_type: typeOf(value) } };
  }
  if (rule.table === null && tables.length > 1) {
    const base = tables.map(({ schema, table }) => (schema === null ? table : `${schema}.${table}`));
    return { kind: 'ambiguous_unqualified_column', more: { base_tables: base } };
  }
  // Every reference to the table must be restricted: a second one, or one in a subquery, reads other rows.
  const guarded = tables.filter(({ table }) => rule.table === null || fold(table) === fold(rule.table));
  const isHeld = (table: TableReference): boolean =>
    table.topLevel &&
    filter.some(
      (test) => test.text === wanted && fold(test.column) === fold(rule.column) && isTestOf(test, table),
    );
  const isTestOf = ({ qualifier }: EqualityTest, table: TableReference): boolean =>
    qualifier === null ? tables.length === 1 : fold(qualifier) === fold(table.alias ?? table.table);
  if (guarded.length > 0 && guarded.every(isHeld)) return null;
  return { kind: 'missing_or_invalid_value_predicate', more: {} };
}

/** The required text of a literal; null for a value that is not a scalar. */
function scalarText(value: JsonValue): string | null {
  if (value === true) return 'True';
  if (value === false) return 'False';
  return value === null || isContainer(value) ? null : textOf(value);
}

function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  return isObject(value) ? 'object' : 'array';
}
