import type { AgentLimit } from '../../contract/call/agent-limit.js';
import { type ErrorItem, ServiceError } from '../../contract/errors/service-error.js';
import { MAX_ERROR_ITEMS } from '../../contract/input/items.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { type ControlDefinition, leavesOf, type PlacedLeaf } from './definition/definition.js';

/** A reference of a definition to the registration of an agent that is missing or does not match. */
export interface ReferenceProblem {
  /** The error for a definition with this problem only. */
  readonly error: ServiceError;
  /** The problem next to others. */
  readonly item: ErrorItem;
}

/**
 * The problems of leaves that refer to registrations of agents. Throws AUTH_INSUFFICIENT_PRIVILEGES for an agent beyond
 * the limit of the caller.
 */
export type ReferenceProblems = (
  scope: Scoped,
  leaves: Iterable<PlacedLeaf>,
  limit: AgentLimit | null,
) => Promise<ReferenceProblem[]>;

/** Throws the error of the first problem of a definition, with the items of all. */
export async function checkReferences(
  problemsOf: ReferenceProblems,
  scope: Scoped,
  { condition }: ControlDefinition,
  limit: AgentLimit | null,
): Promise<void> {
  const [first, ...others] = await problemsOf(scope, leavesOf(condition, 'data.condition'), limit);
  if (first === undefined) return;
  throw others.length === 0
    ? first.error
    : withItems(
        first.error,
        [first.item],
        others.map(({ item }) => item),
      );
}

/** The error with further items; `own` are its own unless it has some. At most MAX_ERROR_ITEMS in all. */
export function withItems(
  error: ServiceError,
  own: readonly ErrorItem[],
  more: readonly ErrorItem[],
): ServiceError {
  if (more.length === 0) return error;
  const items = [...(error.options.items ?? own), ...more].slice(0, MAX_ERROR_ITEMS);
  return new ServiceError(error.code, { ...error.options, items });
}
