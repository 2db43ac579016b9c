import type { ColumnReference } from '../../../sql-reader/model.js';
import { type Check, violation } from './check.js';

/** Whether the required columns occur where they must; all statements are taken together. */
export const checkColumns: Check = ({ statements }, config) => {
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
