import { denyWord } from '../support/seed.js';
import { invalid, MISSING_AGENT, missingControl, notFound, query, type UnhappyCase } from './unhappy-case.js';
import { WORDS_TEMPLATE } from './world.js';

const data = denyWord('bad');

/** What is refused about controls, policies and templates. */
export const CONTROL_CASES: readonly UnhappyCase[] = [
  invalid(
    'createControl',
    'a bad name and members of a definition',
    {
      body: {
        name: 'two words',
        data: { ...data, execution: 'both', scope: { stages: ['mid'] }, action: {} },
      },
    },
    'Request name string_pattern_mismatch',
    'Control data.execution literal_error',
    'Control data.scope.stages[0] literal_error',
    'Control data.action.decision missing',
  ),
  invalid(
    'createControl',
    'a pattern that does not compile',
    { body: { name: 'x', data: denyWord('(') } },
    'Control data.condition.evaluator.pattern value_error',
  ),
  invalid(
    'createControl',
    'a definition that is none',
    { body: { name: 'x', data: 'text' } },
    'Control data.ControlDefinition model_attributes_type',
    'Control data.TemplateControlInput model_attributes_type',
  ),
  {
    route: 'createControl',
    what: 'a name that is taken',
    input: { body: { name: 'linked', data } },
    status: 409,
    error: 'CONTROL_NAME_CONFLICT',
    items: ['Control name name_conflict'],
    details: { kind: 'Control', name: 'linked' },
  },
  {
    route: 'createControl',
    what: 'an evaluator of an agent that is not there',
    input: { body: { name: 'x', data: agentScoped(MISSING_AGENT, 'tone', {}) } },
    status: 404,
    error: 'AGENT_NOT_FOUND',
    details: { kind: 'Agent', name: MISSING_AGENT },
  },
  ...(['createControl', 'validateControl', 'setControlData'] as const).flatMap((route): UnhappyCase[] => [
    {
      route,
      what: 'an evaluator that its agent has not registered',
      input: (world) => ({ body: { name: 'x', data: agentScoped(world.agent, 'none', {}) } }),
      status: 422,
      error: 'EVALUATOR_NOT_FOUND',
      items: ['Control data.condition.evaluator.name evaluator_not_found'],
      details: { kind: 'Evaluator', name: 'none' },
    },
    {
      route,
      what: 'a config that does not fit the schema of its evaluator',
      input: (world) => ({ body: { name: 'x', data: agentScoped(world.agent, 'tone', { level: 'high' }) } }),
      status: 422,
      error: 'INVALID_CONFIG',
      items: ['Control data.condition.evaluator.config schema_validation_error'],
      details: { kind: 'Evaluator' },
    },
  ]),
  invalid(
    'listControls',
    'filters of the wrong type',
    query({ limit: '0', cursor: 'x', enabled: 'perhaps', template_backed: '' }),
    'Request query.cursor int_parsing',
    'Request query.limit greater_than_equal',
    'Request query.enabled bool_parsing',
    'Request query.template_backed bool_parsing',
  ),
  invalid('listControls', 'too large a page', query({ limit: '101' }), 'Request query.limit less_than_equal'),
  invalid(
    'validateControl',
    'a template next to a definition',
    { body: { data: { ...data, template: WORDS_TEMPLATE } } },
    'Control data value_error',
  ),
  invalid(
    'validateControl',
    'a template with a member that is not known',
    { body: { data: { template: WORDS_TEMPLATE, more: 1 } } },
    'Control data.more extra_forbidden',
  ),
  {
    route: 'validateControl',
    what: 'a value of the wrong type for a parameter',
    input: { body: { data: { template: WORDS_TEMPLATE, template_values: { words: 'alpha' } } } },
    status: 422,
    error: 'TEMPLATE_PARAMETER_INVALID',
    items: ['Control template_values.words invalid_type'],
  },
  invalid(
    'patchControl',
    'members of the wrong type',
    (world) => ({ path: { control: world.control }, body: { name: 5, enabled: 'perhaps' } }),
    'Request name string_type',
    'Request enabled bool_parsing',
  ),
  { ...notFound('patchControl', 'Control', missingControl), input: { path: missingControl, body: {} } },
  {
    route: 'patchControl',
    what: 'a name that another control has',
    input: (world) => ({ path: { control: world.draft }, body: { name: 'linked' } }),
    status: 409,
    error: 'CONTROL_NAME_CONFLICT',
    items: ['Control name name_conflict'],
    details: { kind: 'Control', name: 'linked' },
  },
  {
    ...invalid(
      'patchControl',
      'enabling a draft',
      (world) => ({ path: { control: world.draft }, body: { enabled: true } }),
      'Control enabled unrendered_template_cannot_enable',
    ),
    details: { kind: 'Control' },
  },
  invalid('deleteControl', 'a bad force', query({ force: 'maybe' }), 'Request query.force bool_parsing'),
  {
    route: 'deleteControl',
    what: 'a control that is linked',
    input: {},
    status: 409,
    error: 'CONTROL_IN_USE',
    items: ['Policy controls control_in_use', 'Agent controls control_in_use'],
    details: { kind: 'Control', name: 'linked' },
  },
  {
    ...notFound('setControlData', 'Control', missingControl),
    input: { path: missingControl, body: { data } },
  },
  {
    route: 'setControlData',
    what: 'a definition in place of a template',
    input: (world) => ({ path: { control: world.fromTemplate }, body: { data } }),
    status: 409,
    error: 'CONTROL_TEMPLATE_CONFLICT',
    items: ['Control data template_backed_control_conflict'],
    details: { kind: 'Control' },
  },
  {
    route: 'setControlData',
    what: 'a template without its values in place of a definition',
    input: { body: { data: { template: WORDS_TEMPLATE } } },
    status: 422,
    error: 'TEMPLATE_PARAMETER_INVALID',
    items: ['Control template_values.words missing_parameter'],
  },
  {
    route: 'createPolicy',
    what: 'a name that is taken',
    input: { body: { name: 'unhappy' } },
    status: 409,
    error: 'POLICY_NAME_CONFLICT',
    items: ['Policy name name_conflict'],
    details: { kind: 'Policy', name: 'unhappy' },
  },
  invalid('createPolicy', 'a bad name', { body: { name: ' ' } }, 'Request name too_short'),
  {
    route: 'renderTemplate',
    what: 'no value for a parameter',
    input: { body: { template: WORDS_TEMPLATE } },
    status: 422,
    error: 'TEMPLATE_PARAMETER_INVALID',
    items: ['Control template_values.words missing_parameter'],
  },
  {
    route: 'renderTemplate',
    what: 'a parameter that is not declared',
    input: { body: { template: { definition_template: { description: { $param: 'x' } } } } },
    status: 422,
    error: 'TEMPLATE_RENDER_ERROR',
    items: ['Control description undefined_parameter_reference'],
  },
  invalid(
    'renderTemplate',
    'a member that is not known',
    { body: { template: WORDS_TEMPLATE, name: 'x' } },
    'Request name extra_forbidden',
  ),
];

function agentScoped(agent: string, evaluator: string, config: object): object {
  return {
    execution: 'sdk',
    condition: { selector: {}, evaluator: { name: `${agent}:${evaluator}`, config } },
    action: { decision: 'observe' },
  };
}
