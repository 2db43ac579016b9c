import type { Addition } from '../support/tree-copy.js';

/** A change as a person makes it, of a kind that `docs/architecture.md` describes. */
export interface SampleChange {
  readonly name: string;
  /** Most files that a change of this kind may touch. */
  readonly maxFiles: number;
  readonly additions: readonly Addition[];
}

const RPC: SampleChange = {
  name: 'an RPC',
  // The proto, the schema, the handler, the service, and the script that every protocol plays.
  maxFiles: 5,
  additions: [
    {
      file: 'proto/enforcement/v1/policy_service.proto',
      below: 'service PolicyService {\n',
      text: `  // Counts policies.
  rpc CountPolicies(CountPoliciesRequest) returns (CountPoliciesResponse) {
    option (google.api.http) = {get: "/api/v1/policy-count"};
    option idempotency_level = NO_SIDE_EFFECTS;
    option (access) = ACCESS_KEY;
    option (agent_scope) = AGENT_SCOPE_BEYOND;
    option (scopes) = "policies.read";
  }
`,
    },
    {
      file: 'proto/enforcement/v1/policy_service.proto',
      text: `
// Request message for PolicyService.CountPolicies.
message CountPoliciesRequest {
  // Case-insensitive substring of the name. Empty: no filter.
  optional string name = 1;
}

// Response message for PolicyService.CountPolicies.
message CountPoliciesResponse {
  // Number of policies.
  int32 count = 1;
}
`,
    },
    {
      file: 'src/manage/policies/policy-schemas.ts',
      below: 'export const policySchemas = {\n',
      text: '  countPolicies: z.object({ name: nullable(text()) }),\n',
    },
    {
      file: 'src/manage/policies/policy-handlers.ts',
      below: '  return {\n',
      text: '    countPolicies: handler(schemas.countPolicies, ({ name }, context) => policies.count(context, name || null)),\n',
    },
    {
      file: 'src/manage/policies/policy-service.ts',
      below: '  return {\n',
      text: `    async count(context: CallContext, nameContains: string | null) {
      const filters = { cursor: null, limit: 1, nameContains };
      return { count: (await createPolicyStore(scopeOf(context, database.client)).list(filters)).total };
    },

`,
    },
    {
      file: 'test/e2e/every-rpc.policies.ts',
      below: 'export const POLICY_STEPS: readonly Step[] = [\n',
      text: `  ...steps('PolicyService.CountPolicies', [
    ['finds none', {}, { reply: { count: 0 } }],
    ['requires a key', {}, NO_KEY, null],
  ]),
`,
    },
  ],
};

const METRIC: SampleChange = {
  name: 'a metric',
  maxFiles: 4,
  additions: [
    {
      file: 'src/observe/events/observability-meter.ts',
      below: 'export interface ObservabilityMeter {\n',
      text: '  /** Transactions that stored events. */\n  commits: number;\n',
    },
    {
      file: 'src/observe/events/observability-meter.ts',
      below: '    buffered: () => 0,\n',
      text: '    commits: 0,\n',
    },
    {
      file: 'src/app/operations/event-metrics.ts',
      below: '  const { gauge, counter } = createMetricKinds(prefix, registers);\n',
      text: "  counter('event_commits_total', 'Transactions that stored events.', () => meter.commits);\n",
    },
    {
      file: 'src/observe/events/event-ingest.ts',
      below: '      meter.committed((performance.now() - startMs) / 1000);\n',
      text: '      meter.commits += 1;\n',
    },
    {
      file: 'test/app/operations/metrics.test.ts',
      text: `
it('transactions that store events are counted', async () => {
  const service = await testService();
  const event = { trace_id: 't', span_id: 's', agent_name: AGENT, control_id: 1, control_name: 'one' };
  const seen = { check_stage: 'pre', applies_to: 'llm_call', action: 'deny', matched: true, confidence: 1 };
  const reply = await restClient(service.url)('POST', '/api/v1/observability/events', {
    events: [{ ...event, ...seen }],
  });
  expect(reply.status).toBe(202);
  expect(metric(await scrape(service), 'control_enforcement_server_event_commits_total')).toBe(1);
});
`,
    },
  ],
};

const SETTING: SampleChange = {
  name: 'a setting',
  maxFiles: 3,
  additions: [
    {
      file: 'src/contract/config/listener-settings.ts',
      below: 'export const LISTENER = {\n',
      text: "  sample: setting('SERVICE_SAMPLE', false, BOOLEAN).help('Whether the service warns of a sample.'),\n",
    },
    {
      file: 'src/app/wiring/start-warnings.ts',
      below: 'export function startWarnings({\n',
      text: '  sample,\n',
    },
    {
      file: 'src/app/wiring/start-warnings.ts',
      below: "  if (duplicateMembers === 'last') warnings.push(LAST_COUNTS);\n",
      text: "  if (sample) warnings.push('this is a sample');\n",
    },
    {
      file: 'test/contract/config/settings.golden.txt',
      below: '',
      text: "SERVICE_SAMPLE = false | true or false | sample false | 'true' → true | 'false' → false\n",
    },
  ],
};

const OPTION: SampleChange = {
  name: 'an option of an evaluator',
  maxFiles: 4,
  additions: [
    {
      file: 'src/kernel/evaluators/list/list.ts',
      below: '    normalize: normalization(),\n',
      text: "    is_off: withDefault(boolean(), false).meta({ description: 'Whether nothing matches.' }),\n",
    },
    {
      file: 'src/kernel/evaluators/list/list.ts',
      below: '  compile(config): CompiledEvaluator {\n',
      text: `    if (configSchema.parse(config).is_off) {
      return { evaluate: (data) => notChecked('The list is off', itemsOf(data).length) };
    }
`,
    },
    {
      file: 'test/kernel/evaluators/list.test.ts',
      text: `
it('a list that is off never matches', () => {
  expect(evaluate({ values: ['a'] }, 'a')).toMatchObject({ matched: true });
  expect(evaluate({ values: ['a'], is_off: true }, 'a')).toMatchObject({ matched: false });
});
`,
    },
  ],
};

export const SAMPLE_CHANGES: readonly SampleChange[] = [RPC, METRIC, SETTING, OPTION];
