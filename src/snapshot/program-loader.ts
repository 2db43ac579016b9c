import { setImmediate as nextTurn } from 'node:timers/promises';
import { createAgentControlStore, type StoredDefinition } from '../controls/agent-control-store.js';
import type { DbClient } from '../database/database.js';
import { unavailable } from '../database/errors.js';
import { isStorable } from '../database/text.js';
import { ServiceError } from '../errors/service-error.js';
import type { ControlFailure, LinkableControl } from '../evaluation/linked-control.js';
import { linkProgram } from '../evaluation/program.js';
import type { EvaluatorRegistry } from '../evaluators/types.js';
import { type ControlLibrary, createControlLibrary } from './control-library.js';
import type { LoadProgram } from './snapshot.js';

export interface ProgramLoaderOptions {
  readonly client: DbClient;
  readonly registry: EvaluatorRegistry;
  /** Compiled evaluators kept although no loaded agent uses them. */
  readonly keepEvaluators: number;
  readonly newExecutionId: () => string;
  /** Told why controls could not be evaluated; verdicts have fixed texts only. */
  readonly onFailure: (failure: ControlFailure) => void;
}

/** How long compiling goes on before others get a turn, in milliseconds. One control may take longer by itself. */
const TURN_MS = 5;
/** How long to wait for the controls of an agent, in milliseconds: an evaluation may be waiting for them. */
const LOAD_LIMIT_MS = 3_000;

/** Loads the controls of an agent from the database and compiles what has not been compiled before. */
export function createProgramLoader(options: ProgramLoaderOptions): LoadProgram {
  const { client, registry, keepEvaluators, newExecutionId, onFailure } = options;
  const store = createAgentControlStore(client);
  const library = createControlLibrary({ registry, keepEvaluators });
  return async (agentName) => {
    if (!isStorable(agentName)) return { revision: Number.MAX_SAFE_INTEGER, program: null };
    const { revision, controls } = await inTime(store.stateOf(agentName));
    if (controls === null) return { revision, program: null };
    const prepared = await prepareAll(controls, library);
    return { revision, program: linkProgram(prepared, { newExecutionId, onFailure, withTimeout }) };
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

async function prepareAll(
  rows: readonly StoredDefinition[],
  library: ControlLibrary,
): Promise<LinkableControl[]> {
  const controls: LinkableControl[] = [];
  let turnBegan = performance.now();
  for (const { id, name, data } of rows) {
    controls.push({ id, name, prepared: library.prepare(data) });
    if (performance.now() - turnBegan < TURN_MS) continue;
    await nextTurn();
    turnBegan = performance.now();
  }
  return controls;
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
