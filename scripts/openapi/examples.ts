import { readFileSync } from 'node:fs';
import type { JsonObject, JsonValue } from '../../packages/exact-json/src/index.js';
import { findUp } from '../../src/contract/runtime/package-root.js';

/** Parameters of paths, in every operation that has them: they name what the examples of the bodies create. */
const PATH: Readonly<Record<string, JsonValue>> = {
  agent_name: 'billing-bot-01',
  approval_id: 1,
  binding_id: 1,
  control_execution_id: '5f0c7a52-9d0b-4a57-8e0a-5d7d3c0f1b11',
  control_id: 1,
  delivery_id: 1,
  destination_id: 1,
  evaluator_name: 'tone-check',
  halt_id: 1,
  key_id: 1,
  installation_id: 1,
  namespace: 'payments',
  pack_name: 'samples',
  policy_id: 1,
  request_id: 2,
  rule_id: 1,
  decision_id: '7d3f5c1e-9b3a-4b7e-8a55-0f4f1f0b2c11',
  version_num: 1,
};

/** Other parameters, by operation. One without an example may be left out. */
const OTHERS: Readonly<Record<string, JsonObject>> = {
  listAgents: { limit: 20, name: 'billing' },
  initAgent: { if_version: 0 },
  updateAgent: { strict: true },
  deleteAgent: { if_version: 2 },
  listAgentEvaluators: { limit: 20 },
  deleteSamplingRule: { delete_samples: true },
  listSamples: { limit: 1, agent_name: 'billing-bot-01', rule_id: 1 },
  listAgentControls: { rendered_state: 'rendered', enabled_state: 'enabled' },
  createControl: { strict: true },
  listControls: { limit: 20, name: 'card', enabled: true, stage_filter: 'pre', execution_filter: 'server' },
  validateControl: { strict: true },
  deleteControl: { force: true },
  listControlAgents: { limit: 20 },
  listControlPolicies: { limit: 20 },
  listControlVersions: { limit: 20 },
  setShadow: { strict: true },
  setControlData: { strict: true, 'If-Match': '*' },
  listPolicies: { limit: 20, name: 'pay' },
  deletePolicy: { force: true },
  listPolicyAgents: { limit: 20 },
  renderTemplate: { strict: true },
  getStats: { agent_name: 'billing-bot-01', time_range: '1h', include_timeseries: false },
  getControlStats: { agent_name: 'billing-bot-01', time_range: '1h', include_timeseries: false },
  getStatsOverview: { time_range: '24h', include_timeseries: false, limit: 10 },
  getEvaluationStats: { time_range: '24h', include_timeseries: false, include_previous: true, limit: 10 },
  listAuditEntries: { resource: 'control', min_revision: 1, limit: 20 },
  listApprovals: { limit: 20, state: 'pending' },
  awaitApproval: { agent_name: 'billing-bot-01', wait: '0s' },
  evaluate: { 'X-Service-Min-Revision': 1 },
};

/** The operations and parameters that the examples are for; each must exist. */
export const PARAMETER_EXAMPLES = { path: Object.keys(PATH), others: OTHERS } as const;

/** Adds the examples of an operation to its parameters. */
export function withParameterExamples(operationId: string, parameters: readonly JsonObject[]): JsonObject[] {
  const others = OTHERS[operationId] ?? {};
  return parameters.map((parameter) => {
    const examples = parameter.in === 'path' ? PATH : others;
    const name = String(parameter.name);
    return Object.hasOwn(examples, name) ? { ...parameter, example: examples[name] as JsonValue } : parameter;
  });
}

/** What a service replies to the examples of the requests, by operation. Written by `npm run generate:openapi`. */
const replies = JSON.parse(readFileSync(findUp('gen/openapi/reply-examples.json'), 'utf8')) as JsonObject;

/** A response with the reply of the operation as the example of its content. */
export function withReplyExample(operationId: string, response: JsonObject): JsonObject {
  if (!Object.hasOwn(replies, operationId)) return response;
  const example = replies[operationId] as JsonValue;
  const content = Object.entries((response.content ?? {}) as JsonObject).map(
    ([mediaType, described]) => [mediaType, { ...(described as JsonObject), example }] as const,
  );
  return { ...response, content: Object.fromEntries(content) };
}
