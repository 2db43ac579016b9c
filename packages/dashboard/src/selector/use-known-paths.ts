import { createQueryOptions, useQuery, useTransport } from '@connectrpc/connect-query';
import {
  AgentService,
  type GetAgentResponse,
  type StepDefinition,
} from '@gen/enforcement/v1/agent_service_pb.js';
import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type KnownPath, knownPaths } from './selector-paths.js';

const AGENTS = 20;
const STALE_MS = 60_000;

/** Paths of the steps of an agent; without one, of the agents that registered last. */
export function useKnownPaths(agentName: string | undefined, isWanted: boolean): readonly KnownPath[] {
  const steps = useKnownSteps(agentName, isWanted);
  return useMemo(() => knownPaths(steps), [steps]);
}

/** The registered steps of an agent; without one, of the agents that registered last. */
export function useKnownSteps(agentName: string | undefined, isWanted: boolean): readonly StepDefinition[] {
  const transport = useTransport();
  const isOne = agentName !== undefined && agentName !== '';
  const list = useQuery(
    AgentService.method.listAgents,
    { limit: AGENTS },
    { enabled: isWanted && !isOne, staleTime: STALE_MS },
  );
  const names = isOne
    ? [agentName]
    : (list.data?.agents ?? []).filter((agent) => agent.stepCount > 0).map((agent) => agent.agentName);
  return useQueries({
    queries: names.map((name) => ({
      ...createQueryOptions(AgentService.method.getAgent, { agentName: name }, { transport }),
      enabled: isWanted,
      staleTime: STALE_MS,
    })),
    combine: stepsOf,
  });
}

function stepsOf(results: readonly { readonly data: GetAgentResponse | undefined }[]) {
  return results.flatMap(({ data }) => data?.steps ?? []);
}
