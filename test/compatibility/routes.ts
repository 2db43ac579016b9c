import { REPLIES } from './replies.js';

/** Every route that deployed clients call: the whole API but /metrics. `{x}` stands for a part of the path. */
export const ROUTES = {
  health: ['GET', '/health', 'public', 200, REPLIES.health],
  config: ['GET', '/api/config', 'public', 200, REPLIES.config],
  login: ['POST', '/api/login', 'public', 200, REPLIES.login],
  logout: ['POST', '/api/logout', 'public', 204, null],
  listAgents: ['GET', '/api/v1/agents', 'key', 200, REPLIES.agents],
  initAgent: ['POST', '/api/v1/agents/initAgent', 'key', 200, REPLIES.initAgent],
  getAgent: ['GET', '/api/v1/agents/{agent}', 'key', 200, REPLIES.agent],
  patchAgent: ['PATCH', '/api/v1/agents/{agent}', 'admin', 200, REPLIES.patchAgent],
  listAgentControls: ['GET', '/api/v1/agents/{agent}/controls', 'key', 200, REPLIES.agentControls],
  linkControl: ['POST', '/api/v1/agents/{agent}/controls/{control}', 'admin', 200, REPLIES.success],
  unlinkControl: ['DELETE', '/api/v1/agents/{agent}/controls/{control}', 'admin', 200, REPLIES.unlink],
  listAgentPolicies: ['GET', '/api/v1/agents/{agent}/policies', 'key', 200, REPLIES.policyIds],
  addAgentPolicy: ['POST', '/api/v1/agents/{agent}/policies/{policy}', 'admin', 200, REPLIES.success],
  removeAgentPolicy: ['DELETE', '/api/v1/agents/{agent}/policies/{policy}', 'admin', 200, REPLIES.success],
  removeAgentPolicies: ['DELETE', '/api/v1/agents/{agent}/policies', 'admin', 200, REPLIES.success],
  getAgentPolicy: ['GET', '/api/v1/agents/{agent}/policy', 'key', 200, REPLIES.policyId],
  assignPolicy: ['POST', '/api/v1/agents/{agent}/policy/{policy}', 'admin', 200, REPLIES.assignPolicy],
  unassignPolicy: ['DELETE', '/api/v1/agents/{agent}/policy', 'admin', 200, REPLIES.success],
  listAgentEvaluators: ['GET', '/api/v1/agents/{agent}/evaluators', 'key', 200, REPLIES.agentEvaluators],
  getAgentEvaluator: [
    'GET',
    '/api/v1/agents/{agent}/evaluators/{evaluator}',
    'key',
    200,
    REPLIES.agentEvaluator,
  ],
  createPolicy: ['PUT', '/api/v1/policies', 'admin', 200, REPLIES.policyId],
  listPolicyControls: ['GET', '/api/v1/policies/{policy}/controls', 'key', 200, REPLIES.controlIds],
  addPolicyControl: ['POST', '/api/v1/policies/{policy}/controls/{control}', 'admin', 200, REPLIES.success],
  removePolicyControl: [
    'DELETE',
    '/api/v1/policies/{policy}/controls/{control}',
    'admin',
    200,
    REPLIES.success,
  ],
  createControl: ['PUT', '/api/v1/controls', 'admin', 200, REPLIES.controlId],
  listControls: ['GET', '/api/v1/controls', 'key', 200, REPLIES.controls],
  controlSchema: ['GET', '/api/v1/controls/schema', 'public', 200, REPLIES.schema],
  validateControl: ['POST', '/api/v1/controls/validate', 'key', 200, REPLIES.success],
  getControl: ['GET', '/api/v1/controls/{control}', 'key', 200, REPLIES.control],
  patchControl: ['PATCH', '/api/v1/controls/{control}', 'admin', 200, REPLIES.patchControl],
  deleteControl: ['DELETE', '/api/v1/controls/{control}', 'admin', 200, REPLIES.deleteControl],
  getControlData: ['GET', '/api/v1/controls/{control}/data', 'key', 200, REPLIES.controlData],
  setControlData: ['PUT', '/api/v1/controls/{control}/data', 'admin', 200, REPLIES.success],
  renderTemplate: ['POST', '/api/v1/control-templates/render', 'key', 200, REPLIES.render],
  listEvaluators: ['GET', '/api/v1/evaluators', 'key', 200, REPLIES.evaluators],
  evaluate: ['POST', '/api/v1/evaluation', 'key', 200, REPLIES.evaluation],
  ingestEvents: ['POST', '/api/v1/observability/events', 'key', 202, REPLIES.ingest],
  queryEvents: ['POST', '/api/v1/observability/events/query', 'key', 200, REPLIES.events],
  stats: ['GET', '/api/v1/observability/stats', 'key', 200, REPLIES.stats],
  controlStats: ['GET', '/api/v1/observability/stats/controls/{control}', 'key', 200, REPLIES.controlStats],
  observabilityStatus: ['GET', '/api/v1/observability/status', 'key', 200, REPLIES.observabilityStatus],
} as const;

export type RouteName = keyof typeof ROUTES;
export const ROUTE_NAMES = Object.keys(ROUTES) as RouteName[];

/** What a call is about; parts of the path by their name in the template. */
export interface CallInput {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: unknown;
}

/** Path and query of a call. Parts that the input does not name are taken from `defaults`. */
export function pathOf(
  route: RouteName,
  input: CallInput = {},
  defaults: Readonly<Record<string, string | number>> = {},
): string {
  const path = ROUTES[route][1].replace(/\{(\w+)\}/g, (_all, part: string) => {
    const value = input.path?.[part] ?? defaults[part];
    if (value === undefined) throw new Error(`${route} needs ${part}`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input.query ?? {})) query.set(name, String(value));
  return query.size === 0 ? path : `${path}?${query}`;
}
