import { createHash } from 'node:crypto';
import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { ParsedQuery } from '../../../../packages/sql-reader/src/index.js';
import type { Detail, EvaluatorResult } from '../../core/types.js';
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

/** Longest query quoted whole in metadata, in characters; of a longer one both ends are quoted. */
const SNIPPET_LENGTH = 200;
const SNIPPET_END = 100;

const passed = (message: string): EvaluatorResult => ({
  matched: false,
  confidence: 1,
  message,
  metadata: null,
  error: null,
});

export const NO_QUERY = passed('There is no query to check');
export const NOTHING_CHECKED = passed('No check is configured');
export const PASSED = passed('The query passes all checks');

/** The result of a violation. */
export function violated(found: Violation, query: string, detail: Detail): EvaluatorResult {
  return {
    matched: true,
    confidence: 1,
    message: found.message,
    metadata: detail === 'full' ? metadataOf(found, query) : null,
    error: null,
  };
}

function metadataOf({ common, details }: Violation, query: string): JsonObject {
  const characters = [...query];
  const first = characters.slice(0, SNIPPET_END).join('');
  if (common === 'query') return { ...details, query: first };
  const snippet =
    characters.length <= SNIPPET_LENGTH ? query : `${first}...${characters.slice(-SNIPPET_END).join('')}`;
  return {
    query_snippet: snippet,
    query_length: characters.length,
    query_hash: createHash('sha256').update(query).digest('hex').slice(0, 16),
    ...details,
  };
}
