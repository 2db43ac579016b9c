import type { JsonObject } from '../../packages/exact-json/src/index.js';
import { originOfService } from '../database/audit-log.js';
import type { Database, DbClient } from '../database/database.js';
import { createAgentLabelStore, type UnreadAgent } from './agent-label-store.js';
import { readStoredRegistration } from './agent-schemas.js';
import { createAgentStore } from './agent-store.js';
import { changesPolicies, effectsInAudit, settleLabels } from './settled-labels.js';

/** Agents whose labels are read in one mutation, which blocks all others. */
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
        const waiting = await createAgentLabelStore(database.client).unread(1);
        if (waiting.length === 0) return;
        await database.mutate(async (tx) => {
          const unread = await createAgentLabelStore(tx).unread(BATCH);
          const changed: string[] = [];
          const effects: JsonObject = {};
          for (const agent of unread) {
            const found = await settle(tx, agent);
            if (!changesPolicies(found)) continue;
            changed.push(agent.name);
            effects[agent.name] = effectsInAudit(found);
          }
          const names = unread.map(({ name }) => name);
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
              origin: originOfService(now()),
            },
          };
        });
      }
    },
  };
}

/** One by one: registrations may be large. */
async function settle(tx: DbClient, { name }: UnreadAgent) {
  const row = await createAgentStore(tx).find(name);
  if (row === null) throw new Error(`agent ${name} is not there in the transaction that found it`);
  return settleLabels(tx, row, readStoredRegistration(row.data)?.agent.agent_metadata, false);
}
