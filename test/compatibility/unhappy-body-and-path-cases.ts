import type { RouteName } from './routes.js';
import {
  invalid,
  missingAgent,
  missingControl,
  missingPolicy,
  notFound,
  type UnhappyCase,
} from './unhappy-case.js';

/** Routes with an agent in the path. */
const AGENT_ROUTES = [
  'getAgent',
  'patchAgent',
  'listAgentControls',
  'linkControl',
  'unlinkControl',
  'listAgentPolicies',
  'addAgentPolicy',
  'removeAgentPolicy',
  'removeAgentPolicies',
  'getAgentPolicy',
  'assignPolicy',
  'unassignPolicy',
  'listAgentEvaluators',
  'getAgentEvaluator',
] as const satisfies readonly RouteName[];

const CONTROL_ROUTES = [
  'linkControl',
  'unlinkControl',
  'addPolicyControl',
  'removePolicyControl',
  'getControl',
  'deleteControl',
  'getControlData',
] as const satisfies readonly RouteName[];

const POLICY_ROUTES = [
  'addAgentPolicy',
  'removeAgentPolicy',
  'assignPolicy',
  'listPolicyControls',
  'addPolicyControl',
  'removePolicyControl',
] as const satisfies readonly RouteName[];

/** Routes that take a JSON body, with what a body without any member lacks. */
const BODIES: Readonly<Partial<Record<RouteName, readonly string[]>>> = {
  login: ['Request api_key missing'],
  initAgent: ['Agent agent missing'],
  createPolicy: ['Request name missing'],
  createControl: ['Request name missing', 'Control data missing'],
  validateControl: ['Control data missing'],
  setControlData: ['Control data missing'],
  renderTemplate: ['Request template missing'],
  evaluate: ['Request agent_name missing', 'Request step missing', 'Request stage missing'],
  ingestEvents: ['Request events missing'],
  // A body without members is fine here.
  patchAgent: [],
  patchControl: [],
  queryEvents: [],
};

/** Bodies that are none, or lack what is required. */
export const BODY_CASES: readonly UnhappyCase[] = (
  Object.entries(BODIES) as [RouteName, readonly string[]][]
).flatMap(([route, lacks]) => [
  invalid(route, 'a list as body', { body: [] }, 'Request - model_attributes_type'),
  invalid(route, 'null as body', { body: null }, 'Request - missing'),
  invalid(route, 'no body', {}, 'Request - missing'),
  ...(lacks.length === 0 ? [] : [invalid(route, 'an empty object', { body: {} }, ...lacks)]),
]);

/** Paths that name nothing. */
export const PATH_CASES: readonly UnhappyCase[] = [
  ...AGENT_ROUTES.flatMap((route) => [
    {
      ...invalid(
        route,
        'a name that is too short',
        { path: { agent: 'short' }, body: {} },
        'Agent agent_name invalid_format',
      ),
      details: { kind: 'Agent' },
    },
    ...(route === 'listAgentEvaluators' || route === 'getAgentEvaluator'
      ? []
      : [{ ...notFound(route, 'Agent', missingAgent), input: { path: missingAgent, body: {} } }]),
  ]),
  ...CONTROL_ROUTES.flatMap((route) => [
    invalid(route, 'an id that is none', { path: { control: 'x' } }, 'Request path.control_id int_parsing'),
    notFound(route, 'Control', missingControl),
  ]),
  ...POLICY_ROUTES.flatMap((route) => [
    invalid(
      route,
      'a policy id that is none',
      { path: { policy: '1.5' } },
      'Request path.policy_id int_parsing',
    ),
    notFound(route, 'Policy', missingPolicy),
  ]),
];
