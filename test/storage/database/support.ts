import { createAgentControlStore } from '../../../src/decide/agent-state/agent-control-store.js';
import { createAgentStore } from '../../../src/manage/agents/agent-store.js';
import { createControlStore, type NewControl } from '../../../src/manage/controls/control-store.js';
import type { Database, DbClient } from '../../../src/storage/database/database.js';
import { scoped } from '../../support/scoped.js';

/** The three stores over one client. */
export function stores(client: DbClient) {
  return {
    agents: createAgentStore(scoped(client)),
    controls: createControlStore(scoped(client)),
    links: createAgentControlStore(scoped(client)),
  };
}

export type Stores = ReturnType<typeof stores>;

/** Writes through the stores in one mutation. */
export async function write<T>(database: Database, work: (tx: Stores) => Promise<T>): Promise<T> {
  const { value } = await database.mutate(async (tx) => ({ value: await work(stores(tx)), changed: true }));
  return value;
}

/** A control that is enabled and restricts nothing, except as given. */
export function newControl(name: string, given: Partial<NewControl> = {}): NewControl {
  return {
    name,
    data: `{"of":"${name}"}`,
    clonedFromId: null,
    enabled: true,
    execution: 'server',
    templateBacked: false,
    templateRendered: null,
    restrictsStepTypes: false,
    restrictsStages: false,
    stepNamePattern: null,
    createdAtMs: 1_700_000_000_001,
    updatedAtMs: 1_700_000_000_002,
    facets: [],
    ...given,
  };
}
