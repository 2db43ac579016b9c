import { createAgentStore } from '../agents/agent-store.js';
import { createAgentControlStore } from '../controls/agent-control-store.js';
import type { DbClient } from '../database/database.js';
import { type ControlFailure, compileProgram } from '../evaluation/compile.js';
import type { ControlInput } from '../evaluation/types.js';
import type { EvaluatorRegistry } from '../evaluators/types.js';
import type { JsonValue } from '../json/json-value.js';
import { parseStoredJson } from '../json/parse-json.js';
import type { LoadProgram } from './snapshot.js';

export interface ProgramLoaderOptions {
  readonly client: DbClient;
  readonly registry: EvaluatorRegistry;
  readonly newExecutionId: () => string;
  /** Told why controls could not be evaluated; verdicts have fixed texts only. */
  readonly onFailure: (failure: ControlFailure) => void;
}

/** Loads the controls of an agent from the database and compiles them. */
export function createProgramLoader(options: ProgramLoaderOptions): LoadProgram {
  const { client, registry, newExecutionId, onFailure } = options;
  return async (agentName) => {
    const agent = await createAgentStore(client).find(agentName);
    if (agent === null) return null;
    const rows = await createAgentControlStore(client).controlsOf(agent.id);
    const controls = rows.map(
      (row): ControlInput => ({ id: row.id, name: row.name, definition: storedDefinition(row.data) }),
    );
    return compileProgram(controls, { registry, newExecutionId, onFailure, withTimeout });
  };
}

/** Gives an asynchronous evaluator up after its time; what it still does is nobody's concern. */
async function withTimeout<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`timeout after ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Text that is no JSON reads as null, which the core takes for a damaged definition and fails closed on. */
function storedDefinition(text: string): JsonValue {
  try {
    return parseStoredJson(text);
  } catch {
    return null;
  }
}
