import { stringifyJson } from '../../../packages/exact-json/src/index.js';
import { demandScope } from '../../contract/call/demand-scope.js';
import type { CallContext, HandlerCall } from '../../contract/call/handler.js';
import type { TargetName } from '../../contract/call/namespace.js';
import { demandVersion, type IfVersion } from '../../contract/input/if-version.js';
import { targetNamed } from '../../contract/input/target.js';
import { listed } from '../../contract/warnings/warning.js';
import { createAgentControlStore } from '../../decide/agent-state/agent-control-store.js';
import { agentCorrupted, CORRUPTED_AGENT_ITEM } from '../../decide/agent-state/agent-errors.js';
import { registeredMetadataText } from '../../decide/agent-state/agent-metadata.js';
import { stepSchemasText } from '../../decide/agent-state/registered-schemas.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Change } from '../../storage/database/change-log.js';
import { type Scoped, scopeOf } from '../../storage/database/scoped.js';
import { appliedLinkWarnings } from '../controls/applied-warnings.js';
import { agentFact, agentState } from './agent-audit.js';
import { linkedControls, printed, readableControls } from './agent-controls.js';
import { type AgentLinksOptions, createAgentLinks } from './agent-links.js';
import { createAgentPolicyStore } from './agent-policy-store.js';
import { type AgentReadingOptions, createAgentReading } from './agent-reading.js';
import type { AgentRegistration } from './agent-registration.js';
import { type AgentInputs, readStoredRegistration } from './agent-schemas.js';
import { type AgentRow, createAgentStore } from './agent-store.js';
import { demandedAgent } from './existing-agent.js';
import { noChanges } from './overwrite-changes.js';
import { checkRegistration, type Merge, mergeOverwrite, mergeStrict } from './registration.js';
import {
  changesPolicies,
  effectsInAudit,
  effectWarnings,
  type LabelEffects,
  mayTakePolicies,
  NO_EFFECTS,
  settleLabels,
} from './settled-labels.js';

export interface AgentServiceOptions extends AgentReadingOptions, AgentLinksOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export type AgentService = ReturnType<typeof createAgentService>;

