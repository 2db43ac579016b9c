import { NO_KEY, refusal } from '../support/refusals.js';
import type { Json } from '../support/wire-shape.js';
import { called, READER_KEY, type Step, steps } from './every-rpc.support.js';

/** A template with a parameter of every type. */
const TEMPLATE = {
  description: 'stops words',
  parameters: {
    words: { type: 'string_list', label: 'Words', placeholder: ['secret'] },
    note: { type: 'string', label: 'Note', description: 'shown in lists', ui_hint: 'wide', default: '' },
    decision: { type: 'enum', label: 'Decision', allowed_values: ['deny', 'observe'], default: 'deny' },
    exact_case: { type: 'boolean', label: 'Case', required: false, default: false },
    steps: { type: 'regex_re2', label: 'Steps', default: '^an', placeholder: '.*' },
  },
  definition_template: {
    description: { $param: 'note' },
    execution: 'server',
    scope: { step_name_regex: { $param: 'steps' } },
    condition: {
      selector: { path: 'input' },
      evaluator: {
        name: 'list',
        config: {
          values: { $param: 'words' },
          match_mode: 'contains',
          case_sensitive: { $param: 'exact_case' },
        },
      },
    },
    action: { decision: { $param: 'decision' }, metadata: { weight: 1.5, none: null } },
  },
} satisfies Json;

const VALUES = { words: ['secret', 'internal'] };
const ALL_VALUES = { ...VALUES, note: '', decision: 'deny', exact_case: false, steps: '^an' };
const RENDERED = {
  description: '',
  enabled: true,
  execution: 'server',
  scope: { step_name_regex: '^an' },
  condition: { evaluator: { name: 'list', config: { values: VALUES.words, case_sensitive: false } } },
  action: { decision: 'deny', metadata: { weight: 1.5, none: null } },
  template: TEMPLATE,
  template_values: ALL_VALUES,
};
/** The id that follows those of the script before this. */
const CONTROL_ID = 4;
const DRAFT = { template: TEMPLATE, template_values: {}, enabled: false, condition: null, action: null };
const evaluation = (input: string) => ({
  agent_name: 'template-bot-01',
  stage: 'pre',
  step: { type: 'llm', name: 'answer', input },
  detail: 'full',
});

/** The part of the script that is about templates. */
export const TEMPLATE_STEPS: readonly Step[] = [
  ...steps('TemplateService.RenderTemplate', [
    [
      'fills a template in, and stores nothing',
      { template: TEMPLATE, template_values: VALUES },
      { reply: { control: RENDERED } },
      READER_KEY,
    ],
    ['requires a key', { template: TEMPLATE }, NO_KEY, null],
    [
      'names the parameter whose value is missing',
      { template: TEMPLATE },
      refusal('TEMPLATE_PARAMETER_INVALID', 422, 'InvalidArgument', [
        'template_values.words missing_parameter',
      ]),
    ],
    [
      'names what is wrong with the shape of a template',
      {
        template: { parameters: { x: { type: 'text' }, y: { label: 'Y' }, z: { type: 'enum' } } },
        template_values: { x: 5 },
      },
      [
        'template.parameters.x union_tag_invalid',
        'template.parameters.y union_tag_not_found',
        'template.parameters.z.enum.label missing',
        'template.parameters.z.enum.allowed_values missing',
        'template.definition_template missing',
        'template_values.x.str string_type',
        'template_values.x.bool bool_parsing',
        'template_values.x.list[str] list_type',
      ],
    ],
    [
      'names what is wrong with the structure of a template',
      { template: { definition_template: { execution: { $param: 'x' } } } },
      refusal('TEMPLATE_RENDER_ERROR', 422, 'InvalidArgument', ['execution undefined_parameter_reference']),
    ],
  ]),
  called(
    'ControlService.CreateControl',
    'takes a template without its values as a draft',
    { name: 'from-template', data: { template: TEMPLATE } },
    { reply: { control_id: CONTROL_ID, warnings: [{ code: 'incomplete_template' }] } },
  ),
  called(
    'ControlService.GetControl',
    'shows a draft',
    { control_id: CONTROL_ID },
    { reply: { data: DRAFT } },
  ),
  called(
    'ControlService.ListControls',
    'distinguishes drafts from others',
    { template_backed: true },
    {
      reply: {
        controls: [
          {
            id: CONTROL_ID,
            description: 'stops words',
            enabled: false,
            execution: null,
            template_backed: true,
            template_rendered: false,
          },
        ],
      },
    },
  ),
  called(
    'AgentService.InitAgent',
    'registers an agent for a draft',
    { agent: { agent_name: 'template-bot-01' } },
    { reply: { created: true } },
  ),
  called(
    'AgentService.AddAgentControl',
    'links a draft',
    { agent_name: 'template-bot-01', control_id: CONTROL_ID },
    { reply: { success: true } },
  ),
  called(
    'AgentService.ListAgentControls',
    'finds drafts',
    { agent_name: 'template-bot-01', rendered_state: 'unrendered' },
    { reply: { controls: [{ id: CONTROL_ID, control: DRAFT }] } },
  ),
  called('EvaluationService.Evaluate', 'passes over a draft', evaluation('my secret'), {
    reply: { is_safe: true, matches: [], errors: [], non_matches: [] },
  }),
  called(
    'ControlService.UpdateControl',
    'does not enable a draft',
    { control_id: CONTROL_ID, enabled: true },
    'enabled unrendered_template_cannot_enable',
  ),
  called(
    'ControlService.SetControlData',
    'fills a draft in, and leaves it disabled',
    { control_id: CONTROL_ID, data: { template: TEMPLATE, template_values: VALUES } },
    { reply: { success: true } },
  ),
  called(
    'ControlService.GetControlData',
    'shows a definition that was made from a template',
    { control_id: CONTROL_ID },
    { reply: { data: { ...RENDERED, enabled: false } } },
  ),
  called(
    'ControlService.UpdateControl',
    'enables what was a draft',
    { control_id: CONTROL_ID, enabled: true },
    { reply: { enabled: true } },
  ),
  called('EvaluationService.Evaluate', 'checks what was a draft', evaluation('my secret'), {
    reply: { is_safe: false, matches: [{ control_id: CONTROL_ID, action: 'deny' }] },
  }),
  called(
    'ControlService.SetControlData',
    'does not replace a template by a definition that is written out',
    {
      control_id: CONTROL_ID,
      data: {
        execution: 'server',
        condition: { selector: {}, evaluator: { name: 'list', config: { values: ['x'] } } },
        action: { decision: 'deny' },
      },
    },
    refusal('CONTROL_TEMPLATE_CONFLICT', 409, 'FailedPrecondition', [
      'data template_backed_control_conflict',
    ]),
  ),
];
