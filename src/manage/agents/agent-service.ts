import { stringifyJson } from '../../../packages/exact-json/src/index.js';
import { demandScope } from '../../contract/call/demand-scope.js';
import type { CallContext, HandlerCall } from '../../contract/call/handler.js';
import type { TargetName } from '../../contract/call/namespace.js';
import { paginationOf } from '../../contract/call/page.js';
import { isoOfSeconds } from '../../contract/call/printed.js';
import { demandVersion, type IfVersion } from '../../contract/input/if-version.js';
import { readAgentName } from '../../contract/input/names.js';
import { demandWholeTarget, targetNamed } from '../../contract/input/target.js';
import { listed, type Warning } from '../../contract/warnings/warning.js';
import { createAgentControlStore } from '../../decide/agent-state/agent-control-store.js';
import {
  agentCorrupted,
  agentNotFound,
  CORRUPTED_AGENT_ITEM,
} from '../../decide/agent-state/agent-errors.js';
import { registeredMetadataText } from '../../decide/agent-state/agent-metadata.js';
import { stepSchemasText } from '../../decide/agent-state/registered-schemas.js';
import type { StepSchemaReports } from '../../decide/agent-state/step-schema-setting.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { StepSchemaMode } from '../../kernel/core/step-schemas.js';
import type { Change } from '../../storage/database/change-log.js';
import type { Database } from '../../storage/database/database.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { type Scoped, scopeOf } from '../../storage/database/scoped.js';
import { appliedLinkWarnings } from '../controls/applied-warnings.js';
import { existing as existingControl } from '../controls/control-service.js';
import { hiddenLinkWarnings } from '../controls/hidden-controls.js';
import { createPolicyControlStore } from '../controls/policy-control-store.js';
import { demandControlOfOwnAgents } from '../controls/shared-with-caller.js';
import { agentFact, agentState, controlLink } from './agent-audit.js';
import { linkedControls, printed, readableControls } from './agent-controls.js';
import { countedLabels } from './agent-label-store.js';
import { labelsOf } from './agent-labels.js';
import { agentLinkWarnings } from './agent-link-warnings.js';
import { createAgentPolicyStore } from './agent-policy-store.js';
import type { AgentRegistration } from './agent-registration.js';
import { type AgentInputs, readStoredRegistration } from './agent-schemas.js';
import { type AgentActivity, type AgentRow, createAgentStore } from './agent-store.js';
import type { AskedForControls } from './asked-for-controls.js';
import { compatibilityProblems, policyControlIncompatible, readCandidates } from './control-compatibility.js';
import type { ControlFeed } from './control-feed.js';
import { listedPage, pageKey } from './listed-page.js';
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
import { compareTexts } from './steps-catalogue.js';
import type { ListedControl } from './watched-controls.js';

export interface AgentServiceOptions {
  readonly database: Database;
  readonly mutate: Mutator;
  readonly registry: EvaluatorRegistry;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly asked: AskedForControls;
  readonly stepSchemas: StepSchemaReports;
  readonly feed: Pick<ControlFeed, 'at'>;
}

/** Labels listed, and values of each. */
const MAX_COUNTED_LABELS = { names: 200, values: 100 } as const;

export type AgentService = ReturnType<typeof createAgentService>;

