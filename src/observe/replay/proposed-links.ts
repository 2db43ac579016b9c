import { nameOfKey } from '../../contract/call/namespace.js';
import type { ControlLinks } from '../../decide/agent-state/control-links.js';
import { labelText } from '../../manage/agents/agent-labels.js';
import type { DbClient } from '../../storage/database/database.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { inPortions } from '../../storage/database/in-portions.js';
import type { Proposal } from './proposal.js';

/** What an agent has now, and why. */
export interface AgentFactsOfLinks {
  /** Key of the agent. */
  readonly name: string;
  /** As "name=value". */
  readonly labels: ReadonlySet<string>;
  readonly controlIds: readonly number[];
  readonly policies: readonly {
    readonly id: number;
    readonly name: string;
    readonly everyAgent: boolean;
    readonly direct: boolean;
    readonly byLabels: boolean;
  }[];
}

/** Whether a proposal changes which controls agents have, rather than what these are. */
export function changesLinks({ policies, links }: Proposal): boolean {
  return policies.length > 0 || links.size > 0;
}

/** By keys. Rejects with a `ServiceError` only. */
export function readAgentLinks(
  client: DbClient,
  agents: readonly string[],
): Promise<ReadonlyMap<string, AgentFactsOfLinks>> {
  return withServiceErrors(async () => {
    const rows = await inPortions(agents, (portion) =>
      client.agent.findMany({ where: { name: { in: [...portion] } }, select: SELECTED }),
    );
    return new Map(
      rows.map(({ name, labels, controls, policies }) => [
        name,
        {
          name,
          labels: new Set(labels.map(labelText)),
          controlIds: controls.map(({ controlId }) => controlId),
          policies: policies.map(({ policy, ...how }) => ({
            ...how,
            ...policy,
            name: nameOfKey(policy.name),
          })),
        },
      ]),
    );
  });
}

const SELECTED = {
  name: true,
  labels: { select: { name: true, value: true } },
  controls: { select: { controlId: true } },
  policies: {
    select: { direct: true, byLabels: true, policy: { select: { id: true, name: true, everyAgent: true } } },
  },
} as const;

/**
 * What an agent would have: the rules of `configuration-writer.ts` for policies and links that are written. The controls of
 * proposed policies are among those of the agent itself. `bound` to its target.
 */
export function proposedLinks(
  agent: AgentFactsOfLinks,
  bound: readonly number[],
  { policies, links }: Proposal,
): ControlLinks {
  const own = links.get(nameOfKey(agent.name));
  const proposed = new Set(policies.map(({ name }) => name));
  const kept = agent.policies.filter((one) => {
    if (proposed.has(one.name)) return false;
    return own === undefined || one.everyAgent || one.byLabels || own.policies.has(one.name);
  });
  const hasDirectly = ({ name, wasEveryAgent }: Proposal['policies'][number]): boolean => {
    if (own?.policies.has(name) === true) return true;
    // Links that are not those of a document stay; a document takes away the others.
    return (
      own === undefined && !wasEveryAgent && agent.policies.some((one) => one.name === name && one.direct)
    );
  };
  const given = policies.filter(
    (one) =>
      one.everyAgent ||
      (one.agentLabels.length > 0 && one.agentLabels.every((label) => agent.labels.has(label))) ||
      hasDirectly(one),
  );
  const controlIds = [
    ...(own?.controlIds ?? agent.controlIds),
    ...bound,
    ...given.flatMap((one) => one.controlIds),
  ];
  return {
    policyIds: ascending([...kept.map(({ id }) => id), ...(own?.policyIds ?? [])]),
    controlIds: ascending(controlIds),
  };
}

function ascending(ids: readonly number[]): number[] {
  return [...new Set(ids)].sort((left, right) => left - right);
}
