import {
  AddAgentControlRequestSchema,
  GetAgentRequestSchema,
  ListAgentControlsRequestSchema,
  ListAgentsRequestSchema,
} from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Decision, Execution, Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  CreateControlRequestSchema,
  DeleteControlRequestSchema,
  GetControlRequestSchema,
  ListControlsRequestSchema,
  SetControlDataRequestSchema,
  UpdateControlRequestSchema,
} from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluateRequestSchema } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { wire } from '../support/bad-input-rpc.js';
import {
  INVALID_UTF8,
  MEBIBYTE_TEXT,
  nestedLists,
  nestedObjects,
  SURROGATE_AS_UTF8,
} from '../support/bad-input-values.js';
import {
  CONTROL_IN_USE,
  NO_AGENT,
  NO_CONTROL,
  nameTaken,
  type Refusal,
  type Refused,
  refusalOf,
  TOO_LARGE,
} from '../support/refusals.js';
import { AGENT, CONTROL, CONTROL_ID, MAX_BODY_BYTES } from './rest-cases.js';
import {
  agentWithMetadata,
  checking,
  createControl,
  DEFINITION,
  deepCondition,
  LEAF,
  listsDeep,
  member,
  message,
  registration,
  stepJson,
  stepWith,
  structsDeep,
  value,
} from './rpc-messages.js';

/** A request message that must be refused, whatever the protocol. */
export interface BadMessage {
  readonly name: string;
  /** `Service/Method` of package enforcement.v1. */
  readonly rpc: string;
  readonly bytes: Buffer | (() => Buffer);
  readonly refusal: Refusal;
}

/** The bytes are no message at all. */
const UNDECODABLE: readonly string[] = [];
const withMetadata = (struct: Buffer): Buffer => agentWithMetadata('refused-agent-1', struct);
const BAD_AGENT_NAME = 'agent_name invalid_format';
const BAD_PATTERN = 'data.condition.evaluator.pattern value_error';
const NO_EVALUATION = ['agent_name missing', 'step missing', 'stage missing'];

type Row = readonly [name: string, bytes: Buffer | (() => Buffer), refused: Refused];

function messages(rpc: string, rows: readonly Row[]): BadMessage[] {
  return rows.map(([name, bytes, refused]) => ({
    name: `${rpc}: ${name}`,
    rpc,
    bytes,
    refusal: refusalOf(refused),
  }));
}