/** Registers and lists agents, and links controls to them. */
export function createAgentService(options: AgentServiceOptions) {
  const { database, mutate, registry, now, asked, feed, stepSchemas } = options;
  return {
    /** One page of agents. */
    async list(context: CallContext, input: AgentInputs['listAgents']) {
      const scope = scopeOf(context, database.client);
      const cursor =
        input.cursor === undefined || input.cursor === '' ? null : readAgentName(input.cursor, 'cursor');
      const store = createAgentStore(scope);
      const page = await store.list({
        cursor,
        limit: input.limit,
        nameContains: input.name || null,
        hasActiveControls: input.has_active_controls ?? null,
        labels: input.labels,
        controlId: input.control_id ?? null,
        policyId: input.policy_id ?? null,
        orderBy: input.order_by ?? 'newest',
        reverse: input.reverse ?? false,
      });
      const ids = page.rows.map((row) => row.id);
      const active = await store.activeControlCounts(ids);
      const policies = await createAgentPolicyStore(scope).policyIdsOf(ids);
      const names = page.rows.map((row) => row.name);
      const uses = await store.lastUses(names);
      const activity = await store.activity(names);
      return {
        agents: page.rows.map((row) => ({
          ...summariseAgent(row, policies.get(row.id) ?? [], active.get(row.id) ?? 0),
          last_used_at: naiveIsoOrNull(uses.get(row.name)),
          ...printedActivity(activity.get(row.name)),
        })),
        pagination: paginationOf(page, input.limit, ({ name }) => name),
      };
    },

    /** The labels of all agents of the namespace, by name, each with the values that most agents have. */
    async listLabels({ principal }: CallContext) {
      const values = new Map<string, { value: string; agent_count: number }[]>();
      const counted = await countedLabels(database.bulk, principal.namespace, MAX_COUNTED_LABELS);
      counted.sort(
        (a, b) => compareTexts(a.name, b.name) || b.agents - a.agents || compareTexts(a.value, b.value),
      );
      for (const { name, value, agents } of counted) {
        const counts = values.get(name) ?? [];
        counts.push({ value, agent_count: agents });
        values.set(name, counts);
      }
      return { labels: [...values].map(([name, counts]) => ({ name, values: counts })) };
    },

    /** Throws AGENT_NOT_FOUND, or CORRUPTED_DATA when the registration is unreadable. */
    async get(context: CallContext, agentName: string): Promise<StoredAgent> {
      const scope = scopeOf(context, database.client);
      const row = await existingAgent(scope, agentName);
      const registration = readStoredRegistration(row.data) ?? fail(agentCorrupted(row.name));
      const linked = await createAgentControlStore(scope).linkedIds(row.id);
      return {
        ...registration,
        version: row.version,
        linked_control_ids: linked,
        step_schemas: row.stepSchemas ?? 'default',
        effective_step_schemas: stepSchemas.modeOf(row.stepSchemas),
        mismatched_steps: stepSchemas
          .mismatchedSteps(row.key)
          .map(({ lastAtMs, ...step }) => ({ ...step, last_at: naiveIso(lastAtMs) })),
        labels: Object.fromEntries(labelsOf(registration.agent.agent_metadata)),
        ...printedActivity((await createAgentStore(scope).activity([row.name])).get(row.name)),
      };
    },

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
        const merged = await mergeInto(scope, row, incoming, mode, force);
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
        controls: omitsControls ? [] : await activeControls(scopeOf(context, database.client), id, target),
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

    /**
     * The controls of an agent, by id descending, or one page of them. Throws a VALIDATION_ERROR for half a target,
     * CORRUPTED_DATA when one of them is unreadable, or PAYLOAD_TOO_LARGE when one exceeds the size of a page.
     */
    async listControls(context: CallContext, input: AgentInputs['listAgentControls']) {
      demandWholeTarget(input);
      const agentName = readAgentName(input.agent_name, 'agent_name');
      const scope = scopeOf(context, database.client);
      const { revision, hasAgent } = await createAgentControlStore(scope).revisionFor(agentName);
      if (!hasAgent) throw agentNotFound(agentName);
      const agentKey = scope.namespace.agentKey(agentName);
      const target = targetNamed(input);
      const targetKey = target === null ? null : scope.namespace.targetKey(target);
      const agent = await feed.at(agentKey, revision, targetKey);
      const reply =
        agent === null
          ? listedPage(await controlsFromDatabase(scope, agentName, target), input)
          : agent.reply(pageKey(input), () => listedPage(agent.listed(), input));
      // Used by clients that evaluate controls themselves; user interfaces list all of them.
      if (input.enabled_state === 'enabled') asked.note(agentKey);
      return reply;
    },

    /**
     * Links a control. Throws AGENT_NOT_FOUND, VERSION_MISMATCH, CONTROL_NOT_FOUND or
     * POLICY_CONTROL_INCOMPATIBLE.
     */
    async addControl(context: CallContext, agentName: string, controlId: number, ifVersion: IfVersion) {
      const linked = await mutate(context, async (scope) => {
        await demandControlOfOwnAgents(scope, context.principal.agents, controlId);
        const agent = await demandedAgent(scope, agentName, ifVersion);
        const control = await existingControl(scope, controlId);
        // An existing link is checked again, so repeating the call shows whether the agent can still run it.
        const registration = readStoredRegistration(agent.data);
        const problems = compatibilityProblems(registration, agent.name, readCandidates([control], registry));
        if (problems.length > 0) throw policyControlIncompatible(problems);
        const added = await createAgentControlStore(scope).add(agent.id, control.id);
        const value = { agent, control, applied: [] as Warning[] };
        if (!added) return { value, change: null };
        value.applied = await appliedLinkWarnings(scope, 'agent_name', [agent.name]);
        const audit = agentFact('agent.add_control', agent.name, null, controlLink(control));
        return { value, change: { agents: [agent.key] }, audit };
      });
      // The warning names a control that a key for some agents may not see.
      const hidden =
        context.principal.agents === null
          ? await hiddenLinkWarnings(scopeOf(context, database.client), linked.control, registry)
          : [];
      const own = agentLinkWarnings(linked.agent, [linked.control], registry);
      return { success: true, warnings: listed(own, hidden, linked.applied) };
    },

    /** Removes a direct link; policies may keep the control. Throws AGENT_NOT_FOUND or CONTROL_NOT_FOUND. */
    async removeControl(context: CallContext, agentName: string, controlId: number) {
      const { reply, warnings } = await mutate(context, async (scope) => {
        await demandControlOfOwnAgents(scope, context.principal.agents, controlId);
        const agent = await existingAgent(scope, agentName);
        const control = await existingControl(scope, controlId);
        const removed = await createAgentControlStore(scope).remove(agent.id, control.id);
        const stillActive = await createPolicyControlStore(scope).bringsTo(agent.id, control.id);
        const reply = {
          success: true,
          removed_direct_association: removed,
          control_still_active: stillActive,
        };
        if (!removed) return { value: { reply, warnings: [] }, change: null };
        const audit = agentFact('agent.remove_control', agent.name, controlLink(control), null);
        const value = { reply, warnings: await appliedLinkWarnings(scope, 'agent_name', [agent.name]) };
        return { value, change: { agents: [agent.key] }, audit };
      });
      context.warn(warnings);
      return reply;
    },
  };

  async function mergeInto(
    scope: Scoped,
    row: AgentRow,
    incoming: AgentRegistration,
    mode: 'strict' | 'overwrite',
    force: boolean,
  ): Promise<Merge> {
    const stored = readStoredRegistration(row.data);
    if (stored === undefined) {
      if (!force) throw agentCorrupted(row.name, [CORRUPTED_AGENT_ITEM]);
      const empty: AgentRegistration = { agent: incoming.agent, steps: [], evaluators: [] };
      return merged(empty, incoming, mode, scope, row.id);
    }
    return merged(stored, incoming, mode, scope, row.id);
  }

  async function merged(
    stored: AgentRegistration,
    incoming: AgentRegistration,
    mode: 'strict' | 'overwrite',
    scope: Scoped,
    agentId: number,
  ): Promise<Merge> {
    if (mode === 'strict') return mergeStrict(stored, incoming);
    // An unreadable one is reported once the registration is stored, as in strict mode.
    const linked = await readableControls(scope, agentId, registry);
    const active = linked.filter(({ control }) => control.enabled);
    return mergeOverwrite(stored, incoming, active);
  }

  async function controlsFromDatabase(
    scope: Scoped,
    agentName: string,
    target: TargetName | null,
  ): Promise<ListedControl[]> {
    const row = await existingAgent(scope, agentName);
    const linked = await linkedControls(scope, row.id, registry, target);
    return linked.map((control) => ({ view: printed(control), rendered: control.rendered }));
  }

  async function activeControls(scope: Scoped, agentId: number, target: TargetName | null) {
    const linked = await linkedControls(scope, agentId, registry, target);
    return linked.filter(({ control }) => control.enabled).map(printed);
  }
}

