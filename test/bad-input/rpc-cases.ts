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

/** What an RPC that must be refused is answered with. */
interface RpcRefusal {
  readonly code: string;
  /** Every field violation as [field, reason]. */
  readonly violations: readonly (readonly [field: string, reason: string])[];
}

/** A request message that must be refused, whatever the protocol. */
export interface BadMessage {
  readonly name: string;
  /** `Service/Method` of package enforcement.v1. */
  readonly rpc: string;
  readonly bytes: Buffer | (() => Buffer);
  readonly refusal: RpcRefusal;
}

function refused(code: string, ...violations: [field: string, reason: string][]): RpcRefusal {
  return { code, violations };
}

const invalid = (...violations: [field: string, reason: string][]): RpcRefusal =>
  refused('INVALID_ARGUMENT', ...violations);
/** The bytes are no message at all. */
const UNDECODABLE = invalid();
const NOT_FOUND = refused('NOT_FOUND');
const withMetadata = (struct: Buffer): Buffer => agentWithMetadata('refused-agent-1', struct);
const BAD_AGENT_NAME = invalid(['agent_name', 'INVALID_FORMAT']);
const BAD_PATTERN = invalid(['data.condition.evaluator.pattern', 'VALUE_ERROR']);
const NO_EVALUATION = invalid(['agent_name', 'MISSING'], ['step', 'MISSING'], ['stage', 'MISSING']);

type Row = readonly [name: string, bytes: Buffer | (() => Buffer), refusal: RpcRefusal];

function messages(rpc: string, rows: readonly Row[]): BadMessage[] {
  return rows.map(([name, bytes, refusal]) => ({ name: `${rpc}: ${name}`, rpc, bytes, refusal }));
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
    ['an unknown name', message(GetAgentRequestSchema, { agentName: 'nobody-knows-me' }), NOT_FOUND],
    [
      'a name like a built-in member',
      message(GetAgentRequestSchema, { agentName: 'constructor' }),
      NOT_FOUND,
    ],
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
      refused('RESOURCE_EXHAUSTED'),
    ],
  ]),
  ...messages('AgentService/InitAgent', [
    ['nothing', Buffer.alloc(0), invalid(['agent', 'MISSING'])],
    ['an empty agent', wire.bytes(1), invalid(['agent.agent_name', 'MISSING'])],
    [
      'a name with a blank',
      registration({ agent: { agentName: 'refused agent 1' } }),
      invalid(['agent.agent_name', 'VALUE_ERROR']),
    ],
    [
      'a name of 256 characters',
      registration({ agent: { agentName: 'a'.repeat(256) } }),
      invalid(['agent.agent_name', 'VALUE_ERROR']),
    ],
    [
      'an unknown conflict mode',
      registration({ conflictMode: 7 as never }),
      invalid(['conflict_mode', 'ENUM']),
    ],
    [
      'a negative conflict mode',
      registration({ conflictMode: -1 as never }),
      invalid(['conflict_mode', 'ENUM']),
    ],
    [
      'a step without a name',
      registration({ steps: [{ type: 'a', name: 'b' }, { type: 'a' }] }),
      invalid(['steps[1].name', 'MISSING']),
    ],
    [
      'an empty step type',
      registration({ steps: [{ type: '', name: 'b' }] }),
      invalid(['steps[0].type', 'STRING_TOO_SHORT']),
    ],
    [
      'the same step twice',
      registration({
        steps: [
          { type: 'a', name: 'b' },
          { type: 'a', name: 'b' },
        ],
      }),
      invalid(['name', 'DUPLICATE_STEP_NAME']),
    ],
    [
      'an evaluator with a long name',
      registration({ evaluators: [{ name: 'e'.repeat(256) }] }),
      invalid(['evaluators[0].name', 'STRING_TOO_LONG']),
    ],
    [
      "an evaluator with a name of the service's own",
      registration({ evaluators: [{ name: 'list' }] }),
      refused('ALREADY_EXISTS', ['name', 'NAME_CONFLICT']),
    ],
    [
      'NaN in metadata',
      withMetadata(member('a', value.number(Number.NaN))),
      invalid(['agent.agent_metadata', 'FINITE_NUMBER']),
    ],
    [
      'minus infinity in metadata',
      withMetadata(member('a', value.list(value.number(Number.NEGATIVE_INFINITY)))),
      invalid(['agent.agent_metadata', 'FINITE_NUMBER']),
    ],
    [
      'metadata 202 deep',
      () => withMetadata(member('a', listsDeep(201))),
      invalid(['agent.agent_metadata', 'RECURSION_LOOP']),
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
    [
      'a bad cursor',
      message(ListAgentsRequestSchema, { cursor: 'short' }),
      invalid(['cursor', 'INVALID_FORMAT']),
    ],
    [
      'a cursor of one mebibyte',
      () => message(ListAgentsRequestSchema, { cursor: MEBIBYTE_TEXT }),
      invalid(['cursor', 'INVALID_FORMAT']),
    ],
  ]),
  ...messages('AgentService/ListAgentControls', [
    [
      'an unknown state',
      message(ListAgentControlsRequestSchema, { agentName: AGENT, enabledState: 'other' }),
      invalid(['enabled_state', 'LITERAL_ERROR']),
    ],
    [
      'a state called __proto__',
      message(ListAgentControlsRequestSchema, { agentName: AGENT, renderedState: '__proto__' }),
      invalid(['rendered_state', 'LITERAL_ERROR']),
    ],
  ]),
  ...messages('AgentService/AddAgentControl', [
    [
      'an unknown control',
      message(AddAgentControlRequestSchema, { agentName: AGENT, controlId: 2_147_483_647 }),
      NOT_FOUND,
    ],
    ['a negative id', message(AddAgentControlRequestSchema, { agentName: AGENT, controlId: -1 }), NOT_FOUND],
    [
      'a short agent name',
      message(AddAgentControlRequestSchema, { agentName: 'short', controlId: CONTROL_ID }),
      BAD_AGENT_NAME,
    ],
  ]),
];

