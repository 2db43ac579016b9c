import { callerError, type ServiceError } from '../errors/service-error.js';

/** The agents that a caller is limited to. */
export interface AgentLimit {
  /** Names, and patterns with one `*`, as configured. */
  readonly patterns: readonly string[];
  /** Whether the caller may name this agent, normalised or not. False for everything that is no name. */
  allows(agentName: unknown): boolean;
}

/** A name of an agent, or one with a single `*`, which stands for any characters. In lower case. */
export const AGENT_PATTERN = /^[a-z0-9:_-]*\*?[a-z0-9:_-]*$/;

/** A limit to the agents that match one of the patterns, each of which matches `AGENT_PATTERN`. */
export function createAgentLimit(patterns: readonly string[]): AgentLimit {
  const names = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const ends = patterns
    .filter((pattern) => pattern.includes('*'))
    .map((pattern): [string, string] => {
      const [start = '', end = ''] = pattern.split('*');
      return [start, end];
    });
  const matches = (name: string): boolean =>
    names.has(name) ||
    ends.some(
      ([start, end]) =>
        name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end),
    );
  return {
    patterns,
    allows: (agentName) => typeof agentName === 'string' && matches(agentName.trim().toLowerCase()),
  };
}

/** Fails with AUTH_INSUFFICIENT_PRIVILEGES for an agent that the limit does not allow. Null is no limit. */
export function demandAgent(limit: AgentLimit | null, agentName: unknown): void {
  if (limit !== null && !limit.allows(agentName)) throw otherAgent();
}

/** The error for an agent beyond the limit. It does not tell whether the agent exists. */
export function otherAgent(): ServiceError {
  return callerError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: 'This key is limited to certain agents, and the agent of this call is none of them.',
    hint: 'Use a key for this agent, or name an agent of this key in agent_name.',
  });
}

/** The error for a call that concerns more than the agents of the limit. */
export function beyondAgents(): ServiceError {
  return callerError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: 'This key is limited to certain agents, and this call concerns more than them.',
    hint: 'Use a key without a limit, or a call that names an agent.',
  });
}