interface StoredAgent extends AgentRegistration {
  readonly version: number;
  readonly linked_control_ids: readonly number[];
  readonly step_schemas: StepSchemaMode | 'default';
  readonly effective_step_schemas: StepSchemaMode;
  readonly mismatched_steps: readonly object[];
  readonly labels: Readonly<Record<string, string>>;
  readonly last_evaluated_at: string | null;
  readonly last_denied_at: string | null;
}

interface Registered {
  readonly id: number;
  readonly created: boolean;
  /** Null for a new agent. */
  readonly merge: Merge | null;
  readonly version: number;
  readonly effects: LabelEffects;
}

/** The row of an agent of the namespace by its name in a path. Throws a VALIDATION_ERROR or AGENT_NOT_FOUND. */
export async function existingAgent(scope: Scoped, name: string): Promise<AgentRow> {
  const agentName = readAgentName(name, 'agent_name');
  return (await createAgentStore(scope).find(agentName)) ?? fail(agentNotFound(agentName));
}

/** The same in the transaction of a change. Throws VERSION_MISMATCH as well. */
export async function demandedAgent(scope: Scoped, name: string, ifVersion: IfVersion): Promise<AgentRow> {
  const row = await existingAgent(scope, name);
  demandVersion(ifVersion, { kind: 'Agent', name: row.name, version: row.version });
  return row;
}