const CONTROLS: BadMessage[] = [
  ...messages('ControlService/CreateControl', [
    ['nothing', Buffer.alloc(0), invalid(['name', 'MISSING'], ['data', 'MISSING'])],
    [
      'a name with NUL',
      message(CreateControlRequestSchema, { name: 'refused\0', data: DEFINITION }),
      invalid(['name', 'STRING_PATTERN_MISMATCH']),
    ],
    [
      'a name of one mebibyte',
      () => message(CreateControlRequestSchema, { name: MEBIBYTE_TEXT, data: DEFINITION }),
      invalid(['name', 'TOO_LONG']),
    ],
    [
      'a name that is taken',
      message(CreateControlRequestSchema, { name: CONTROL, data: DEFINITION }),
      refused('ALREADY_EXISTS', ['name', 'NAME_CONFLICT']),
    ],
    [
      'an empty definition',
      message(CreateControlRequestSchema, { name: 'refused-control', data: {} }),
      invalid(['data.condition', 'MISSING'], ['data.execution', 'MISSING'], ['data.action', 'MISSING']),
    ],
    [
      'an unknown execution',
      createControl({ execution: 9 as Execution }),
      invalid(['data.execution', 'LITERAL_ERROR']),
    ],
    [
      'no execution',
      createControl({ execution: Execution.UNSPECIFIED }),
      invalid(['data.execution', 'MISSING']),
    ],
    [
      'an unknown decision',
      createControl({ action: { decision: 2_147_483_647 as Decision } }),
      invalid(['data.action.decision', 'VALUE_ERROR']),
    ],
    [
      'no decision',
      createControl({ action: { decision: Decision.UNSPECIFIED } }),
      invalid(['data.action.decision', 'MISSING']),
    ],
    [
      'guidance without a message',
      createControl({ action: { decision: Decision.STEER, steeringContext: {} } }),
      invalid(['data.action.steering_context.message', 'MISSING']),
    ],
    [
      'an unknown stage',
      createControl({ scope: { stages: [Stage.PRE, 5 as Stage] } }),
      invalid(['data.scope.stages[1]', 'LITERAL_ERROR']),
    ],
    [
      'a stage that is not stated',
      createControl({ scope: { stages: [Stage.UNSPECIFIED] } }),
      invalid(['data.scope.stages[0]', 'LITERAL_ERROR']),
    ],
    [
      'an empty step name',
      createControl({ scope: { stepNames: [''] } }),
      invalid(['data.scope.step_names', 'VALUE_ERROR']),
    ],
    [
      'an invalid scope pattern',
      createControl({ scope: { stepNameRegex: '[' } }),
      invalid(['data.scope.step_name_regex', 'VALUE_ERROR']),
    ],
    ['an empty condition', createControl({ condition: {} }), invalid(['data.condition', 'VALUE_ERROR'])],
    [
      'two forms of a condition',
      createControl({ condition: { ...LEAF, not: LEAF } }),
      invalid(['data.condition', 'VALUE_ERROR']),
    ],
    [
      'and without children',
      createControl({ condition: { and: {} } }),
      invalid(['data.condition', 'VALUE_ERROR']),
    ],
    ['a condition 13 deep', deepCondition(13), invalid(['data', 'VALUE_ERROR'])],
    ['a condition 500 deep', deepCondition(500), invalid(['data', 'VALUE_ERROR'])],
    ['a condition 100,000 deep', () => deepCondition(100_000), UNDECODABLE],
    [
      'a condition of 2,001 nodes',
      createControl({ condition: { or: { conditions: Array.from({ length: 2_000 }, () => LEAF) } } }),
      invalid(['data', 'VALUE_ERROR']),
    ],
    [
      'a selector that begins with __proto__',
      createControl({ condition: { ...LEAF, selector: { path: '__proto__' } } }),
      invalid(['data.condition.selector.path', 'VALUE_ERROR']),
    ],
    ['an invalid pattern', checking('regex', { pattern: '(' }), BAD_PATTERN],
    ['a pattern that looks ahead', checking('regex', { pattern: 'a(?=b)' }), BAD_PATTERN],
    ['a pattern that costs too much', checking('regex', { pattern: 'a{1000}'.repeat(75) }), BAD_PATTERN],
    [
      'a pattern that is a number',
      checking('regex', { pattern: 5 }),
      invalid(['data.condition.evaluator.pattern', 'STRING_TYPE']),
    ],
    [
      'a list value that is a list',
      checking('list', { values: [[]] }),
      invalid(
        ['data.condition.evaluator.values[0].str', 'STRING_TYPE'],
        ['data.condition.evaluator.values[0].int', 'INT_TYPE'],
        ['data.condition.evaluator.values[0].float', 'FLOAT_TYPE'],
      ),
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
      invalid(['cursor', 'INT_PARSING']),
    ],
    [
      'an empty cursor',
      message(ListControlsRequestSchema, { cursor: '' }),
      invalid(['cursor', 'INT_PARSING']),
    ],
    [
      'the limit 0',
      message(ListControlsRequestSchema, { limit: 0 }),
      invalid(['limit', 'GREATER_THAN_EQUAL']),
    ],
    [
      'a negative limit',
      message(ListControlsRequestSchema, { limit: -2_147_483_648 }),
      invalid(['limit', 'GREATER_THAN_EQUAL']),
    ],
    [
      'a limit of 2,147,483,647',
      message(ListControlsRequestSchema, { limit: 2_147_483_647 }),
      invalid(['limit', 'LESS_THAN_EQUAL']),
    ],
    ['a name in invalid UTF-8', wire.bytes(3, INVALID_UTF8), UNDECODABLE],
  ]),
  ...messages('ControlService/GetControl', [
    ['no id', Buffer.alloc(0), NOT_FOUND],
    ['a negative id', message(GetControlRequestSchema, { controlId: -1 }), NOT_FOUND],
    ['the largest id', message(GetControlRequestSchema, { controlId: 2_147_483_647 }), NOT_FOUND],
  ]),
  ...messages('ControlService/UpdateControl', [
    [
      'a blank name',
      message(UpdateControlRequestSchema, { controlId: CONTROL_ID, name: ' ' }),
      invalid(['name', 'TOO_SHORT']),
    ],
    [
      'an unknown control',
      message(UpdateControlRequestSchema, { controlId: 99_999, enabled: false }),
      NOT_FOUND,
    ],
  ]),
  ...messages('ControlService/SetControlData', [
    [
      'no definition',
      message(SetControlDataRequestSchema, { controlId: CONTROL_ID }),
      invalid(['data', 'MISSING']),
    ],
    [
      'an unknown control',
      message(SetControlDataRequestSchema, { controlId: 99_999, data: DEFINITION }),
      NOT_FOUND,
    ],
  ]),
  ...messages('ControlService/DeleteControl', [
    [
      'a control in use',
      message(DeleteControlRequestSchema, { controlId: CONTROL_ID }),
      refused('FAILED_PRECONDITION', ['controls', 'CONTROL_IN_USE']),
    ],
  ]),
];