const AGENTS: BadMessage[] = [
  ...messages('AgentService/GetAgent', [
    ['no name', Buffer.alloc(0), BAD_AGENT_NAME],
    ['a short name', message(GetAgentRequestSchema, { agentName: 'short-one' }), BAD_AGENT_NAME],
    ['a name with NUL', message(GetAgentRequestSchema, { agentName: `${AGENT}\0` }), BAD_AGENT_NAME],
    [
      'a name of one mebibyte',
      () => message(GetAgentRequestSchema, { agentName: MEBIBYTE_TEXT }),
      BAD_AGENT_NAME,
    ],
    ['an unknown name', message(GetAgentRequestSchema, { agentName: 'nobody-knows-me' }), NO_AGENT],
    ['a name like a built-in member', message(GetAgentRequestSchema, { agentName: 'constructor' }), NO_AGENT],
    ['a name in invalid UTF-8', wire.bytes(1, AGENT, INVALID_UTF8), UNDECODABLE],
    ['a name with a surrogate as UTF-8', wire.bytes(1, AGENT, SURROGATE_AS_UTF8), UNDECODABLE],
    ['a name of another wire type', wire.number(1, 5), UNDECODABLE],
    ['a name that is cut off', wire.bytes(1, AGENT).subarray(0, 8), UNDECODABLE],
    ['a length beyond the message', Buffer.concat([wire.tag(1, 2), wire.varint(1_000_000)]), UNDECODABLE],
    ['a length beyond 64 bits', Buffer.concat([wire.tag(1, 2), Buffer.alloc(11, 0xff)]), UNDECODABLE],
    ['a number that never ends', Buffer.alloc(20, 0xff), UNDECODABLE],
    ['field number 0', Buffer.from([0x02, 0x01, 0x41]), UNDECODABLE],
    ['a wire type that does not exist', Buffer.from([0x0f, 0x01]), UNDECODABLE],
    ['a group that never ends', Buffer.from([0x13, 0x18, 0x01]), UNDECODABLE],
    ['the end of no group', Buffer.from([0x14]), UNDECODABLE],
    ['100,000 groups in each other', Buffer.alloc(100_000, 0x13), UNDECODABLE],
    ['JSON instead of a message', Buffer.from(JSON.stringify({ agent_name: AGENT })), UNDECODABLE],
    [
      'a message over the limit',
      () => message(GetAgentRequestSchema, { agentName: 'a'.repeat(MAX_BODY_BYTES) }),
      TOO_LARGE,
    ],
  ]),
  ...messages('AgentService/InitAgent', [
    ['nothing', Buffer.alloc(0), 'agent missing'],
    ['an empty agent', wire.bytes(1), 'agent.agent_name missing'],
    [
      'a name with a blank',
      registration({ agent: { agentName: 'refused agent 1' } }),
      'agent.agent_name value_error',
    ],
    [
      'a name of 256 characters',
      registration({ agent: { agentName: 'a'.repeat(256) } }),
      'agent.agent_name value_error',
    ],
    ['an unknown conflict mode', registration({ conflictMode: 7 as never }), 'conflict_mode enum'],
    ['a negative conflict mode', registration({ conflictMode: -1 as never }), 'conflict_mode enum'],
    [
      'a step without a name',
      registration({ steps: [{ type: 'a', name: 'b' }, { type: 'a' }] }),
      'steps[1].name missing',
    ],
    [
      'an empty step type',
      registration({ steps: [{ type: '', name: 'b' }] }),
      'steps[0].type string_too_short',
    ],
    [
      'the same step twice',
      registration({
        steps: [
          { type: 'a', name: 'b' },
          { type: 'a', name: 'b' },
        ],
      }),
      'name duplicate_step_name',
    ],
    [
      'an evaluator with a long name',
      registration({ evaluators: [{ name: 'e'.repeat(256) }] }),
      'evaluators[0].name string_too_long',
    ],
    [
      "an evaluator with a name of the service's own",
      registration({ evaluators: [{ name: 'list' }] }),
      nameTaken('EVALUATOR'),
    ],
    [
      'NaN in metadata',
      withMetadata(member('a', value.number(Number.NaN))),
      'agent.agent_metadata finite_number',
    ],
    [
      'minus infinity in metadata',
      withMetadata(member('a', value.list(value.number(Number.NEGATIVE_INFINITY)))),
      'agent.agent_metadata finite_number',
    ],
    [
      'metadata 202 deep',
      () => withMetadata(member('a', listsDeep(201))),
      'agent.agent_metadata recursion_loop',
    ],
    ['metadata 10,000 deep', () => withMetadata(member('a', listsDeep(10_000))), UNDECODABLE],
    [
      'metadata with a key in invalid UTF-8',
      withMetadata(member(INVALID_UTF8, value.number(1))),
      UNDECODABLE,
    ],
    [
      'metadata with a text in invalid UTF-8',
      withMetadata(member('a', value.text(INVALID_UTF8))),
      UNDECODABLE,
    ],
  ]),
  ...messages('AgentService/ListAgents', [
    ['a bad cursor', message(ListAgentsRequestSchema, { cursor: 'short' }), 'cursor invalid_format'],
    [
      'a cursor of one mebibyte',
      () => message(ListAgentsRequestSchema, { cursor: MEBIBYTE_TEXT }),
      'cursor invalid_format',
    ],
  ]),
  ...messages('AgentService/ListAgentControls', [
    [
      'an unknown state',
      message(ListAgentControlsRequestSchema, { agentName: AGENT, enabledState: 'other' }),
      'enabled_state literal_error',
    ],
    [
      'a state called __proto__',
      message(ListAgentControlsRequestSchema, { agentName: AGENT, renderedState: '__proto__' }),
      'rendered_state literal_error',
    ],
  ]),
  ...messages('AgentService/AddAgentControl', [
    [
      'an unknown control',
      message(AddAgentControlRequestSchema, { agentName: AGENT, controlId: 2_147_483_647 }),
      NO_CONTROL,
    ],
    ['a negative id', message(AddAgentControlRequestSchema, { agentName: AGENT, controlId: -1 }), NO_CONTROL],
    [
      'a short agent name',
      message(AddAgentControlRequestSchema, { agentName: 'short', controlId: CONTROL_ID }),
      BAD_AGENT_NAME,
    ],
  ]),
];

