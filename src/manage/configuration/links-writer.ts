import { stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { Scoped } from '../../storage/database/scoped.js';
import type { AgentRegistration } from '../agents/agent-registration.js';
import { createBulkStore, type Pair } from './bulk-store.js';
import type { LinksContent } from './configuration-object.js';
import type { StoredLinks } from './configuration-state.js';
import { type Affected, changesOf, idIn, type KnownIds } from './configuration-writer.js';

/** What is to be linked to an agent itself. */
export interface WantedLinks extends LinksContent {
  /** Of the agent. */
  readonly name: string;
}

/**
 * Links agents to exactly these controls and policies, in the transaction of a mutation: `stored` are all of them that exist, with
 * those that they have, by name. Agents that are not registered yet are, without steps. Throws a `ServiceError` only.
 */
export async function writeLinks(
  scope: Scoped,
  wanted: readonly WantedLinks[],
  stored: ReadonlyMap<string, StoredLinks>,
  known: KnownIds,
  affected: Affected,
  nowMs: number,
): Promise<void> {
  const bulk = createBulkStore(scope);
  const missing = wanted.filter(({ name }) => !stored.has(name)).map(({ name }) => name);
  const registered = await bulk.insertAgents(
    missing.map((name) => ({ name, data: stringifyJson(withoutSteps(name)) })),
    nowMs,
  );
  const links = { added: [] as Pair[], removed: [] as Pair[] };
  const given = { added: [] as Pair[], removed: [] as Pair[] };
  for (const { name, controls, policies } of wanted) {
    const before = stored.get(name);
    const agent = before ?? registered.get(name);
    if (agent === undefined) throw new Error(`agent ${name} of a configuration is not stored`);
    const pairs = (members: readonly string[], ids: ReadonlyMap<string, number>) =>
      members.map((member): Pair => [agent.id, idIn(ids, member)]);
    const [moreControls, lessControls] = changesOf(before?.controls ?? [], controls);
    const [morePolicies, lessPolicies] = changesOf(before?.policies ?? [], policies);
    links.added.push(...pairs(moreControls, known.controls));
    links.removed.push(...pairs(lessControls, known.controls));
    given.added.push(...pairs(morePolicies, known.policies));
    // Every agent has those now, whatever is linked to it.
    const taken = lessPolicies.filter((policy) => !known.forEveryAgent.has(policy));
    given.removed.push(...pairs(taken, known.policies));
    affected.agents.add(agent.key);
  }
  await bulk.removeLinks(links.removed);
  await bulk.addLinks(links.added);
  await bulk.withdrawPolicies(given.removed);
  await bulk.givePolicies(given.added);
}

/** The registration of an agent that says nothing but its name. */
export function withoutSteps(name: string): AgentRegistration {
  const agent = {
    agent_name: name,
    agent_description: null,
    agent_created_at: null,
    agent_updated_at: null,
    agent_version: null,
    agent_metadata: null,
  };
  return { agent, steps: [], evaluators: [] };
}
