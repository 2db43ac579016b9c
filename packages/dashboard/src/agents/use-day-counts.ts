import { useQuery } from '@connectrpc/connect-query';
import { ObservabilityService } from '@gen/enforcement/v1/observability_service_pb.js';
import { useMemo } from 'react';
import type { CountsOf } from './agent-columns.js';

/** Most agents that the server counts at once. */
const ASKED = 100;
const REFRESH_MS = 15_000;

/** The evaluations of the last 24 hours, of the agents with the most denials: one request for the whole list. */
export function useDayCounts(): CountsOf {
  const { data } = useQuery(
    ObservabilityService.method.getEvaluationStats,
    { timeRange: '24h', limit: ASKED },
    { refetchInterval: REFRESH_MS },
  );
  return useMemo(() => {
    if (data === undefined) return () => undefined;
    const counts = new Map(data.agents.map((agent) => [agent.agentName, agent.counts]));
    const others = data.agents.length < ASKED ? 'none' : undefined;
    return (agentName: string) => counts.get(agentName) ?? others;
  }, [data]);
}
