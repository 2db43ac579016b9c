import { setImmediate } from 'node:timers/promises';
import { createAgentControlStore } from '../controls/agent-control-store.js';
import type { DbClient } from '../database/database.js';
import { unavailable } from '../database/errors.js';
import { isStorable } from '../database/text.js';
import { ServiceError } from '../errors/service-error.js';
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

/** How long to wait for the controls of an agent, in milliseconds: an evaluation may be waiting for them. */
const LOAD_LIMIT_MS = 3_000;

/** Loads the controls of an agent from the database and compiles what has not been compiled before. */
export function createProgramLoader(options: ProgramLoaderOptions): LoadProgram {
  const { client, library, newExecutionId, onFailure } = options;
  const store = createAgentControlStore(client);
  return async (agentName) => {
    if (!isStorable(agentName)) return { revision: Number.MAX_SAFE_INTEGER, program: null };
    const { revision, controls } = await inTime(store.stateOf(agentName));
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

/** A database that says nothing must not keep evaluations waiting for as long as the drivers would. */
async function inTime<T>(loading: Promise<T>): Promise<T> {
  try {
    return await withTimeout(loading, LOAD_LIMIT_MS);
  } catch (error) {
    throw error instanceof ServiceError
      ? error
      : unavailable('The controls of the agent could not be loaded in time.', error);
  }
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