const CONTROLS: BadMessage[] = [
  ...messages('ControlService/CreateControl', [
    ['nothing', Buffer.alloc(0), ['name missing', 'data missing']],
    [
      'a name with NUL',
      message(CreateControlRequestSchema, { name: 'refused\0', data: DEFINITION }),
      'name string_pattern_mismatch',
    ],
    [
      'a name of one mebibyte',
      () => message(CreateControlRequestSchema, { name: MEBIBYTE_TEXT, data: DEFINITION }),
      'name too_long',
    ],
    [
      'a name that is taken',
      message(CreateControlRequestSchema, { name: CONTROL, data: DEFINITION }),
      nameTaken('CONTROL'),
    ],
    [
      'an empty definition',
      message(CreateControlRequestSchema, { name: 'refused-control', data: {} }),
      ['data.condition missing', 'data.execution missing', 'data.action missing'],
    ],
    ['an unknown execution', createControl({ execution: 9 as Execution }), 'data.execution literal_error'],
    ['no execution', createControl({ execution: Execution.UNSPECIFIED }), 'data.execution missing'],
    [
      'an unknown decision',
      createControl({ action: { decision: 2_147_483_647 as Decision } }),
      'data.action.decision value_error',
    ],
    [
      'no decision',
      createControl({ action: { decision: Decision.UNSPECIFIED } }),
      'data.action.decision missing',
    ],
    [
      'guidance without a message',
      createControl({ action: { decision: Decision.STEER, steeringContext: {} } }),
      'data.action.steering_context.message missing',
    ],
    [
      'an unknown stage',
      createControl({ scope: { stages: [Stage.PRE, 5 as Stage] } }),
      'data.scope.stages[1] literal_error',
    ],
    [
      'a stage that is not stated',
      createControl({ scope: { stages: [Stage.UNSPECIFIED] } }),
      'data.scope.stages[0] literal_error',
    ],
    [
      'an empty step name',
      createControl({ scope: { stepNames: [''] } }),
      'data.scope.step_names value_error',
    ],
    [
      'an invalid scope pattern',
      createControl({ scope: { stepNameRegex: '[' } }),
      'data.scope.step_name_regex value_error',
    ],
    ['an empty condition', createControl({ condition: {} }), 'data.condition value_error'],
    [
      'two forms of a condition',
      createControl({ condition: { ...LEAF, not: LEAF } }),
      'data.condition value_error',
    ],
    ['and without children', createControl({ condition: { and: {} } }), 'data.condition value_error'],
    ['a condition 13 deep', deepCondition(13), 'data value_error'],
    ['a condition 500 deep', deepCondition(500), 'data value_error'],
    ['a condition 100,000 deep', () => deepCondition(100_000), UNDECODABLE],
    [
      'a condition of 2,001 nodes',
      createControl({ condition: { or: { conditions: Array.from({ length: 2_000 }, () => LEAF) } } }),
      'data value_error',
    ],
    [
      'a selector that begins with __proto__',
      createControl({ condition: { ...LEAF, selector: { path: '__proto__' } } }),
      'data.condition.selector.path value_error',
    ],
    ['an invalid pattern', checking('regex', { pattern: '(' }), BAD_PATTERN],
    ['a pattern that looks ahead', checking('regex', { pattern: 'a(?=b)' }), BAD_PATTERN],
    ['a pattern that costs too much', checking('regex', { pattern: 'a{1000}'.repeat(75) }), BAD_PATTERN],
    [
      'a pattern that is a number',
      checking('regex', { pattern: 5 }),
      'data.condition.evaluator.pattern string_type',
    ],
    [
      'a list value that is a list',
      checking('list', { values: [[]] }),
      [
        'data.condition.evaluator.values[0].str string_type',
        'data.condition.evaluator.values[0].int int_type',
        'data.condition.evaluator.values[0].float float_type',
      ],
    ],
    [
      'a definition of another wire type',
      Buffer.concat([wire.bytes(1, 'refused-control'), wire.number(2, 1)]),
      UNDECODABLE,
    ],
    [
      'a tag in invalid UTF-8',
      Buffer.concat([wire.bytes(1, 'refused-control'), wire.bytes(2, wire.bytes(7, INVALID_UTF8))]),
      UNDECODABLE,
    ],
  ]),
  ...messages('ControlService/ListControls', [
    [
      'a cursor that is no number',
      message(ListControlsRequestSchema, { cursor: 'last' }),
      'cursor int_parsing',
    ],
    ['an empty cursor', message(ListControlsRequestSchema, { cursor: '' }), 'cursor int_parsing'],
    ['the limit 0', message(ListControlsRequestSchema, { limit: 0 }), 'limit greater_than_equal'],
    [
      'a negative limit',
      message(ListControlsRequestSchema, { limit: -2_147_483_648 }),
      'limit greater_than_equal',
    ],
    [
      'a limit of 2,147,483,647',
      message(ListControlsRequestSchema, { limit: 2_147_483_647 }),
      'limit less_than_equal',
    ],
    ['a name in invalid UTF-8', wire.bytes(3, INVALID_UTF8), UNDECODABLE],
  ]),
  ...messages('ControlService/GetControl', [
    ['no id', Buffer.alloc(0), NO_CONTROL],
    ['a negative id', message(GetControlRequestSchema, { controlId: -1 }), NO_CONTROL],
    ['the largest id', message(GetControlRequestSchema, { controlId: 2_147_483_647 }), NO_CONTROL],
  ]),
  ...messages('ControlService/UpdateControl', [
    [
      'a blank name',
      message(UpdateControlRequestSchema, { controlId: CONTROL_ID, name: ' ' }),
      'name too_short',
    ],
    [
      'an unknown control',
      message(UpdateControlRequestSchema, { controlId: 99_999, enabled: false }),
      NO_CONTROL,
    ],
  ]),
  ...messages('ControlService/SetControlData', [
    ['no definition', message(SetControlDataRequestSchema, { controlId: CONTROL_ID }), 'data missing'],
    [
      'an unknown control',
      message(SetControlDataRequestSchema, { controlId: 99_999, data: DEFINITION }),
      NO_CONTROL,
    ],
  ]),
  ...messages('ControlService/DeleteControl', [
    ['a control in use', message(DeleteControlRequestSchema, { controlId: CONTROL_ID }), CONTROL_IN_USE],
  ]),
];

