import { z } from 'zod';

/**
 * Replies as deployed clients read them. Every declared member has to be there, null where nothing is set; members
 * that a client does not know are passed over.
 */
const count = z.int().nonnegative();
const nullableText = z.string().nullable();
const freeForm = z.record(z.string(), z.unknown());

const pagination = z
  .object({
    limit: z.int().min(1).max(1000),
    total: count,
    next_cursor: z.string().min(1).nullable(),
    has_more: z.boolean(),
  })
  .refine(
    ({ next_cursor, has_more }) => (next_cursor !== null) === has_more,
    'a cursor exactly when has_more',
  );

const stepKey = z.object({ type: z.string().min(1), name: z.string().min(1) });
const definition = z.object({ condition: freeForm.optional(), enabled: z.boolean() }).loose();
const agentControl = z.object({ id: z.int().positive(), name: z.string(), control: definition });
const success = z.object({ success: z.literal(true) });

const evaluatorResult = z.object({
  matched: z.boolean(),
  confidence: z.number().min(0).max(1),
  message: nullableText,
  metadata: freeForm.nullable(),
  error: nullableText,
});
const evaluationItem = z.object({
  control_execution_id: z.uuid(),
  control_id: z.int().positive(),
  control_name: z.string(),
  action: z.enum(['deny', 'steer', 'observe']),
  result: evaluatorResult,
  steering_context: z.object({ message: z.string() }).nullable(),
});
export type EvaluationItem = z.infer<typeof evaluationItem>;

const actionCounts = z.partialRecord(z.enum(['deny', 'steer', 'observe']), z.int().positive());
const bucket = z.object({
  timestamp: z.iso.datetime({ offset: true }),
  execution_count: count,
  match_count: count,
  non_match_count: count,
  error_count: count,
  action_counts: actionCounts,
  avg_confidence: z.number().nullable(),
  avg_duration_ms: z.number().nullable(),
});
const totals = z.object({
  execution_count: count,
  match_count: count,
  non_match_count: count,
  error_count: count,
  action_counts: actionCounts,
  timeseries: z.array(bucket).nullable(),
});
const timeRange = z.enum(['1m', '5m', '15m', '1h', '24h', '7d', '30d', '180d', '365d']);
const event = z.object({
  control_execution_id: z.string(),
  trace_id: z.string(),
  span_id: z.string(),
  agent_name: z.string(),
  control_id: z.int(),
  control_name: z.string(),
  check_stage: z.enum(['pre', 'post']),
  applies_to: z.enum(['llm_call', 'tool_call']),
  action: z.enum(['deny', 'steer', 'observe']),
  matched: z.boolean(),
  confidence: z.number(),
  timestamp: z.string(),
  execution_duration_ms: z.number().nullable(),
  evaluator_name: nullableText,
  selector_path: nullableText,
  error_message: nullableText,
  metadata: freeForm,
});

