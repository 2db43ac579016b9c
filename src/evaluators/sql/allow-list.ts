import type { Use } from '../../../packages/sql-reader/src/index.js';
import { type Check, violation } from './check.js';
import type { SqlConfig } from './config.js';
import { isKnown } from './known-names.js';

/** Longest list of names in a message. */
const MAX_NAMED = 5;
/** Operations that allow what a SELECT does besides reading. */
const LOCKING = ['LOCK', 'UPDATE', 'DELETE'];
const ASSIGNING = ['SET'];

/** Whether the configuration says what is allowed: then all else is not, and what is not understood neither. */
export function hasAllowList(config: SqlConfig): boolean {
  return config.allowedOperations !== null || config.allowedTables !== null || config.allowedSchemas !== null;
}

/**
 * Under an allow list: whether each statement consists of what is understood, calls only functions that are known to be
 * pure, and, if its operations are restricted, keeps no rows locked and assigns nothing that these do not allow.
 */
export const checkAllowList: Check = ({ statements }, config) => {
  if (!hasAllowList(config)) return null;
  const uses = statements.flatMap((statement) => statement.uses);
  const named = (kinds: readonly Use['kind'][], isFine: (use: Use) => boolean = () => false): string[] => [
    ...new Set(uses.filter((use) => kinds.includes(use.kind) && !isFine(use)).map(nameOf)),
  ];
  const unread = named(['unread']);
  if (unread.length > 0) {
    return violation(`Parts of the statement are not understood: ${listed(unread)}`, {
      violation: 'unreadable',
      parts: unread.slice(0, MAX_NAMED),
    });
  }
  const { allowedOperations: allowed } = config;
  if (allowed !== null) {
    const allows = (operations: readonly string[]) => operations.some((name) => allowed.has(name));
    const locks = allows(LOCKING) ? [] : named(['lock']);
    if (locks.length > 0) {
      return violation(`Rows are locked: ${listed(locks)}`, { violation: 'row_lock', parts: locks });
    }
    const assignments = allows(ASSIGNING) ? [] : named(['assignment']);
    if (assignments.length > 0) {
      return violation(`A value is assigned: ${listed(assignments)}`, {
        violation: 'assignment',
        parts: assignments,
      });
    }
  }
  if (config.unknownFunctions === 'allow') return null;
  const unknown = named(['function', 'operator', 'type'], (use) => isKnown(use, config.dialect));
  if (unknown.length === 0) return null;
  return violation(`Functions that are not known to be pure: ${listed(unknown)}`, {
    violation: 'unknown_function',
    functions: unknown.slice(0, MAX_NAMED),
  });
};

function listed(names: readonly string[]): string {
  return names.slice(0, MAX_NAMED).join(', ');
}

/** A cast to a type and an operator call functions, too. */
function nameOf({ kind, name, schema }: Use): string {
  const full = schema === null ? name : `${schema}.${name}`;
  if (kind === 'type') return `type ${full}`;
  return kind === 'operator' ? `operator ${full}` : full;
}
