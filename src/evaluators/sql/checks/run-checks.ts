import type { Check } from './check.js';
import { checkColumnValues } from './column-values.js';
import { checkColumns } from './columns.js';
import { checkComplexity } from './complexity.js';
import { checkLimits } from './limits.js';
import { checkOperations } from './operations.js';
import { checkStatements } from './statements.js';
import { checkTables } from './tables.js';

/** In the order of the contract: the first violation decides. */
const CHECKS: readonly Check[] = [
  checkStatements,
  checkOperations,
  checkTables,
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