const NOT_FINITE = invalid(['step_json', 'FINITE_NUMBER']);
const NO_JSON = invalid(['step_json', 'JSON_INVALID']);
const TOO_DEEP_JSON = invalid(['step_json', 'RECURSION_LOOP']);
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
    invalid(['stage', 'LITERAL_ERROR']),
  ],
  [
    'an unknown detail',
    Buffer.concat([stepJson(stepText('1')), wire.number(5, 9)]),
    invalid(['detail', 'LITERAL_ERROR']),
  ],
  [
    'an agent name of one mebibyte',
    () => Buffer.concat([stepJson(stepText('1')), wire.bytes(1, MEBIBYTE_TEXT)]),
    invalid(['agent_name', 'VALUE_ERROR']),
  ],
  ['an unknown agent', Buffer.concat([stepJson(stepText('1')), wire.bytes(1, 'nobody-knows-me')]), NOT_FOUND],
  [
    'an empty step',
    Buffer.concat([message(EvaluateRequestSchema, { agentName: AGENT, stage: Stage.PRE }), wire.bytes(3)]),
    invalid(['step.type', 'STRING_TOO_SHORT'], ['step.name', 'STRING_TOO_SHORT'], ['step.input', 'MISSING']),
  ],
  ['a step without an input', stepWith(), invalid(['step.input', 'MISSING'])],
  [
    'a tool step with a text',
    stepWith(wire.bytes(1, 'tool'), wire.bytes(3, value.text('x'))),
    invalid(['step', 'VALUE_ERROR']),
  ],
  [
    'a context that is a list',
    stepWith(wire.bytes(3, value.number(1)), wire.bytes(5, value.list())),
    invalid(['step.context', 'DICT_TYPE']),
  ],
  ['NaN', stepWith(wire.bytes(3, value.number(Number.NaN))), invalid(['step.input', 'FINITE_NUMBER'])],
  [
    'infinity in a list',
    stepWith(wire.bytes(3, value.list(value.number(Number.POSITIVE_INFINITY)))),
    invalid(['step.input', 'FINITE_NUMBER']),
  ],
  [
    'NaN below __proto__',
    stepWith(wire.bytes(3, value.struct(member('__proto__', value.number(Number.NaN))))),
    invalid(['step.input', 'FINITE_NUMBER']),
  ],
  [
    'an output 250 deep',
    () => stepWith(wire.bytes(3, value.number(1)), wire.bytes(4, listsDeep(250))),
    invalid(['step.output', 'RECURSION_LOOP']),
  ],
  [
    'an input 225 deep below __proto__',
    () => stepWith(wire.bytes(3, structsDeep(225, '__proto__'))),
    invalid(['step.input', 'RECURSION_LOOP']),
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
  ['JSON that is a list', stepJson('[]'), invalid(['step', 'MODEL_ATTRIBUTES_TYPE'])],
  ['JSON that is null', stepJson('null'), invalid(['step', 'MODEL_ATTRIBUTES_TYPE'])],
  ['JSON that is a text', stepJson('"step"'), invalid(['step', 'MODEL_ATTRIBUTES_TYPE'])],
  [
    'JSON with everything below __proto__',
    stepJson(`{"__proto__":${stepText('1')}}`),
    invalid(['step.type', 'MISSING'], ['step.name', 'MISSING'], ['step.input', 'MISSING']),
  ],
  [
    'JSON with other types',
    stepJson('{"type":1,"name":null,"input":1,"context":"x"}'),
    invalid(['step.type', 'STRING_TYPE'], ['step.name', 'STRING_TYPE'], ['step.context', 'DICT_TYPE']),
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
    invalid(['step.name', 'STRING_TOO_SHORT'], ['step.input', 'MISSING']),
  ],
]);

/** Every message that must be refused by a unary RPC. */
export const BAD_MESSAGES: readonly BadMessage[] = [...AGENTS, ...CONTROLS, ...EVALUATIONS];
