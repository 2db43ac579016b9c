import type { Operation } from '../../../sql-reader/model.js';
import { type Check, violation } from './check.js';

/** What the statements do, anywhere in them. Text that is run unseen may do anything that is blocked. */
export const checkOperations: Check = ({ statements }, { blockedOperations, allowedOperations }) => {
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
