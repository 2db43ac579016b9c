import { invalid, query, type UnhappyCase } from './unhappy-case.js';

const registration = (more: object) => ({ body: { agent: { agent_name: 'unhappy-agent-02' }, ...more } });
const step = { type: 'llm', name: 'answer' };

/** What is refused about agents. */
export const AGENT_CASES: readonly UnhappyCase[] = [
  invalid(
    'listAgents',
    'a page size that is no number',
    query({ limit: 'many' }),
    'Request query.limit int_parsing',
  ),
  {
    ...invalid(
      'listAgents',
      'a cursor that is no name',
      query({ cursor: 'short' }),
      'Agent cursor invalid_format',
    ),
    details: { kind: 'Agent' },
  },
  invalid(
    'initAgent',
    'a bad name, step, evaluator and mode at once',
    registration({
      agent: { agent_name: 'Bad Name!!!' },
      steps: [{ type: '', name: 'x' }, { type: 'tool' }],
      evaluators: [{ name: '' }],
      conflict_mode: 'merge',
    }),
    'Agent agent.agent_name value_error',
    'Step steps[0].type string_too_short',
    'Step steps[1].name missing',
    'Evaluator evaluators[0].name string_too_short',
    'Request conflict_mode enum',
  ),
  {
    route: 'initAgent',
    what: 'a step twice',
    input: registration({ steps: [step, step] }),
    status: 400,
    error: 'VALIDATION_ERROR',
    items: ['Step name duplicate_step_name'],
  },
  {
    route: 'initAgent',
    what: 'an evaluator named like one of the service',
    input: registration({ evaluators: [{ name: 'regex' }] }),
    status: 409,
    error: 'EVALUATOR_NAME_CONFLICT',
    items: ['Evaluator name name_conflict'],
    details: { kind: 'Evaluator', name: 'regex' },
  },
  {
    route: 'initAgent',
    what: 'another schema of a step in strict mode',
    input: (world) => ({
      body: {
        agent: { agent_name: world.agent },
        steps: [{ type: 'tool', name: 'refund', input_schema: { x: 1 } }],
      },
    }),
    status: 409,
    error: 'SCHEMA_INCOMPATIBLE',
    items: ['Step schema schema_mismatch'],
    details: { kind: 'Step', name: 'refund' },
  },
  invalid(
    'patchAgent',
    'null instead of lists',
    { body: { remove_steps: null, remove_evaluators: null } },
    'Request remove_steps list_type',
    'Request remove_evaluators list_type',
  ),
  {
    route: 'patchAgent',
    what: 'an evaluator that an active control uses',
    input: { body: { remove_evaluators: ['tone'] } },
    status: 409,
    error: 'EVALUATOR_IN_USE',
    items: ['Control evaluator.name in_use'],
  },
  invalid(
    'listAgentControls',
    'unknown states',
    query({ rendered_state: 'half', enabled_state: 'maybe' }),
    'Request query.rendered_state literal_error',
    'Request query.enabled_state literal_error',
  ),
  {
    route: 'linkControl',
    what: 'a control with an evaluator of another agent',
    input: (world) => ({ path: { control: world.foreignControl } }),
    status: 400,
    error: 'POLICY_CONTROL_INCOMPATIBLE',
    items: ['Control evaluator incompatible'],
  },
  ...(['addAgentPolicy', 'assignPolicy'] as const).map(
    (route): UnhappyCase => ({
      route,
      what: 'a policy with a control that the agent cannot run',
      input: (world) => ({ path: { policy: world.foreignPolicy } }),
      status: 400,
      error: 'POLICY_CONTROL_INCOMPATIBLE',
      items: ['Control evaluator incompatible'],
    }),
  ),
  ...(['getAgentPolicy', 'unassignPolicy'] as const).map(
    (route): UnhappyCase => ({
      route,
      what: 'an agent without a policy',
      input: {},
      status: 404,
      error: 'POLICY_NOT_FOUND',
      details: { kind: 'Policy' },
    }),
  ),
  invalid(
    'listAgentEvaluators',
    'a page size that is no number',
    query({ limit: 'x' }),
    'Request query.limit int_parsing',
  ),
  {
    route: 'getAgentEvaluator',
    what: 'an evaluator that is not registered',
    input: { path: { evaluator: 'Tone' } },
    status: 404,
    error: 'EVALUATOR_NOT_FOUND',
    details: { kind: 'Evaluator', name: 'Tone' },
  },
];
