import { useQuery } from '@connectrpc/connect-query';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { type Policy, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useMemo } from 'react';
import { useMay } from '../session/session-context.js';
import { type ControlOrigin, controlOrigins } from './control-origins.js';

const REFRESH_MS = 10_000;

/** The links of an agent to controls and policies. */
interface AgentLinks {
  readonly policies: readonly Policy[];
  readonly origins: ReadonlyMap<number, ControlOrigin>;
}

/** Undefined until the links are known. */
export function useAgentLinks(agentName: string): {
  readonly data: AgentLinks | undefined;
  readonly error: unknown;
  readonly refetch: () => unknown;
} {
  const options = { refetchInterval: REFRESH_MS };
  const agent = useQuery(AgentService.method.getAgent, { agentName }, options);
  const given = useQuery(
    PolicyService.method.listAgentPolicies,
    { agentName },
    { ...options, enabled: useMay('policies.read') },
  );
  const linked = agent.data?.linkedControlIds;
  const policies = given.data?.policies;
  const data = useMemo(
    () =>
      linked === undefined || policies === undefined
        ? undefined
        : { policies, origins: controlOrigins(linked, policies) },
    [linked, policies],
  );
  return {
    data,
    error: agent.error ?? given.error,
    refetch: () => Promise.all([agent.refetch(), given.refetch()]),
  };
}