function summariseAgent(row: AgentRow, policyIds: number[], activeControlsCount: number) {
  const registration = readStoredRegistration(row.data);
  return {
    agent_name: row.name,
    policy_ids: policyIds,
    created_at: naiveIso(row.createdAtMs),
    step_count: registration?.steps.length ?? 0,
    evaluator_count: registration?.evaluators.length ?? 0,
    active_controls_count: activeControlsCount,
    version: row.version,
    step_schemas: row.stepSchemas ?? 'default',
    labels: Object.fromEntries(labelsOf(registration?.agent.agent_metadata)),
    description: registration?.agent.agent_description ?? null,
  };
}

/** When an agent was last active, in the form of RFC 3339. */
function printedActivity(activity: AgentActivity | undefined) {
  return {
    last_evaluated_at: isoOfSeconds(activity?.lastEvaluatedS),
    last_denied_at: isoOfSeconds(activity?.lastDeniedS),
  };
}

/** A registration changes verdicts by the schemas of its steps and the metadata of the agent; any change has a revision. */
export function changeOfRegistration({ key, data }: AgentRow, next: string): Change {
  const isSame =
    stepSchemasText(data) === stepSchemasText(next) &&
    registeredMetadataText(data) === registeredMetadataText(next);
  return isSame ? {} : { agents: [key] };
}

/** ISO 8601 in UTC without a zone suffix, microseconds unless the fraction is zero: expected by clients. */
export function naiveIso(epochMs: number): string {
  const iso = new Date(epochMs).toISOString();
  return epochMs % 1000 === 0 ? iso.slice(0, 19) : `${iso.slice(0, 23)}000`;
}

function naiveIsoOrNull(epochMs: number | undefined): string | null {
  return epochMs === undefined ? null : naiveIso(epochMs);
}

function fail(error: Error): never {
  throw error;
}