const NOT_FINITE = 'step_json finite_number';
const NO_JSON = 'step_json json_invalid';
const TOO_DEEP_JSON = 'step_json recursion_loop';
const stepText = (input: string): string => `{"type":"llm","name":"answer","input":${input}}`;

const EVALUATIONS: BadMessage[] = messages('EvaluationService/Evaluate', [
  ['nothing', Buffer.alloc(0), NO_EVALUATION],
  [
    'an unknown stage',
    message(EvaluateRequestSchema, {
      agentName: AGENT,
      stage: 7 as Stage,
      stepForm: {
        case: 'step',
        value: { type: 'llm', name: 'x', input: { kind: { case: 'boolValue', value: true } } },
      },
    }),
    'stage literal_error',
  ],
  ['an unknown detail', Buffer.concat([stepJson(stepText('1')), wire.number(5, 9)]), 'detail literal_error'],
  [
    'an agent name of one mebibyte',
    () => Buffer.concat([stepJson(stepText('1')), wire.bytes(1, MEBIBYTE_TEXT)]),
    'agent_name value_error',
  ],
  ['an unknown agent', Buffer.concat([stepJson(stepText('1')), wire.bytes(1, 'nobody-knows-me')]), NO_AGENT],
  [
    'an empty step',
    Buffer.concat([message(EvaluateRequestSchema, { agentName: AGENT, stage: Stage.PRE }), wire.bytes(3)]),
    ['step.type string_too_short', 'step.name string_too_short', 'step.input missing'],
  ],
  ['a step without an input', stepWith(), 'step.input missing'],
  [
    'a tool step with a text',
    stepWith(wire.bytes(1, 'tool'), wire.bytes(3, value.text('x'))),
    'step value_error',
  ],
  [
    'a context that is a list',
    stepWith(wire.bytes(3, value.number(1)), wire.bytes(5, value.list())),
    'step.context dict_type',
  ],
  ['NaN', stepWith(wire.bytes(3, value.number(Number.NaN))), 'step.input finite_number'],
  [
    'infinity in a list',
    stepWith(wire.bytes(3, value.list(value.number(Number.POSITIVE_INFINITY)))),
    'step.input finite_number',
  ],
  [
    'NaN below __proto__',
    stepWith(wire.bytes(3, value.struct(member('__proto__', value.number(Number.NaN))))),
    'step.input finite_number',
  ],
  [
    'an output 250 deep',
    () => stepWith(wire.bytes(3, value.number(1)), wire.bytes(4, listsDeep(250))),
    'step.output recursion_loop',
  ],
  [
    'an input 225 deep below __proto__',
    () => stepWith(wire.bytes(3, structsDeep(225, '__proto__'))),
    'step.input recursion_loop',
  ],
  ['an input 10,000 deep', () => stepWith(wire.bytes(3, listsDeep(10_000))), UNDECODABLE],
  ['an input 400,000 deep', () => stepWith(wire.bytes(3, listsDeep(400_000))), UNDECODABLE],
  ['a text in invalid UTF-8', stepWith(wire.bytes(3, value.text(INVALID_UTF8))), UNDECODABLE],
  [
    'a key in invalid UTF-8',
    stepWith(wire.bytes(3, value.struct(member(INVALID_UTF8, value.number(1))))),
    UNDECODABLE,
  ],
  ['empty JSON', stepJson(''), NO_JSON],
  ['JSON that is cut off', stepJson('{"type":'), NO_JSON],
  ['text behind the JSON', stepJson(`${stepText('1')}x`), NO_JSON],
  [
    'JSON in invalid UTF-8',
    stepJson(Buffer.concat([Buffer.from('{"a":"'), INVALID_UTF8, Buffer.from('"}')])),
    NO_JSON,
  ],
  ['JSON with an integer of 5,000 digits', stepJson(stepText('9'.repeat(5_000))), NO_JSON],
  ['JSON with a number beyond the range of JSON', stepJson(stepText('[1e999]')), NOT_FINITE],
  ['JSON with a negative number beyond it', stepJson(stepText('{"amount":-1e400}')), NOT_FINITE],
  ['JSON lists 250 deep', stepJson(stepText(nestedLists(250))), TOO_DEEP_JSON],
  [
    'JSON objects 250 deep below __proto__',
    stepJson(stepText(nestedObjects(250, '__proto__'))),
    TOO_DEEP_JSON,
  ],
  ['JSON 10,000 deep', stepJson(stepText(nestedObjects(10_000))), NO_JSON],
  ['JSON 1,000,000 deep', () => stepJson(stepText(nestedLists(1_000_000))), NO_JSON],
  ['JSON that is a list', stepJson('[]'), 'step model_attributes_type'],
  ['JSON that is null', stepJson('null'), 'step model_attributes_type'],
  ['JSON that is a text', stepJson('"step"'), 'step model_attributes_type'],
  [
    'JSON with everything below __proto__',
    stepJson(`{"__proto__":${stepText('1')}}`),
    ['step.type missing', 'step.name missing', 'step.input missing'],
  ],
  [
    'JSON with other types',
    stepJson('{"type":1,"name":null,"input":1,"context":"x"}'),
    ['step.type string_type', 'step.name string_type', 'step.context dict_type'],
  ],
  // Of the members of a oneof the last one counts.
  [
    'a good step and bad JSON behind it',
    Buffer.concat([stepWith(wire.bytes(3, value.number(1))), wire.bytes(4, '{')]),
    NO_JSON,
  ],
  [
    'good JSON and a bad step behind it',
    Buffer.concat([stepJson(stepText('1')), wire.bytes(3, wire.bytes(1, 'llm'))]),
    ['step.name string_too_short', 'step.input missing'],
  ],
]);

/** Every message that must be refused by a unary RPC. */
export const BAD_MESSAGES: readonly BadMessage[] = [...AGENTS, ...CONTROLS, ...EVALUATIONS];
