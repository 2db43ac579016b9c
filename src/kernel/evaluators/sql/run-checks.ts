import type {
  ColumnReference,
  Operation,
  SelectBlock,
  TableReference,
} from '../../../../packages/sql-reader/src/index.js';
import { checkAllowList } from './allow-list.js';
import { checkColumnValues } from './column-values.js';
import type { SqlConfig } from './config.js';
import { type Check, type Violation, violation } from './result.js';

/** Whether the required columns occur where they must; all statements are checked together. */
const checkColumns: Check = ({ statements }, config) => {
  const { requiredColumns, columnPresenceLogic, columnContext, columnContextScope, fold } = config;
  if (requiredColumns === null) return null;
  const counts = ({ clause, topLevel }: ColumnReference): boolean =>
    (columnContext === null || clause === columnContext) && (columnContextScope === 'all' || topLevel);
  const present = new Set<string>();
  for (const { columns } of statements) {
    for (const column of columns) if (counts(column)) present.add(fold(column.name));
  }
  const details = { required_columns: [...requiredColumns], column_context: columnContext };
  if (present.size === 0) return violation('No column is used where one is required', details);
  const found = requiredColumns.filter((name) => present.has(fold(name)));
  const enough = columnPresenceLogic === 'any' ? found.length > 0 : found.length === requiredColumns.length;
  if (enough) return null;
  const missing = requiredColumns.filter((name) => !found.includes(name));
  return violation(`Required columns are missing: ${missing.slice(0, 5).join(', ')}`, {
    ...details,
    found_columns: found,
    missing_columns: missing,
  });
};

/** How complex each statement is. A maximum of 0 is no maximum. */
const checkComplexity: Check = ({ statements }, config) => {
  const { maxSubqueryDepth, maxJoins, maxUnionCount } = config;
  for (const { depth, joins, setOperations } of statements) {
    const measures = [
      [depth, maxSubqueryDepth, 'subquery_depth', 'max_subquery_depth', 'levels of subqueries'],
      [joins, maxJoins, 'join_count', 'max_joins', 'joins'],
      [setOperations, maxUnionCount, 'union_count', 'max_union_count', 'set operations'],
    ] as const;
    for (const [count, maximum, member, limit, label] of measures) {
      if (maximum === null || maximum === 0 || count <= maximum) continue;
      const details = { [member]: count, [limit]: maximum };
      return violation(`${count} ${label}, more than ${maximum}`, details, 'query');
    }
  }
  return null;
};

/** How many rows each SELECT may return, subqueries included. */
const checkLimits: Check = ({ statements }, config) => {
  if (!config.requireLimit && config.maxLimit === null && config.maxResultWindow === null) return null;
  for (const { selects } of statements) {
    for (const select of selects) {
      const found = checkSelect(select, config);
      if (found !== null) return found;
    }
  }
  return null;
};

function checkSelect({ limit, nested, offset }: SelectBlock, config: SqlConfig): Violation | null {
  const { requireLimit, maxLimit, maxResultWindow } = config;
  if (limit.kind === 'none') {
    if (!requireLimit) return null;
    const kind = nested ? 'missing_limit_in_subquery' : 'missing_limit';
    const where = nested ? 'A subquery' : 'The query';
    return violation(`${where} has no LIMIT`, { violation: kind }, 'query');
  }
  if (limit.kind === 'opaque') return null;
  if (maxLimit !== null && limit.value > maxLimit) {
    const details = { limit_value: limit.value, max_limit: maxLimit };
    return violation(`LIMIT ${limit.value} is more than ${maxLimit}`, details, 'query');
  }
  const window = limit.value + offset;
  if (maxResultWindow === null || window <= maxResultWindow) return null;
  const reached = { limit_value: limit.value, offset_value: offset, result_window: window };
  return violation(
    `LIMIT and OFFSET reach row ${window}, beyond ${maxResultWindow}`,
    { ...reached, max_result_window: maxResultWindow },
    'query',
  );
}

/** The operations of the statements, at any depth. Dynamic SQL may perform any blocked operation. */
const checkOperations: Check = ({ statements }, { blockedOperations, allowedOperations }) => {
  if (blockedOperations === null && allowedOperations === null) return null;
  const operations = statements.flatMap((statement) => statement.operations);
  if (!operations.some(({ recognised }) => recognised)) return violation('No operation is recognised');
  const isBlocked = ({ name, also, dynamic }: Operation): boolean =>
    (allowedOperations !== null && !allowedOperations.has(name)) ||
    (blockedOperations !== null &&
      (dynamic || blockedOperations.has(name) || also.some((one) => blockedOperations.has(one))));
  const blocked = [...new Set(operations.filter(isBlocked).map(({ name }) => name))];
  if (blocked.length === 0) return null;
  return violation(`Operations that are not allowed: ${blocked.join(', ')}`, {
    operations: [...new Set(operations.map(({ name }) => name))],
    blocked,
  });
};

/** The number of statements in the text. */
const checkStatements: Check = ({ statementCount }, config) => {
  const details = { statement_count: statementCount };
  if (!config.allowMultiStatements && statementCount > 1)
    return violation(`${statementCount} statements, one is allowed`, details, 'query');
  const { maxStatements: most } = config;
  if (most === null || statementCount <= most) return null;
  const message = `${statementCount} statements, more than ${most}`;
  return violation(message, { ...details, max_statements: most }, 'query');
};

/** The tables and schemas used. */
const checkTables: Check = ({ statements }, config) => {
  const { allowedTables, blockedTables, allowedSchemas, blockedSchemas } = config;
  if ((allowedTables ?? blockedTables ?? allowedSchemas ?? blockedSchemas) === null) return null;
  const tables = statements.flatMap((statement) => statement.tables);
  const hidden = statements.some(
    ({ operations, hidesTables }) => hidesTables || operations.some(({ dynamic }) => dynamic),
  );
  const violations = [
    ...tables.flatMap((table) => problemsOf(table, config)),
    // Dynamic SQL may use any table.
    ...(hidden ? ['the tables of a statement are not visible'] : []),
  ];
  if (violations.length === 0) return null;
  return violation(`Tables that are not allowed: ${violations.slice(0, 5).join('; ')}`, {
    tables_accessed: tables.map(({ schema, table }) => ({ schema, table })),
    violations,
  });
};

function problemsOf({ schema, table }: TableReference, config: SqlConfig): string[] {
  const { fold, allowedTables, blockedTables, allowedSchemas, blockedSchemas } = config;
  if (schema !== null) {
    const name = fold(schema);
    if (blockedSchemas?.has(name)) return [`schema ${schema} is blocked`];
    if (allowedSchemas !== null && !allowedSchemas.has(name)) return [`schema ${schema} is not allowed`];
  }
  // A whole schema is named, not one of its tables.
  if (table === '') return allowedTables === null ? [] : [`schema ${schema} as a whole is not allowed`];
  const name = fold(table);
  if (blockedTables?.has(name)) return [`table ${table} is blocked`];
  return allowedTables !== null && !allowedTables.has(name) ? [`table ${table} is not allowed`] : [];
}

/** In the order of the contract: the first violation decides. */
const CHECKS: readonly Check[] = [
  checkStatements,
  checkOperations,
  checkTables,
  checkAllowList,
  checkColumns,
  checkColumnValues,
  checkLimits,
  checkComplexity,
];

export const runChecks: Check = (query, config, context) => {
  for (const check of CHECKS) {
    const found = check(query, config, context);
    if (found !== null) return found;
  }
  return null;
};
