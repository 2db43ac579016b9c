import type { LintPolicy, LintSet } from './lint-set.js';

/** An agent, as far as it is known. */
export interface AgentLabels {
  readonly name: string;
  /** As "name=value". */
  readonly labels: readonly string[];
}

/** Which agents get a control: directly, and by policies. */
interface Sources {
  readonly agents: ReadonlySet<string>;
  readonly policies: ReadonlySet<LintPolicy>;
}

const NO_SOURCES: Sources = { agents: new Set(), policies: new Set() };

/** Who gets the controls of a set. */
export interface Audiences {
  /** Whether an agent or a policy has a control. */
  isLinked(control: string): boolean;
  /** Whether an agent, or every one, has a policy. */
  isGiven(policy: LintPolicy): boolean;
  /** Whether every agent that has a control has another one too. */
  covers(wide: string, narrow: string): boolean;
  /** The agents that have a control by links, or by what is known of their labels; null for all. */
  agentsOf(control: string): ReadonlySet<string> | null;
}

/** `known`: agents whose labels are known. */
export function createAudiences({ policies, links }: LintSet, known: readonly AgentLabels[]): Audiences {
  const sources = new Map<string, { agents: Set<string>; policies: Set<LintPolicy> }>();
  const sourcesOf = (control: string): Sources => sources.get(control) ?? NO_SOURCES;
  const own = (control: string) => {
    const found = sources.get(control) ?? { agents: new Set(), policies: new Set() };
    sources.set(control, found);
    return found;
  };
  const byName = new Map(policies.map((policy) => [policy.name, policy]));
  const agentsOfPolicy = new Map<LintPolicy, Set<string>>();
  for (const policy of policies) {
    agentsOfPolicy.set(policy, new Set());
    for (const control of policy.controls) own(control).policies.add(policy);
  }
  const policiesOfAgent = new Map<string, Set<LintPolicy>>();
  for (const { name, controls, policies: given } of links) {
    for (const control of controls) own(control).agents.add(name);
    const found = given.flatMap((one) => byName.get(one) ?? []);
    policiesOfAgent.set(name, new Set(found));
    for (const policy of found) agentsOfPolicy.get(policy)?.add(name);
  }
  const labelled = new Map<LintPolicy, readonly string[]>();
  const byLabels = (policy: LintPolicy): readonly string[] => {
    const before = labelled.get(policy);
    if (before !== undefined) return before;
    const found =
      policy.agentLabels.length === 0
        ? []
        : known
            .filter(({ labels }) => policy.agentLabels.every((label) => labels.includes(label)))
            .map(({ name }) => name);
    labelled.set(policy, found);
    return found;
  };

  const isEverywhere = (control: string): boolean =>
    [...sourcesOf(control).policies].some(({ everyAgent }) => everyAgent);
  const hasAgent = (control: string, agent: string): boolean => {
    const { agents, policies: having } = sourcesOf(control);
    return agents.has(agent) || [...(policiesOfAgent.get(agent) ?? [])].some((policy) => having.has(policy));
  };
  const coversPolicy = (wide: string, policy: LintPolicy): boolean => {
    const having = sourcesOf(wide).policies;
    if (having.has(policy)) return true;
    const agents = agentsOfPolicy.get(policy) ?? new Set<string>();
    // Of a policy that is given to no agent here, it is not known who has it.
    if (policy.everyAgent || agents.size + policy.agentLabels.length === 0) return false;
    const areLabelled =
      policy.agentLabels.length === 0 ||
      [...having].some(
        ({ agentLabels }) =>
          agentLabels.length > 0 && agentLabels.every((label) => policy.agentLabels.includes(label)),
      );
    return areLabelled && [...agents].every((agent) => hasAgent(wide, agent));
  };
  return {
    isLinked: (control) => sourcesOf(control).agents.size + sourcesOf(control).policies.size > 0,
    isGiven: (policy) =>
      policy.everyAgent || policy.agentLabels.length > 0 || (agentsOfPolicy.get(policy)?.size ?? 0) > 0,
    covers(wide, narrow) {
      if (isEverywhere(wide)) return true;
      const { agents, policies: having } = sourcesOf(narrow);
      return (
        [...agents].every((agent) => hasAgent(wide, agent)) &&
        [...having].every((policy) => coversPolicy(wide, policy))
      );
    },
    agentsOf(control) {
      if (isEverywhere(control)) return null;
      const { agents, policies: having } = sourcesOf(control);
      const all = new Set(agents);
      for (const policy of having) {
        for (const agent of agentsOfPolicy.get(policy) ?? []) all.add(agent);
        for (const agent of byLabels(policy)) all.add(agent);
      }
      return all;
    },
  };
}
