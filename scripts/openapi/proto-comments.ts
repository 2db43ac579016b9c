import { readFileSync } from 'node:fs';
import { findUp } from '../../src/contract/runtime/package-root.js';

/**
 * Comments of services, RPCs, messages and members in the proto files, by full name. Generated code has no
 * comments, so `npm run generate` writes them to a separate file.
 */
const COMMENTS = new Map(
  Object.entries(
    JSON.parse(readFileSync(findUp('gen/openapi/comments.json'), 'utf8')) as Record<string, string>,
  ),
);

/** The comment for a full name; undefined if there is none. */
export function commentOf(fullName: string): string | undefined {
  return COMMENTS.get(fullName);
}

/** `{ description }` for a full name, or an empty object, to be spread into a schema. */
export function descriptionOf(fullName: string): { description?: string } {
  const description = commentOf(fullName);
  return description === undefined ? {} : { description };
}
