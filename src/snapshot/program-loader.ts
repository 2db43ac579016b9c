import { setImmediate } from 'node:timers/promises';
import { createAgentStore } from '../agents/agent-store.js';
import { createAgentControlStore } from '../controls/agent-control-store.js';
import type { DbClient } from '../database/database.js';
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
  return async (agentName) => {
    const agent = await createAgentStore(client).find(agentName);
    if (agent === null) return null;
    const rows = await createAgentControlStore(client).controlsOf(agent.id);
    const controls = await mapInTurns(rows, ({ id, name, data }) => ({
      id,
      name,
      prepared: library.prepare(data),
    }));
    return linkProgram(controls, { newExecutionId, onFailure, withTimeout, nextTurn: setImmediate });
  };
}

/** Gives an asynchronous evaluator up after its time; what it still does is nobody's concern. */
export async function withTimeout<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
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
