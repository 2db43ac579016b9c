import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { Principal } from '../../contract/call/handler.js';
import type { Warning } from '../../contract/warnings/warning.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { createAgentLabelStore, type NamedPolicy } from './agent-label-store.js';
import { labelsOf } from './agent-labels.js';

/** What the labels of a stored registration did to the policies of its agent. */
export interface LabelEffects {
  readonly given: readonly NamedPolicy[];
  readonly taken: readonly NamedPolicy[];
  /** Those that it has by labels that it has no longer. */
  readonly kept: readonly NamedPolicy[];
}

export const NO_EFFECTS: LabelEffects = { given: [], taken: [], kept: [] };

interface StoredVersion {
  readonly id: number;
  readonly version: number;
}

/**
 * Stores the labels of a registration, in the transaction that stores it, and gives the agent the policies that are for
 * agents with these labels. Takes those of labels that it has no longer only if `mayTake`: who may register an agent
 * could free it of policies otherwise.
 */
export async function settleLabels(
  scope: Scoped,
  { id, version }: StoredVersion,
  metadata: JsonObject | null | undefined,
  mayTake: boolean,
): Promise<LabelEffects> {
  const store = createAgentLabelStore(scope);
  await store.write(id, version, labelsOf(metadata));
  const { missing, stale } = await store.policiesByLabels(id);
  await store.give(id, missing);
  if (mayTake) await store.take(id, stale);
  return { given: missing, taken: mayTake ? stale : [], kept: mayTake ? [] : stale };
}

/** Administrators take policies from agents; without authentication, anyone does. */
export function mayTakePolicies({ level }: Pick<Principal, 'level'>): boolean {
  return level !== 'key';
}

/** Whether the verdicts of the agent may be other ones now. */
export function changesPolicies({ given, taken }: LabelEffects): boolean {
  return given.length > 0 || taken.length > 0;
}

/** The effects as the audit log shows them; nothing for none. */
export function effectsInAudit({ given, taken, kept }: LabelEffects): JsonObject {
  return {
    ...(given.length > 0 ? { given_policies: given.map(shown) } : {}),
    ...(taken.length > 0 ? { taken_policies: taken.map(shown) } : {}),
    ...(kept.length > 0 ? { kept_policies: kept.map(shown) } : {}),
  };
}

function shown({ id, name }: NamedPolicy): JsonObject {
  return { policy_id: id, policy_name: name };
}

/** Tells who registers an agent that it lost a policy with its labels, or that it did not. */
export function* effectWarnings({ taken, kept }: LabelEffects): Iterable<Warning> {
  const field = 'agent.agent_metadata';
  for (const { name } of taken) {
    const message = `the agent no longer has the labels of the policy "${name}", so it no longer has the policy`;
    yield { code: 'policy_taken', field, message };
  }
  for (const { name } of kept) {
    const message =
      `the agent no longer has the labels of the policy "${name}" and keeps the policy: ` +
      'only administrators take policies from agents';
    yield { code: 'policy_kept', field, message };
  }
}
