import { useQuery } from '@connectrpc/connect-query';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { numberOf } from '../ui/numbers.js';

/** Who is affected by a change of a control, for example `2 policies and 31 agents`. */
export function useUsageText(controlId: number): string {
  const input = { controlId, limit: 1 };
  const agents = useQuery(ControlService.method.listControlAgents, input);
  const policies = useQuery(ControlService.method.listControlPolicies, input);
  return usageText(policies.data?.pagination?.total, agents.data?.pagination?.total);
}

/** Numbers of policies and agents in words; dots while they are not known. */
export function usageText(policies: number | undefined, agents: number | undefined): string {
  if (policies === undefined || agents === undefined) return '… policies and … agents';
  const policyText = policies === 1 ? '1 policy' : `${policies.toLocaleString()} policies`;
  return `${policyText} and ${numberOf(agents, 'agent')}`;
}
