import type { JsonObject } from '../../../json/json-value.js';
import type { ParsedQuery } from '../../../sql-reader/model.js';
import type { SqlConfig } from '../config.js';

/** What a check found. Metadata are made only for those who want them. */
export interface Violation {
  readonly message: string;
  /** The members of this kind of violation. */
  readonly details: JsonObject;
  /** Which members it has besides: those of every violation, only the beginning of the query, or none. */
  readonly common: 'snippet' | 'query';
}

/** A check looks at the model only: no I/O, no parser, no clock. Null when the query passes. */
export type Check = (query: ParsedQuery, config: SqlConfig, context: JsonObject) => Violation | null;

export function violation(
  message: string,
  details: JsonObject = {},
  common: Violation['common'] = 'snippet',
): Violation {
  return { message, details, common };
}
