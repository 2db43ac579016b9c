import { setImmediate } from 'node:timers/promises';
import type { AgentState } from '../controls/agent-control-store.js';
import type { ControlFailure } from '../core/linked-control.js';
import { linkProgram } from '../core/program.js';
import { withTimeout } from '../database/in-time.js';
import { isStorable } from '../database/text.js';
import type { ControlLibrary } from './control-library.js';
import { mapInTurns } from './map-in-turns.js';
import type { LoadProgram } from './snapshot.js';

/** The controls of an agent, and their source. */
export interface ReadState extends AgentState {
  /**
   * For the last known good file: when the controls were certainly the latest, in milliseconds of the clock
   * of the snapshot.
   */
  readonly keptAtMs?: number;
}

/** Reads the controls of an agent, at revision `needed` or later if the database cannot state the latest. */
export type ReadAgentState = (agentName: string, needed: number) => Promise<ReadState>;

export interface ProgramLoaderOptions {
  readonly stateOf: ReadAgentState;
  readonly library: ControlLibrary;
  readonly newExecutionId: () => string;
  /** Called with the reason why controls could not be evaluated; verdicts have fixed texts only. */
  readonly onFailure: (failure: ControlFailure) => void;
}

/** Reads the controls of an agent and compiles those not compiled yet. */
export function createProgramLoader(options: ProgramLoaderOptions): LoadProgram {
  const { stateOf, library, newExecutionId, onFailure } = options;
  return async (agentName, needed) => {
    if (!isStorable(agentName)) return { revision: Number.MAX_SAFE_INTEGER, program: null };
    const { revision, controls, keptAtMs } = await stateOf(agentName, needed);
    if (controls === null) return { revision, program: null };
    const prepared = await mapInTurns(controls, ({ id, name, data }) => ({
      id,
      name,
      prepared: library.prepare(data),
    }));
    const program = linkProgram(prepared, { newExecutionId, onFailure, withTimeout, nextTurn: setImmediate });
    return { revision, program, ...(keptAtMs === undefined ? {} : { keptAtMs }) };
  };
}
