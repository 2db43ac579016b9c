import type { SelectBlock } from '../../../sql-reader/model.js';
import type { SqlConfig } from '../config.js';
import { type Check, type Violation, violation } from './check.js';

/** How many rows each SELECT may return, subqueries included. */
export const checkLimits: Check = ({ statements }, config) => {
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
  return violation(
    `LIMIT and OFFSET reach row ${window}, beyond ${maxResultWindow}`,
    {
      limit_value: limit.value,
      offset_value: offset,
      result_window: window,
      max_result_window: maxResultWindow,
    },
    'query',
  );
}
