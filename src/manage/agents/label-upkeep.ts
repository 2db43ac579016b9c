import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { type AgentKey, nameOfKey } from '../../contract/call/namespace.js';
import { originOfService } from '../../storage/database/audit-log.js';
import type { Database } from '../../storage/database/database.js';
import { type Scoped, scopeOfKey } from '../../storage/database/scoped.js';
import { anyUnreadAgent, createAgentLabelStore, type UnreadAgent } from './agent-label-store.js';
import { readStoredRegistration } from './agent-schemas.js';
import { createAgentStore } from './agent-store.js';
import { changesPolicies, effectsInAudit, settleLabels } from './settled-labels.js';

/** Agents whose labels are read in one mutation, which blocks all others. They are of one namespace. */
const BATCH = 50;

export interface LabelUpkeepOptions {
  readonly database: Pick<Database, 'client' | 'mutate'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Reads the labels of registrations that a program of an earlier version stored, before an upgrade or beside this one
 * during it, and gives the agents the policies of these labels. It takes no policy: who registered the agent is not known.
 */
export function createLabelUpkeep({ database, now }: LabelUpkeepOptions): { catchUp(): Promise<void> } {
  return {
    async catchUp() {
      for (;;) {
        const waiting = await anyUnreadAgent(database.client);
        if (waiting === undefined) return;
        await database.mutate(async (tx) => {
          const scope = scopeOfKey(waiting.key, tx);
          const unread = await createAgentLabelStore(scope).unread(BATCH);
          const changed: AgentKey[] = [];
          const effects: JsonObject = {};
          for (const agent of unread) {
            const found = await settle(scope, agent);
            if (!changesPolicies(found)) continue;
            changed.push(agent.key);
            effects[nameOfKey(agent.key)] = effectsInAudit(found);
          }
          const names = unread.map(({ key }) => nameOfKey(key));
          return {
            value: undefined,
            changed: unread.length > 0,
            change: { agents: changed },
            audit: {
              action: 'agent.read_labels',
              resource: 'agent',
              id: null,
              before: null,
              after: { agents: names, agent_count: names.length, policies: effects },
              origin: { ...originOfService(now()), namespace: scope.namespace.name },
            },
          };
        });
      }
    },
  };
}

/** One by one: registrations may be large. */
async function settle(scope: Scoped, { key }: UnreadAgent) {
  const row = await createAgentStore(scope).find(nameOfKey(key));
  if (row === null) throw new Error(`agent ${key} is not there in the transaction that found it`);
  return settleLabels(scope, row, readStoredRegistration(row.data)?.agent.agent_metadata, false);
}
