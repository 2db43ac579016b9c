import { useQuery } from '@connectrpc/connect-query';
import { ControlBindingService } from '@gen/enforcement/v1/control_binding_service_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { useMay } from '../session/session-context.js';
import { numberOf } from '../ui/numbers.js';

/** Who is affected by a change of a control, for example `2 policies, 31 agents and 1 target`. */
export function useUsageText(controlId: number): string {
  const input = { controlId, limit: 1 };
  const agents = useQuery(ControlService.method.listControlAgents, input);
  const policies = useQuery(ControlService.method.listControlPolicies, input);
  const targets = useBoundTargets(controlId);
  const text = usageText(policies.data?.pagination?.total, agents.data?.pagination?.total);
  return targets.total === 0 ? text : `${text}, and bound to ${numberOf(targets.total, 'target')}`;
}

/** Targets that are named at once. */
const SHOWN_TARGETS = 5;

/** The targets that a control is bound to: their number, and the latest. None for callers that may not see them. */
export function useBoundTargets(controlId: number) {
  const { data } = useQuery(
    ControlBindingService.method.listControlBindings,
    { controlId, limit: SHOWN_TARGETS },
    { enabled: useMay('bindings.read') },
  );
  return { total: data?.pagination?.total ?? 0, bindings: data?.bindings ?? [] };
}

/** Numbers of policies and agents in words; dots while they are not known. */
export function usageText(policies: number | undefined, agents: number | undefined): string {
  if (policies === undefined || agents === undefined) return '… policies and … agents';
  const policyText = policies === 1 ? '1 policy' : `${policies.toLocaleString()} policies`;
  return `${policyText} and ${numberOf(agents, 'agent')}`;
}
