import { setImmediate as nextTurn } from 'node:timers/promises';
import { createAgentStore } from '../agents/agent-store.js';
import { createAgentControlStore, type StoredDefinition } from '../controls/agent-control-store.js';
import type { DbClient } from '../database/database.js';
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

/** Loads the controls of an agent from the database and compiles what has not been compiled before. */
export function createProgramLoader(options: ProgramLoaderOptions): LoadProgram {
  const { client, registry, keepEvaluators, newExecutionId, onFailure } = options;
  const library = createControlLibrary({ registry, keepEvaluators });
  return async (agentName) => {
    const agent = await createAgentStore(client).find(agentName);
    if (agent === null) return null;
    const rows = await createAgentControlStore(client).controlsOf(agent.id);
    const controls = await prepareAll(rows, library);
    return linkProgram(controls, { newExecutionId, onFailure, withTimeout });
  };
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