/** Registers, lists and deletes agents, and links controls to them. */
export function createAgentService(options: AgentServiceOptions) {
  const { database, mutate, registry, now, asked } = options;
  async function activeControls(context: CallContext, agentId: number, target: TargetName | null) {
    const linked = await linkedControls(scopeOf(context, database.client), agentId, registry, target);
    return linked.filter(({ control }) => control.enabled).map(printed);
  }

  return {
    ...createAgentReading(options),
    ...createAgentLinks(options),

    /** Registers an agent, or refreshes its registration, with the order of checks known to clients. */
    async init(context: HandlerCall, input: AgentInputs['initAgent']) {
      const { force_replace: force, conflict_mode: mode, target_type, target_id, ...others } = input;
      const { omit_controls: omitsControls, if_version: ifVersion, ...incoming } = others;
      const target = targetNamed({ target_type, target_id });
      // The controls of a target are told to those who may read bindings, and to an agent about itself.
      if (target !== null) demandScope(context.principal, 'bindings.read', 'agents.self');
      checkRegistration(incoming, registry);
      const { agent_name: agentName } = incoming.agent;
      const agentKey = context.principal.namespace.agentKey(agentName);
      const mayTake = mayTakePolicies(context.principal);
      const { id, created, merge, version, effects } = await mutate<Registered>(context, async (scope) => {
        const store = createAgentStore(scope);
        const row = await store.find(agentName);
        demandVersion(ifVersion, { kind: 'Agent', name: agentName, version: row?.version ?? 0 });
        if (row === null) {
          const data = stringifyJson(incoming);
          const inserted = await store.insert({ name: agentName, data, createdAtMs: now() });
          const effects = await settleLabels(scope, inserted, incoming.agent.agent_metadata, mayTake);
          const { id, version } = inserted;
          const value = { id, created: true, merge: null, version, effects };
          const after = { ...agentState(inserted), ...effectsInAudit(effects) };
          const audit = agentFact('agent.create', agentName, null, after);
          return { value, change: { agents: [agentKey] }, audit };
        }
        const merged = await mergeInto(scope, row, incoming, { mode, force, registry });
        const write = merged.changed || force;
        const data = stringifyJson(merged.registration);
        const stored = write ? await store.update(row.id, { data }) : row.version;
        const { agent_metadata: metadata } = merged.registration.agent;
        const effects = write
          ? await settleLabels(scope, { id: row.id, version: stored }, metadata, mayTake)
          : NO_EFFECTS;
        const value = { id: row.id, created: false, merge: merged, version: stored, effects };
        if (!write) return { value, change: null };
        const state = agentState({ data, version: stored, stepSchemas: row.stepSchemas });
        const after = { ...state, ...effectsInAudit(effects) };
        const audit = agentFact('agent.update', agentName, agentState(row), after);
        const change = changesPolicies(effects) ? { agents: [agentKey] } : changeOfRegistration(row, data);
        return { value, change, audit };
      });
      if (created) asked.forget(agentKey);
      return {
        created,
        // A new agent has those of the policies for every agent.
        controls: omitsControls ? [] : await activeControls(context, id, target),
        overwrite_applied: mode === 'overwrite' && merge?.changed === true,
        overwrite_changes: merge?.changes ?? noChanges(),
        warnings: listed(context.ignoredParts(), effectWarnings(effects)),
        version,
      };
    },

    /** Deletes an agent with its links. Throws AGENT_NOT_FOUND or VERSION_MISMATCH. */
    async remove(context: CallContext, agentName: string, ifVersion: IfVersion) {
      const { agent, links, warnings } = await mutate(context, async (scope) => {
        const row = await demandedAgent(scope, agentName, ifVersion);
        const links = {
          control_ids: await createAgentControlStore(scope).linkedIds(row.id),
          policy_ids: (await createAgentPolicyStore(scope).policyIdsOf([row.id])).get(row.id) ?? [],
        };
        const removed = await createAgentStore(scope).remove(row);
        const audit = agentFact('agent.delete', row.name, { ...agentState(row), ...links }, null);
        const applied = await appliedLinkWarnings(scope, 'agent_name', [row.name]);
        return {
          value: { agent: row, links: removed, warnings: applied },
          change: { agents: [row.key] },
          audit,
        };
      });
      context.warn(warnings);
      asked.forget(agent.key);
      return {
        success: true,
        removed_controls_count: links.controls,
        removed_policies_count: links.policies,
      };
    },
  };
}

interface Registered {
  readonly id: number;
  readonly created: boolean;
  /** Null for a new agent. */
  readonly merge: Merge | null;
  readonly version: number;
  readonly effects: LabelEffects;
}

/** A registration changes verdicts by the schemas of its steps and the metadata of the agent; any change has a revision. */
export function changeOfRegistration({ key, data }: AgentRow, next: string): Change {
  const isSame =
    stepSchemasText(data) === stepSchemasText(next) &&
    registeredMetadataText(data) === registeredMetadataText(next);
  return isSame ? {} : { agents: [key] };
}

interface MergeOptions {
  readonly mode: 'strict' | 'overwrite';
  readonly force: boolean;
  readonly registry: EvaluatorRegistry;
}

async function mergeInto(
  scope: Scoped,
  row: AgentRow,
  incoming: AgentRegistration,
  { mode, force, registry }: MergeOptions,
): Promise<Merge> {
  const read = readStoredRegistration(row.data);
  if (read === undefined && !force) throw agentCorrupted(row.name, [CORRUPTED_AGENT_ITEM]);
  const stored = read ?? { agent: incoming.agent, steps: [], evaluators: [] };
  if (mode === 'strict') return mergeStrict(stored, incoming);
  // An unreadable one is reported once the registration is stored, as in strict mode.
  const linked = await readableControls(scope, row.id, registry);
  const active = linked.filter(({ control }) => control.enabled);
  return mergeOverwrite(stored, incoming, active);
}
