import { createQueryOptions, useTransport } from '@connectrpc/connect-query';
import { type EvaluationCounts, ObservabilityService } from '@gen/enforcement/v1/observability_service_pb.js';
import { keepPreviousData, useQueries } from '@tanstack/react-query';
import type { CountsOf } from './agent-columns.js';

/** Agents of one request. */
const ASKED = 100;
const REFRESH_MS = 15_000;

/** The evaluations of the last 24 hours of the agents of a list, a hundred in each request. */
export function useDayCounts(names: readonly string[]): CountsOf {
  const transport = useTransport();
  const parts = Array.from({ length: Math.ceil(names.length / ASKED) }, (_, index) =>
    names.slice(index * ASKED, (index + 1) * ASKED),
  );
  return useQueries({
    queries: parts.map((listedAgents) => ({
      ...createQueryOptions(
        ObservabilityService.method.getEvaluationStats,
        { timeRange: '24h', listedAgents },
        { transport },
      ),
      refetchInterval: REFRESH_MS,
      placeholderData: keepPreviousData,
    })),
    combine: (found) => {
      const counts = new Map<string, EvaluationCounts | 'none'>();
      for (const [index, { data, isPlaceholderData }] of found.entries()) {
        if (data === undefined) continue;
        // Earlier data is of a shorter list: it does not tell that others have no evaluations.
        if (!isPlaceholderData) for (const name of parts[index] ?? []) counts.set(name, 'none');
        for (const agent of data.agents) counts.set(agent.agentName, agent.counts ?? 'none');
      }
      return (agentName: string) => counts.get(agentName);
    },
  });
}
