import { readFileSync } from 'node:fs';
import { findUp } from '../../process/package-root.js';

/**
 * What the proto files say about services, RPCs, messages and members, by full name. Generated code keeps no comments,
 * so `npm run generate` writes them to a file of their own.
 */
const COMMENTS = new Map(
  Object.entries(
    JSON.parse(readFileSync(findUp('gen/openapi/comments.json'), 'utf8')) as Record<string, string>,
  ),
);

/** The comment of something by its full name; undefined when it has none. */
export function commentOf(fullName: string): string | undefined {
  return COMMENTS.get(fullName);
}

/** `{ description }` of something by its full name, or nothing, to be spread into a schema. */
export function descriptionOf(fullName: string): { description?: string } {
  const description = commentOf(fullName);
  return description === undefined ? {} : { description };
}
