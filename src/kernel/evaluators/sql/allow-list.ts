import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { Use } from '../../../../packages/sql-reader/src/index.js';
import type { SqlConfig } from './config.js';
import { isKnown } from './known-names.js';
import { type Check, type Violation, violation } from './result.js';

/** Longest list of names in a message. */
const MAX_NAMED = 5;
/** Operations that allow what a SELECT does besides reading. */
const LOCKING = ['LOCK', 'UPDATE', 'DELETE'];
const ASSIGNING = ['SET'];
/** What calls functions. */
const CALLS: ReadonlySet<Use['kind']> = new Set(['function', 'operator', 'type']);

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
  const { allowedOperations: allowed, unknownFunctions, dialect } = config;
  const uses = statements.flatMap((statement) => statement.uses);
  const namesOf = (isMeant: (use: Use) => boolean): string[] => [
    ...new Set(uses.filter(isMeant).map(nameOf)),
  ];
  const told = (what: string, names: readonly string[], details: JsonObject): Violation | null =>
    names.length === 0 ? null : violation(`${what}: ${names.slice(0, MAX_NAMED).join(', ')}`, details);
  const refuses = (operations: readonly string[]): boolean =>
    allowed !== null && !operations.some((name) => allowed.has(name));

  const unread = namesOf(({ kind }) => kind === 'unread');
  const locks = namesOf(({ kind }) => kind === 'lock' && refuses(LOCKING));
  const assigned = namesOf(({ kind }) => kind === 'assignment' && refuses(ASSIGNING));
  const calls = (use: Use): boolean => CALLS.has(use.kind) && !isKnown(use, dialect);
  const unknown = unknownFunctions === 'allow' ? [] : namesOf(calls);
  return (
    told('Parts of the statement are not understood', unread, {
      violation: 'unreadable',
      parts: unread.slice(0, MAX_NAMED),
    }) ??
    told('Rows are locked', locks, { violation: 'row_lock', parts: locks }) ??
    told('A value is assigned', assigned, { violation: 'assignment', parts: assigned }) ??
    told('Functions that are not known to be pure', unknown, {
      violation: 'unknown_function',
      functions: unknown.slice(0, MAX_NAMED),
    })
  );
};

/** A cast to a type and an operator call functions, too. */
function nameOf({ kind, name, schema }: Use): string {
  const full = schema === null ? name : `${schema}.${name}`;
  if (kind === 'type') return `type ${full}`;
  return kind === 'operator' ? `operator ${full}` : full;
}