export const REPLIES = {
  health: z.object({ status: z.literal('healthy'), version: z.string() }),
  config: z.object({
    requires_api_key: z.boolean(),
    auth_mode: z.enum(['none', 'api-key']),
    has_active_session: z.boolean(),
  }),
  login: z.object({ authenticated: z.boolean(), is_admin: z.boolean() }),
  agents: z.object({
    agents: z.array(
      z.object({
        agent_name: z.string(),
        policy_ids: z.array(z.int()),
        // Naive: no zone.
        created_at: z
          .string()
          .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$/)
          .nullable(),
        step_count: count,
        evaluator_count: count,
        active_controls_count: count,
      }),
    ),
    pagination,
  }),
  initAgent: z.object({
    created: z.boolean(),
    controls: z.array(agentControl),
    overwrite_applied: z.boolean(),
    overwrite_changes: z.object({
      metadata_changed: z.boolean(),
      steps_added: z.array(stepKey),
      steps_updated: z.array(stepKey),
      steps_removed: z.array(stepKey),
      evaluators_added: z.array(z.string()),
      evaluators_updated: z.array(z.string()),
      evaluators_removed: z.array(z.string()),
      evaluator_removals: z.array(
        z.object({
          name: z.string(),
          referenced_by_active_controls: z.boolean(),
          control_ids: z.array(z.int()),
          control_names: z.array(z.string()),
        }),
      ),
    }),
  }),
  agent: z.object({
    agent: z.object({
      agent_name: z.string(),
      agent_description: nullableText,
      agent_created_at: nullableText,
      agent_updated_at: nullableText,
      agent_version: nullableText,
      agent_metadata: freeForm.nullable(),
    }),
    steps: z.array(
      stepKey.extend({
        description: nullableText,
        input_schema: freeForm.nullable(),
        output_schema: freeForm.nullable(),
        metadata: freeForm.nullable(),
      }),
    ),
    evaluators: z.array(z.object({ name: z.string(), config_schema: freeForm, description: nullableText })),
  }),
  patchAgent: z.object({ steps_removed: z.array(stepKey), evaluators_removed: z.array(z.string()) }),
  agentControls: z.object({ controls: z.array(agentControl) }),
  success,
  unlink: success.extend({ removed_direct_association: z.boolean(), control_still_active: z.boolean() }),
  policyIds: z.object({ policy_ids: z.array(z.int().positive()) }),
  policyId: z.object({ policy_id: z.int().positive() }),
  assignPolicy: success.extend({ old_policy_id: z.int().positive().nullable() }),
  agentEvaluators: z.object({
    evaluators: z.array(z.object({ name: z.string(), description: nullableText, config_schema: freeForm })),
    pagination,
  }),
  agentEvaluator: z.object({ name: z.string(), description: nullableText, config_schema: freeForm }),
  controlIds: z.object({ control_ids: z.array(z.int().positive()) }),
  controlId: z.object({ control_id: z.int().positive() }),
  controls: z.object({
    controls: z.array(
      z.object({
        id: z.int().positive(),
        name: z.string(),
        description: nullableText,
        enabled: z.boolean(),
        execution: nullableText,
        step_types: z.array(z.string()).nullable(),
        stages: z.array(z.string()).nullable(),
        tags: z.array(z.string()),
        template_backed: z.boolean(),
        template_rendered: z.boolean().nullable(),
        used_by_agent: z.object({ agent_name: z.string() }).nullable(),
        used_by_agents_count: count,
      }),
    ),
    pagination,
  }),
  schema: z.object({
    schema: z.object({ $defs: freeForm, properties: freeForm, required: z.array(z.string()) }).loose(),
  }),
  control: z.object({ id: z.int().positive(), name: z.string(), data: definition.nullable() }),
  patchControl: success.extend({ name: z.string(), enabled: z.boolean().nullable() }),
  deleteControl: success.extend({
    dissociated_from: z.array(z.int()),
    dissociated_from_policies: z.array(z.int()),
    dissociated_from_agents: z.array(z.string()),
  }),
  controlData: z.object({ data: definition }),
  render: z.object({ control: definition }),
  evaluators: z.record(
    z.string(),
    z.object({
      name: z.string(),
      version: z.string(),
      description: z.string(),
      requires_api_key: z.boolean(),
      timeout_ms: z.int().positive(),
      config_schema: freeForm,
    }),
  ),
  evaluation: z.object({
    is_safe: z.boolean(),
    confidence: z.number().min(0).max(1),
    reason: nullableText,
    matches: z.array(evaluationItem),
    errors: z.array(evaluationItem),
    non_matches: z.array(evaluationItem),
  }),
  ingest: z.object({
    received: count,
    enqueued: count,
    dropped: count,
    status: z.enum(['queued', 'partial', 'failed']),
  }),
  events: z.object({ events: z.array(event), total: count, limit: count, offset: count }),
  stats: z.object({
    agent_name: z.string(),
    time_range: timeRange,
    totals,
    controls: z.array(
      z.object({
        control_id: z.int(),
        control_name: z.string(),
        execution_count: count,
        match_count: count,
        non_match_count: count,
        deny_count: count,
        steer_count: count,
        observe_count: count,
        error_count: count,
        avg_confidence: z.number(),
        avg_duration_ms: z.number().nullable(),
      }),
    ),
  }),
  controlStats: z.object({
    agent_name: z.string(),
    time_range: timeRange,
    control_id: z.int(),
    control_name: z.string(),
    stats: totals,
  }),
  observabilityStatus: z.object({
    status: z.literal('ok'),
    ingestor_initialized: z.boolean(),
    store_initialized: z.boolean(),
  }),
};

/** The body of every refusal. */
export const PROBLEM = z.object({
  type: z.string().regex(/:[a-z-]+$/),
  title: z.string().min(1),
  status: z.int(),
  detail: z.string().min(1),
  instance: z.string(),
  error_code: z.string(),
  kind: z.literal('Status'),
  api_version: z.literal('v1'),
  reason: z.string(),
  metadata: z.object({ timestamp: z.string() }).loose(),
  errors: z
    .array(
      z.object({ resource: z.string(), field: z.string().optional(), code: z.string(), message: z.string() }),
    )
    .optional(),
});
export type Problem = z.infer<typeof PROBLEM>;
