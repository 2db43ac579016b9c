import { z } from 'zod';
import { isObject, type JsonObject } from '../../../../packages/exact-json/src/index.js';
import { DIALECTS } from '../../../../packages/sql-reader/src/index.js';
import {
  boolean,
  field,
  type IssueSink,
  list,
  nullable,
  oneOf,
  refuse,
  report,
  text,
  withDefault,
} from '../../../contract/input/fields.js';
import { integer } from '../../../contract/input/numbers.js';

const DDL = ['CREATE', 'ALTER', 'DROP', 'RENAME', 'TRUNCATE', 'COMMENT'];
const DCL = ['GRANT', 'REVOKE'];

/** A column that must equal a value of the context. */
export interface ColumnValueRule {
  /** As configured: `column` or `table.column`. */
  readonly name: string;
  readonly table: string | null;
  readonly column: string;
  readonly contextKey: string;
}

const flag = (description: string) => withDefault(boolean(), false).meta({ description });
const names = (description: string) => nullable(list(text())).meta({ description });
const number = (description: string) => nullable(integer()).meta({ description });
const positive = (description: string) =>
  nullable(
    field(
      (value, sink) => {
        const read = integer().safeParse(value, { reportInput: true });
        if (!read.success) {
          for (const issue of read.error.issues) sink.issues.push(issue as z.core.$ZodRawIssue);
          return z.NEVER;
        }
        return read.data > 0 ? read.data : refuse(sink, 'value_error', 'must be greater than 0', value);
      },
      { type: 'integer', exclusiveMinimum: 0 },
    ),
  ).meta({ description });

const columnValues = nullable(
  field<ColumnValueRule[]>(
    (value, sink) => {
      if (!isObject(value)) return refuse(sink, 'dict_type', 'must be an object', value);
      return Object.entries(value).flatMap(([name, key]) => columnValueRule(name, key, sink) ?? []);
    },
    { type: 'object', additionalProperties: { type: 'string' } },
  ),
);

function columnValueRule(name: string, key: unknown, sink: IssueSink): ColumnValueRule | null {
  if (typeof key !== 'string') {
    report(sink, 'string_type', 'must be a string', key, [name]);
    return null;
  }
  const parts = name.split('.').map((part) => part.trim());
  if (parts.length > 2 || parts.includes('')) {
    report(sink, 'value_error', 'a column is named column or table.column', name, []);
    return null;
  }
  if (key.trim() === '') {
    report(sink, 'value_error', `the context key of ${name} must not be blank`, key, []);
    return null;
  }
  const [first, second] = parts as [string, string | undefined];
  return {
    name,
    table: second === undefined ? null : first,
    column: second ?? first,
    contextKey: key,
  };
}

/** The configuration of contract 7.5. */
export const sqlConfigSchema = z
  .object({
    allow_multi_statements: withDefault(boolean(), true).meta({
      description: 'Whether a text may hold more than one statement. Default true.',
    }),
    max_statements: positive('Most statements of one text; not together with allow_multi_statements false.'),
    blocked_operations: names('Operations that match, such as DROP; in any case. Not next to an allow list.'),
    allowed_operations: names('The only operations that do not match. Not next to a block list.'),
    block_ddl: flag(`Adds ${DDL.join(', ')} to the blocked operations. Default false.`),
    block_dcl: flag(`Adds ${DCL.join(' and ')} to the blocked operations. Default false.`),
    allowed_tables: names('The only tables, without schema, that do not match.'),
    blocked_tables: names('Tables, without schema, that match. Not next to allowed_tables.'),
    allowed_schemas: names('The only schemas that do not match; tables without schema are not looked at.'),
    blocked_schemas: names('Schemas that match. Not next to allowed_schemas.'),
    unknown_functions: withDefault(oneOf(['deny', 'allow']), 'deny').meta({
      description:
        'Under an allow list: whether functions match that are not known to be pure, casts to types of users and their operators included. Default deny.',
    }),
    required_columns: names('Columns that must occur, in the context of column_context.'),
    column_presence_logic: withDefault(oneOf(['any', 'all']), 'any').meta({
      description: 'Whether any or all of required_columns must occur. Default any.',
    }),
    column_context: nullable(oneOf(['select', 'where'])).meta({
      description: 'Where required_columns must occur; null for anywhere.',
    }),
    column_context_scope: withDefault(oneOf(['top_level', 'all']), 'all').meta({
      description: 'With top_level only a plain SELECT itself counts, nothing nested in it. Default all.',
    }),
    required_column_values: columnValues.meta({
      description:
        'Column (or table.column) to context key: the top-level WHERE must demand that the column equals that value.',
    }),
    require_limit: flag('Whether every SELECT must have a LIMIT. Default false.'),
    max_limit: positive('Greatest literal LIMIT, in rows.'),
    max_result_window: number('Greatest sum of the literal LIMIT and OFFSET, in rows.'),
    case_sensitive: flag('Whether the case of names of tables, schemas and columns matters. Default false.'),
    dialect: withDefault(oneOf(DIALECTS), 'postgres').meta({ description: 'Default postgres.' }),
    max_subquery_depth: number('Deepest nesting of SELECTs; a plain one has 0. 0 switches the check off.'),
    max_joins: number('Most joins of one statement, commas in FROM included. 0 switches the check off.'),
    max_union_count: number('Most UNION, INTERSECT and EXCEPT of one statement. 0 switches the check off.'),
  })
  .superRefine((config, sink) => {
    const both = (left: keyof typeof config, right: keyof typeof config): void => {
      if (isFilled(config[left]) && isFilled(config[right])) {
        report(sink, 'value_error', `${left} and ${right} exclude each other`, config);
      }
    };
    both('blocked_operations', 'allowed_operations');
    both('blocked_tables', 'allowed_tables');
    both('blocked_schemas', 'allowed_schemas');
    if (!config.allow_multi_statements && config.max_statements !== undefined) {
      report(sink, 'value_error', 'max_statements needs allow_multi_statements', config);
    }
  });

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

