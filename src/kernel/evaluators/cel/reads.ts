import type { AgentReading } from '../../core/types.js';

/** The variable of a path that an expression reads, for example `input` of `input.amount`. */
export function rootOf(read: string): string {
  return /^[^.[?]*/.exec(read)?.[0] ?? '';
}

/** What an expression with these reads needs of the agent. */
export function agentReading(reads: readonly string[]): AgentReading {
  const ofAgent = reads.filter((read) => rootOf(read) === 'agent');
  if (ofAgent.length === 0) return 'nothing';
  return ofAgent.every((read) => read === 'agent.name') ? 'name' : 'metadata';
}
