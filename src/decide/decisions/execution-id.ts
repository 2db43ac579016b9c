import { createRandomIds } from './random-id.js';

/**
 * Creates random UUIDs (version 4), like `randomUUID` of Node.js. That returns a tree of twenty short texts,
 * and flattening it, when the id is written, costs as much again; a verdict may have an id for each of many
 * controls.
 */
export function createExecutionIds(): () => string {
  const next = createRandomIds();
  return () => next().toString();
}
