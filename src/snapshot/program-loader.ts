import { createAgentControlStore } from '../agents/agent-control-store.js';
import { createAgentStore } from '../agents/agent-store.js';
import type { DbClient } from '../database/database.js';
import { compileProgram } from '../evaluation/compile.js';
import type { ControlInput } from '../evaluation/types.js';
import type { EvaluatorRegistry } from '../evaluators/types.js';
import type { JsonValue } from '../json/json-value.js';
import { parseStoredJson } from '../json/parse-json.js';
import type { LoadProgram } from './snapshot.js';

export interface ProgramLoaderOptions {
  readonly client: DbClient;
  readonly registry: EvaluatorRegistry;
  readonly newExecutionId: () => string;
}

/** Loads the controls of an agent from the database and compiles them. */
export function createProgramLoader({ client, registry, newExecutionId }: ProgramLoaderOptions): LoadProgram {
  return async (agentName) => {
    const agent = await createAgentStore(client).find(agentName);
    if (agent === null) return null;
    const rows = await createAgentControlStore(client).controlsOf(agent.id);
    const controls = rows.map(
      (row): ControlInput => ({ id: row.id, name: row.name, definition: storedDefinition(row.data) }),
    );
    return compileProgram(controls, { registry, newExecutionId });
  };
}

/** Text that is no JSON reads as null, which the core takes for a damaged definition and fails closed on. */
function storedDefinition(text: string): JsonValue {
  try {
    return parseStoredJson(text);
  } catch {
    return null;
  }
}
