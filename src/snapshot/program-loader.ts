import { createAgentControlStore } from '../controls/agent-control-store.js';
import type { DbClient } from '../database/database.js';
import { unavailable } from '../database/errors.js';
import { isStorable } from '../database/text.js';
import { ServiceError } from '../errors/service-error.js';
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

/** How long to wait for the controls of an agent, in milliseconds: an evaluation may be waiting for them. */
const LOAD_LIMIT_MS = 3_000;

/** Loads the controls of an agent from the database and compiles them. */
export function createProgramLoader(options: ProgramLoaderOptions): LoadProgram {
  const { client, registry, newExecutionId, onFailure } = options;
  const store = createAgentControlStore(client);
  return async (agentName) => {
    if (!isStorable(agentName)) return { revision: Number.MAX_SAFE_INTEGER, program: null };
    const { revision, controls } = await inTime(store.stateOf(agentName));
    if (controls === null) return { revision, program: null };
    const inputs = controls.map(
      (row): ControlInput => ({ id: row.id, name: row.name, definition: storedDefinition(row.data) }),
    );
    const program = compileProgram(inputs, { registry, newExecutionId, onFailure, withTimeout });
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
