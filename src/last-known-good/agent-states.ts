import { ServiceError } from '../contract/errors/service-error.js';
import type { AgentState } from '../controls/agent-control-store.js';
import { loadedInTime } from '../database/in-time.js';
import type { ReadAgentState } from '../decisions/program-loader.js';
import type { KeptAgents } from './kept-agents.js';
import type { KnownChanges } from './known-changes.js';

export interface AgentStatesOptions {
  /** Reads from the database. */
  readonly stored: (agentName: string) => Promise<AgentState>;
  readonly kept: KeptAgents;
  readonly changes: KnownChanges;
  /** Whether the last access to the database succeeded. */
  readonly databaseUp: () => boolean;
  /** The revision up to which changes are known. */
  readonly followed: () => number;
}

/**
 * Reads the controls of agents from the database or, while it does not answer, from the last known good file.
 * An agent that neither has fails as it does without a file.
 */
export function createAgentStates(options: AgentStatesOptions): ReadAgentState {
  const { stored, kept, changes, databaseUp, followed } = options;
  return async (agentName, needed) => {
    const isDown = !databaseUp();
    // A database that does not answer delays its callers for seconds.
    const known = isDown ? await kept.stateOf(agentName, needed) : null;
    if (known !== null) return known;
    try {
      const state = await loadedInTime(stored(agentName));
      if (state.revision > followed()) changes.used(agentName, state.revision);
      return state;
    } catch (error) {
      if (isDown || !isUnreadable(error)) throw error;
      const instead = await kept.stateOf(agentName, needed);
      if (instead === null) throw error;
      return instead;
    }
  };
}

/** Whether the database is the cause, not a programming error. */
function isUnreadable(error: unknown): boolean {
  return (
    error instanceof ServiceError && (error.code === 'SERVICE_UNAVAILABLE' || error.code === 'DATABASE_ERROR')
  );
}
