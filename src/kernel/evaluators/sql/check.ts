import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { ParsedQuery } from '../../../../packages/sql-reader/src/index.js';
import type { SqlConfig } from './config.js';

/** Violation found by a check. Metadata are created only on request. */
export interface Violation {
  readonly message: string;
  /** The members of this kind of violation. */
  readonly details: JsonObject;
  /** Additional members: those of every violation, or only the beginning of the query. */
  readonly common: 'snippet' | 'query';
}

/** A check depends on the model only: no I/O, no parser, no clock. Null when the query passes. */
export type Check = (query: ParsedQuery, config: SqlConfig, context: JsonObject) => Violation | null;

export function violation(
  message: string,
  details: JsonObject = {},
  common: Violation['common'] = 'snippet',
): Violation {
  return { message, details, common };
}
