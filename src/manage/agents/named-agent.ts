import { type AgentKey, nameOfKey } from '../../contract/call/namespace.js';

/** An agent by its name, and by its key among those of all namespaces. */
export interface NamedAgent {
  readonly name: string;
  readonly key: AgentKey;
}

/** The agent of a stored key. */
export function namedByKey(key: string): NamedAgent {
  return { name: nameOfKey(key), key: key as AgentKey };
}

/** The plain names of agents, for replies and the audit log. */
export function namesOf(agents: readonly NamedAgent[]): string[] {
  return agents.map(({ name }) => name);
}

/** The keys of agents, for changes. */
export function keysOf(agents: readonly NamedAgent[]): AgentKey[] {
  return agents.map(({ key }) => key);
}
