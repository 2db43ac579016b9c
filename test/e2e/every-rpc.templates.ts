import type { Json } from '../support/wire-shape.js';
import { error, invalid, NO_KEY, READER_KEY, type Step } from './every-rpc.support.js';

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
  {
    rpc: 'TemplateService.RenderTemplate',
    what: 'fills a template in, and stores nothing',
    input: { template: TEMPLATE, template_values: VALUES },
    key: READER_KEY,
    expected: { reply: { control: RENDERED } },
  },
  {
    rpc: 'TemplateService.RenderTemplate',
    what: 'requires a key',
    input: { template: TEMPLATE },
    key: null,
    expected: NO_KEY,
  },
  {
    rpc: 'TemplateService.RenderTemplate',
    what: 'names the parameter whose value is missing',
    input: { template: TEMPLATE },
    expected: error('TEMPLATE_PARAMETER_INVALID', 422, 'InvalidArgument', [
      'template_values.words missing_parameter',
    ]),
  },
  {
    rpc: 'TemplateService.RenderTemplate',
    what: 'names what is wrong with the shape of a template',
    input: {
      template: { parameters: { x: { type: 'text' }, y: { label: 'Y' }, z: { type: 'enum' } } },
      template_values: { x: 5 },
    },
    expected: invalid(
      'template.parameters.x union_tag_invalid',
      'template.parameters.y union_tag_not_found',
      'template.parameters.z.enum.label missing',
      'template.parameters.z.enum.allowed_values missing',
      'template.definition_template missing',
      'template_values.x.str string_type',
      'template_values.x.bool bool_parsing',
      'template_values.x.list[str] list_type',
    ),
  },
  {
    rpc: 'TemplateService.RenderTemplate',
    what: 'names what is wrong with the structure of a template',
    input: { template: { definition_template: { execution: { $param: 'x' } } } },
    expected: error('TEMPLATE_RENDER_ERROR', 422, 'InvalidArgument', [
      'execution undefined_parameter_reference',
    ]),
  },
  {
    rpc: 'ControlService.CreateControl',
    what: 'takes a template without its values as a draft',
    input: { name: 'from-template', data: { template: TEMPLATE } },
    expected: { reply: { control_id: CONTROL_ID, warnings: [{ code: 'incomplete_template' }] } },
  },
  {
    rpc: 'ControlService.GetControl',
    what: 'shows a draft',
    input: { control_id: CONTROL_ID },
    expected: { reply: { data: DRAFT } },
  },
  {
    rpc: 'ControlService.ListControls',
    what: 'distinguishes drafts from others',
    input: { template_backed: true },
    expected: {
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
  },
  {
    rpc: 'AgentService.InitAgent',
    what: 'registers an agent for a draft',
    input: { agent: { agent_name: 'template-bot-01' } },
    expected: { reply: { created: true } },
  },
  {
    rpc: 'AgentService.AddAgentControl',
    what: 'links a draft',
    input: { agent_name: 'template-bot-01', control_id: CONTROL_ID },
    expected: { reply: { success: true } },
  },
  {
    rpc: 'AgentService.ListAgentControls',
    what: 'finds drafts',
    input: { agent_name: 'template-bot-01', rendered_state: 'unrendered' },
    expected: { reply: { controls: [{ id: CONTROL_ID, control: DRAFT }] } },
  },
  {
    rpc: 'EvaluationService.Evaluate',
    what: 'passes over a draft',
    input: evaluation('my secret'),
    expected: { reply: { is_safe: true, matches: [], errors: [], non_matches: [] } },
  },
  {
    rpc: 'ControlService.UpdateControl',
    what: 'does not enable a draft',
    input: { control_id: CONTROL_ID, enabled: true },
    expected: error('VALIDATION_ERROR', 422, 'InvalidArgument', [
      'enabled unrendered_template_cannot_enable',
    ]),
  },
  {
    rpc: 'ControlService.SetControlData',
    what: 'fills a draft in, and leaves it disabled',
    input: { control_id: CONTROL_ID, data: { template: TEMPLATE, template_values: VALUES } },
    expected: { reply: { success: true } },
  },
  {
    rpc: 'ControlService.GetControlData',
    what: 'shows a definition that was made from a template',
    input: { control_id: CONTROL_ID },
    expected: { reply: { data: { ...RENDERED, enabled: false } } },
  },
  {
    rpc: 'ControlService.UpdateControl',
    what: 'enables what was a draft',
    input: { control_id: CONTROL_ID, enabled: true },
    expected: { reply: { enabled: true } },
  },
  {
    rpc: 'EvaluationService.Evaluate',
    what: 'checks what was a draft',
    input: evaluation('my secret'),
    expected: { reply: { is_safe: false, matches: [{ control_id: CONTROL_ID, action: 'deny' }] } },
  },
  {
    rpc: 'ControlService.SetControlData',
    what: 'does not replace a template by a definition that is written out',
    input: {
      control_id: CONTROL_ID,
      data: {
        execution: 'server',
        condition: { selector: {}, evaluator: { name: 'list', config: { values: ['x'] } } },
        action: { decision: 'deny' },
      },
    },
    expected: error('CONTROL_TEMPLATE_CONFLICT', 409, 'FailedPrecondition', [
      'data template_backed_control_conflict',
    ]),
  },
];
