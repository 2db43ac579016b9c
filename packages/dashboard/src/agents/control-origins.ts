import type { Policy } from '@gen/enforcement/v1/policy_service_pb.js';

/** The ways by which an agent has a control. */
export interface ControlOrigin {
  /** Whether the control is linked to the agent itself. */
  readonly isDirect: boolean;
  /** The policies of the agent that contain the control. */
  readonly policies: readonly Pick<Policy, 'id' | 'name'>[];
}

type AgentPolicy = Pick<Policy, 'id' | 'name' | 'controlIds'>;

/** The ways by which an agent has each of its controls, by control id. */
export function controlOrigins(
  linkedControlIds: readonly number[],
  policies: readonly AgentPolicy[],
): ReadonlyMap<number, ControlOrigin> {
  const linked = new Set(linkedControlIds);
  const ids = new Set([...linked, ...policies.flatMap(({ controlIds }) => controlIds)]);
  const members = policies.map((policy) => ({ policy, ids: new Set(policy.controlIds) }));
  return new Map(
    [...ids].map((id) => [
      id,
      {
        isDirect: linked.has(id),
        policies: members.filter((member) => member.ids.has(id)).map(({ policy }) => policy),
      },
    ]),
  );
}

/** The controls that an agent has by one policy alone: it loses them with the policy. */
export function controlsOnlyBy(
  policyId: number,
  origins: ReadonlyMap<number, ControlOrigin>,
): readonly number[] {
  return [...origins]
    .filter(
      ([, { isDirect, policies }]) => !isDirect && policies.length === 1 && policies[0]?.id === policyId,
    )
    .map(([id]) => id);
}
