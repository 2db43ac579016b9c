import { useMemo } from 'react';
import { type AgentLimit, limitOf } from './agent-limit-text.js';
import { useSession } from './session-context.js';

/** The limit of the caller; undefined without one. */
export function useAgentLimit(): AgentLimit | undefined {
  const { state } = useSession();
  const agents = state.kind === 'ready' ? state.onlyAgents : undefined;
  return useMemo(() => (agents === undefined ? undefined : limitOf(agents)), [agents]);
}
