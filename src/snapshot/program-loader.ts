import { createAgentControlStore } from '../controls/agent-control-store.js';
import type { DbClient } from '../database/database.js';
import { loadedInTime, withTimeout } from '../database/in-time.js';
import { isStorable } from '../database/text.js';
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
  const store = createAgentControlStore(client);
  return async (agentName) => {
    if (!isStorable(agentName)) return { revision: Number.MAX_SAFE_INTEGER, program: null };
    const { revision, controls } = await loadedInTime(store.stateOf(agentName));
    if (controls === null) return { revision, program: null };
    const inputs = controls.map(
      (row): ControlInput => ({ id: row.id, name: row.name, definition: storedDefinition(row.data) }),
    );
    const program = compileProgram(inputs, { registry, newExecutionId, onFailure, withTimeout });
    return { revision, program };
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