/** A configuration as used by the checks; null for absent members. */
export function readSqlConfig(config: JsonObject) {
  const read = sqlConfigSchema.parse(config);
  const fold = read.case_sensitive ? (name: string) => name : (name: string) => name.toLowerCase();
  const filled = <T>(items: readonly T[] | undefined): readonly T[] | null =>
    items !== undefined && items.length > 0 ? items : null;
  const nameSet = (items: readonly string[] | undefined): ReadonlySet<string> | null => {
    const given = filled(items);
    return given === null ? null : new Set(given.map(fold));
  };
  const operations = (items: readonly string[] | undefined) =>
    (items ?? []).map((name) => name.toUpperCase());
  const blocked = new Set([
    ...operations(read.blocked_operations),
    ...(read.block_ddl ? DDL : []),
    ...(read.block_dcl ? DCL : []),
  ]);
  const allowed = new Set(operations(read.allowed_operations));
  return {
    dialect: read.dialect,
    fold,
    allowMultiStatements: read.allow_multi_statements,
    maxStatements: read.max_statements ?? null,
    blockedOperations: blocked.size > 0 ? blocked : null,
    allowedOperations: allowed.size > 0 ? allowed : null,
    allowedTables: nameSet(read.allowed_tables),
    blockedTables: nameSet(read.blocked_tables),
    allowedSchemas: nameSet(read.allowed_schemas),
    blockedSchemas: nameSet(read.blocked_schemas),
    unknownFunctions: read.unknown_functions,
    requiredColumns: filled(read.required_columns),
    columnPresenceLogic: read.column_presence_logic,
    columnContext: read.column_context ?? null,
    columnContextScope: read.column_context_scope,
    columnValues: filled(read.required_column_values),
    requireLimit: read.require_limit,
    maxLimit: read.max_limit ?? null,
    maxResultWindow: read.max_result_window ?? null,
    maxSubqueryDepth: read.max_subquery_depth ?? null,
    maxJoins: read.max_joins ?? null,
    maxUnionCount: read.max_union_count ?? null,
  };
}

export type SqlConfig = ReturnType<typeof readSqlConfig>;

/** Whether any check is configured. A maximum of 0 checks nothing, but the text is still parsed. */
export function isAnythingChecked(config: SqlConfig): boolean {
  return (
    !config.allowMultiStatements ||
    config.requireLimit ||
    [
      config.maxStatements,
      config.blockedOperations,
      config.allowedOperations,
      config.allowedTables,
      config.blockedTables,
      config.allowedSchemas,
      config.blockedSchemas,
      config.requiredColumns,
      config.columnValues,
      config.maxLimit,
      config.maxResultWindow,
      config.maxSubqueryDepth,
      config.maxJoins,
      config.maxUnionCount,
    ].some((one) => one !== null)
  );
}
