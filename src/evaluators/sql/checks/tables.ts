import type { TableReference } from '../../../sql-reader/model.js';
import type { SqlConfig } from '../config.js';
import { type Check, violation } from './check.js';

/** Which tables and schemas are used. */
export const checkTables: Check = ({ statements }, config) => {
  const { allowedTables, blockedTables, allowedSchemas, blockedSchemas } = config;
  if (
    allowedTables === null &&
    blockedTables === null &&
    allowedSchemas === null &&
    blockedSchemas === null
  ) {
    return null;
  }
  const tables = statements.flatMap((statement) => statement.tables);
  const hidden = statements.some(
    ({ operations, hidesTables }) => hidesTables || operations.some(({ dynamic }) => dynamic),
  );
  const violations = [
    ...tables.flatMap((table) => problemsOf(table, config)),
    // Unseen text may use any table.
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
  // A whole schema is named: none of its tables in particular.
  if (table === '') return allowedTables === null ? [] : [`schema ${schema} as a whole is not allowed`];
  const name = fold(table);
  if (blockedTables?.has(name)) return [`table ${table} is blocked`];
  return allowedTables !== null && !allowedTables.has(name) ? [`table ${table} is not allowed`] : [];
}
