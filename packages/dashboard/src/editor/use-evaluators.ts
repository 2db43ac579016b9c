import { useQuery } from '@connectrpc/connect-query';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { EvaluatorService } from '@gen/enforcement/v1/evaluator_service_pb.js';
import { useMemo } from 'react';
import type { JsonObject } from './json.js';

const STALE_MS = 60_000;

/** An evaluator that a check can name. */
export interface KnownEvaluator {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject | undefined;
  /** Whether it is one of the agent, which only the client of the agent can run. */
  readonly isOfAgent: boolean;
}

export interface KnownEvaluators {
  readonly evaluators: readonly KnownEvaluator[];
  readonly isLoading: boolean;
  readonly error: unknown;
  readonly retry: () => void;
}

/** The evaluators of the service, and those of an agent if there is one. */
export function useEvaluators(agentName: string): KnownEvaluators {
  const service = useQuery(EvaluatorService.method.listEvaluators, {}, { staleTime: STALE_MS });
  const agent = useQuery(
    AgentService.method.getAgent,
    { agentName },
    { enabled: agentName !== '', staleTime: STALE_MS, retry: false },
  );
  const evaluators = useMemo(() => {
    const ofService = Object.values(service.data?.evaluators ?? {}).map(
      ({ name, description, configSchema }): KnownEvaluator => {
        return { name, description, schema: configSchema, isOfAgent: false };
      },
    );
    const ofAgent = (agent.data?.evaluators ?? []).map(
      ({ name = '', description = '', configSchema }): KnownEvaluator => {
        return { name, description, schema: configSchema, isOfAgent: true };
      },
    );
    return [...ofService, ...ofAgent];
  }, [service.data, agent.data]);
  return {
    evaluators,
    isLoading: service.isLoading,
    error: service.error,
    retry: () => void service.refetch(),
  };
}
