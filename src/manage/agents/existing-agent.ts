import { demandVersion, type IfVersion } from '../../contract/input/if-version.js';
import { readAgentName } from '../../contract/input/names.js';
import { agentNotFound } from '../../decide/agent-state/agent-errors.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { type AgentRow, createAgentStore } from './agent-store.js';

/** The row of an agent of the namespace by its name in a path. Throws a VALIDATION_ERROR or AGENT_NOT_FOUND. */
export async function existingAgent(scope: Scoped, name: string): Promise<AgentRow> {
  const agentName = readAgentName(name, 'agent_name');
  const row = await createAgentStore(scope).find(agentName);
  if (row === null) throw agentNotFound(agentName);
  return row;
}

/** The same in the transaction of a change. Throws VERSION_MISMATCH as well. */
export async function demandedAgent(scope: Scoped, name: string, ifVersion: IfVersion): Promise<AgentRow> {
  const row = await existingAgent(scope, name);
  demandVersion(ifVersion, { kind: 'Agent', name: row.name, version: row.version });
  return row;
}
