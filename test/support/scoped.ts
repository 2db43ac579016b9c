import { type AgentKey, DEFAULT_NAMESPACE, type Namespace } from '../../src/contract/call/namespace.js';
import type { DbClient } from '../../src/storage/database/database.js';
import type { Scoped } from '../../src/storage/database/scoped.js';

/** What stores are made with; in the namespace `default` unless another one is given. */
export function scoped(client: DbClient, namespace: Namespace = DEFAULT_NAMESPACE): Scoped {
  return { client, namespace };
}

/** The key of an agent of the namespace `default`. */
export function keyOf(agentName: string): AgentKey {
  return DEFAULT_NAMESPACE.agentKey(agentName);
}
