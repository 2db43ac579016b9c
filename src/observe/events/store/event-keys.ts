import { DEFAULT_NAMESPACE, type Namespace, nameOfKey } from '../../../contract/call/namespace.js';

/** Whose events are read: those of one namespace, or all of them, for the service itself. */
export type EventScope = Namespace | 'all';

/**
 * An id of `default` that would read as the key of an id of another namespace, after any slashes in front. UUIDs are none.
 */
const AMBIGUOUS_ID = /^\/*[a-z0-9-]{1,63}\//;
const ESCAPE = '/';

/**
 * The key of the id of a check: ids are unique within a namespace. In `default` it is the id itself; one that looks like
 * a key of another namespace gets a slash in front, which no such key has.
 */
export function executionKey(namespace: Namespace, id: string): string {
  if (!namespace.isDefault) return namespace.keyOf(id);
  return id.includes(ESCAPE) && AMBIGUOUS_ID.test(id) ? ESCAPE + id : id;
}

/** The id in a key of `executionKey`, by the key of the agent of its event. */
export function plainExecutionId(key: string, agentKey: string): string {
  if (!DEFAULT_NAMESPACE.contains(agentKey)) return nameOfKey(key);
  return key.startsWith(ESCAPE) && AMBIGUOUS_ID.test(key.slice(1)) ? key.slice(1) : key;
}

/** An event of a caller of a namespace as it is stored: with the keys of its agent and its id. */
export function keyedEvent<
  Event extends { readonly control_execution_id: string; readonly agent_name: string },
>(event: Event, namespace: Namespace): Event {
  return {
    ...event,
    control_execution_id: executionKey(namespace, event.control_execution_id),
    agent_name: namespace.agentKey(event.agent_name),
  };
}

/** Whether an event is stored as it is. */
export function isOwnKey(namespace: Namespace, id: string): boolean {
  return namespace.isDefault && !id.includes(ESCAPE);
}
