import { setImmediate } from 'node:timers/promises';
import { createAgentControlStore } from '../controls/agent-control-store.js';
import type { DbClient } from '../database/database.js';
import { loadedInTime, withTimeout } from '../database/in-time.js';
import { isStorable } from '../database/text.js';
import type { ControlFailure } from '../evaluation/linked-control.js';
import { linkProgram } from '../evaluation/program.js';
import type { ControlLibrary } from './control-library.js';
import { mapInTurns } from './map-in-turns.js';
import type { LoadProgram } from './snapshot.js';

export interface ProgramLoaderOptions {
  readonly client: DbClient;
  readonly library: ControlLibrary;
  readonly newExecutionId: () => string;
  /** Told why controls could not be evaluated; verdicts have fixed texts only. */
  readonly onFailure: (failure: ControlFailure) => void;
}

/** Loads the controls of an agent from the database and compiles what has not been compiled before. */
export function createProgramLoader(options: ProgramLoaderOptions): LoadProgram {
  const { client, library, newExecutionId, onFailure } = options;
  const store = createAgentControlStore(client);
  return async (agentName) => {
    if (!isStorable(agentName)) return { revision: Number.MAX_SAFE_INTEGER, program: null };
    const { revision, controls } = await loadedInTime(store.stateOf(agentName));
    if (controls === null) return { revision, program: null };
    const prepared = await mapInTurns(controls, ({ id, name, data }) => ({
      id,
      name,
      prepared: library.prepare(data),
    }));
    const program = linkProgram(prepared, { newExecutionId, onFailure, withTimeout, nextTurn: setImmediate });
    return { revision, program };
  };
}
