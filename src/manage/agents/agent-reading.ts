import type { CallContext } from '../../contract/call/handler.js';
import { paginationOf } from '../../contract/call/page.js';
import { isoOfSeconds } from '../../contract/call/printed.js';
import { readAgentName } from '../../contract/input/names.js';
import { createAgentControlStore } from '../../decide/agent-state/agent-control-store.js';
import { agentCorrupted } from '../../decide/agent-state/agent-errors.js';
import type { StepSchemaReports } from '../../decide/agent-state/step-schema-setting.js';
import type { StepSchemaMode } from '../../kernel/core/step-schemas.js';
import type { Database } from '../../storage/database/database.js';
import { scopeOf } from '../../storage/database/scoped.js';
import { countedLabels } from './agent-label-store.js';
import { labelsOf } from './agent-labels.js';
import { createAgentPolicyStore } from './agent-policy-store.js';
import type { AgentRegistration } from './agent-registration.js';
import { type AgentInputs, readStoredRegistration } from './agent-schemas.js';
import { type AgentActivity, type AgentRow, createAgentStore } from './agent-store.js';
import { existingAgent } from './existing-agent.js';
import { compareTexts } from './steps-catalogue.js';

export interface AgentReadingOptions {
  readonly database: Database;
  readonly stepSchemas: StepSchemaReports;
}

/** Labels listed, and values of each. */
const MAX_COUNTED_LABELS = { names: 200, values: 100 } as const;

/** Lists agents and their labels, and shows one with its registration. */
export function createAgentReading({ database, stepSchemas }: AgentReadingOptions) {
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
  };
}

/** An agent with its registration. */
export interface StoredAgent extends AgentRegistration {
  readonly version: number;
  readonly linked_control_ids: readonly number[];
  readonly step_schemas: StepSchemaMode | 'default';
  readonly effective_step_schemas: StepSchemaMode;
  readonly mismatched_steps: readonly object[];
  readonly labels: Readonly<Record<string, string>>;
  readonly last_evaluated_at: string | null;
  readonly last_denied_at: string | null;
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

/** ISO 8601 in UTC without a zone suffix, microseconds unless the fraction is zero: expected by clients. */
function naiveIso(epochMs: number): string {
  const iso = new Date(epochMs).toISOString();
  return epochMs % 1000 === 0 ? iso.slice(0, 19) : `${iso.slice(0, 23)}000`;
}

function naiveIsoOrNull(epochMs: number | undefined): string | null {
  return epochMs === undefined ? null : naiveIso(epochMs);
}

function fail(error: Error): never {
  throw error;
}
