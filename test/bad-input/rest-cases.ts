import {
  INVALID_UTF8,
  LONE_SURROGATE,
  MEBIBYTE_TEXT,
  nestedLists,
  nestedObjects,
  SURROGATE_AS_UTF8,
  wideObject,
} from '../support/bad-input-values.js';
import {
  CONTROL_IN_USE,
  DUPLICATE_STEP,
  NO_AGENT,
  NO_CONTROL,
  nameTaken,
  type Refused,
  refusalOf,
  TOO_LARGE,
} from '../support/refusals.js';
import { checking, conditioned, DEFINITION, deepCondition, LEAF } from './definitions.js';
import { type BadRequest, type Body, NOT_ALLOWED, NOTHING_HERE, UNDECODABLE } from './rest-request.js';

/** The agent and control that exist before the first case. */
export const AGENT = 'existing-agent-1';
export const CONTROL = 'existing-control';
export const CONTROL_ID = 1;
/** SERVICE_MAX_BODY_BYTES of the service under test. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

const JSON_TYPE = { 'content-type': 'application/json' };

type Row = readonly [
  name: string,
  body: Body | undefined,
  refused: Refused,
  headers?: Record<string, string>,
];

function requests(method: string, path: string, rows: readonly Row[]): BadRequest[] {
  return rows.map(([name, body, refused, headers = JSON_TYPE]) => ({
    name: `${method} ${path}: ${name}`,
    method,
    path,
    ...(body === undefined ? {} : { body }),
    headers,
    refusal: refusalOf(refused),
  }));
}

/** A step in an otherwise valid evaluation. */
const evaluation = (step: unknown): object => ({ agent_name: AGENT, step, stage: 'pre' });
const evaluationText = (input: string): string =>
  `{"agent_name":"${AGENT}","stage":"pre","step":{"type":"llm","name":"answer","input":${input}}}`;
const registration = (members: object): object => ({ agent: { agent_name: 'refused-agent-1' }, ...members });
const control = (data: unknown): object => ({ name: 'refused-control', data });
const withAction = (action: unknown): object => control({ ...DEFINITION, action });
const withScope = (scope: unknown): object => control({ ...DEFINITION, scope });
const withNode = (node: unknown): object => control(conditioned(node));
const withRegex = (config: unknown): object => control(checking('regex', config));
const withList = (config: unknown): object => control(checking('list', config));

/** An invalid agent name in a path is the only problem told. */
const BAD_PATH_NAME = 'agent_name invalid_format';
const NO_BODY = 'missing';
const NO_JSON = 'model_attributes_type';
const TOO_DEEP = 'recursion_loop';
const notJsonAt = (offset: number) => `[${offset}] json_invalid`;
const NO_EVALUATION = ['agent_name missing', 'step missing', 'stage missing'];
const NO_DEFINITION = ['data.condition missing', 'data.execution missing', 'data.action missing'];
const NEITHER_SHAPE = [
  'data.ControlDefinition model_attributes_type',
  'data.TemplateControlInput model_attributes_type',
];
const BAD_NAME = 'agent.agent_name value_error';
const BAD_PATTERN = 'data.condition.evaluator.pattern value_error';

const BODIES = requests('POST', '/evaluation', [
  ['no body at all', undefined, NO_BODY],
  ['an empty body', '', NO_BODY],
  ['blanks', '   ', notJsonAt(3)],
  ['text after the value', '{"a":1} x', notJsonAt(8)],
  ['a body cut off', '{"agent_name":', notJsonAt(14)],
  ['single quotes', "{'a':1}", notJsonAt(1)],
  ['a comma at the end', '{"a":1,}', notJsonAt(7)],
  ['a control character in a text', '{"a":"\n"}', notJsonAt(5)],
  ['an unknown escape', '{"a":"\\x41"}', notJsonAt(5)],
  ['NaN misspelt', '{"a":nan}', notJsonAt(5)],
  ['a number with a leading zero', '{"a":007}', notJsonAt(6)],
  ['a comment', '{/* */}', notJsonAt(1)],
  ['null', 'null', NO_BODY],
  ['NaN', 'NaN', NO_BODY],
  ['a list', '[]', NO_JSON],
  ['a text', '"text"', NO_JSON],
  ['a number', '5', NO_JSON],
  ['true', 'true', NO_JSON],
  ['JSON as text/plain', evaluation({}), NO_JSON, { 'content-type': 'text/plain' }],
  ['JSON as a form', evaluation({}), NO_JSON, { 'content-type': 'application/x-www-form-urlencoded' }],
  ['JSON as multipart', evaluation({}), NO_JSON, { 'content-type': 'multipart/form-data; boundary=x' }],
  ['JSON as application/jsonx', evaluation({}), NO_JSON, { 'content-type': 'application/jsonx' }],
  ['JSON as gRPC', evaluation({}), NO_JSON, { 'content-type': 'application/grpc' }],
  ['a content type that is none', evaluation({}), NO_JSON, { 'content-type': ';;;' }],
  ['no content type', evaluation({}), NO_JSON, {}],
  ['gzip', Buffer.from([0x1f, 0x8b]), UNDECODABLE, { ...JSON_TYPE, 'content-encoding': 'gzip' }],
  ['an unknown encoding', '{}', UNDECODABLE, { ...JSON_TYPE, 'content-encoding': 'rot13' }],
  ['invalid UTF-8', Buffer.concat([Buffer.from('{"a":"'), INVALID_UTF8, Buffer.from('"}')]), UNDECODABLE],
  [
    'a surrogate as UTF-8',
    Buffer.concat([Buffer.from('{"a":"'), SURROGATE_AS_UTF8, Buffer.from('"}')]),
    UNDECODABLE,
  ],
  ['UTF-8 cut inside a character', Buffer.from([0x22, 0xe2, 0x82]), UNDECODABLE],
  ['UTF-16 with half a character', Buffer.from([0xff, 0xfe, 0x7b]), UNDECODABLE],
  ['UTF-32 beyond Unicode', Buffer.from([0, 0, 0xfe, 0xff, 0, 0x11, 0, 0]), UNDECODABLE],
  ['an integer of 5,000 digits', () => evaluationText('9'.repeat(5_000)), UNDECODABLE],
  ['lists 250 deep', () => evaluationText(nestedLists(250)), TOO_DEEP],
  ['objects 250 deep', () => evaluationText(nestedObjects(250)), TOO_DEEP],
  ['objects 250 deep below __proto__', () => evaluationText(nestedObjects(250, '__proto__')), TOO_DEEP],
  ['lists 10,000 deep', () => evaluationText(nestedLists(10_000)), UNDECODABLE],
  ['objects 10,000 deep', () => evaluationText(nestedObjects(10_000)), UNDECODABLE],
  ['lists 1,000,000 deep', () => evaluationText(nestedLists(1_000_000)), UNDECODABLE],
  ['1,000,000 lists that never close', '['.repeat(1_000_000), UNDECODABLE],
  ['100,000 members and none that counts', () => wideObject(100_000), NO_EVALUATION],
  ['a body over the limit', () => evaluationText(`"${'x'.repeat(MAX_BODY_BYTES)}"`), TOO_LARGE],
  [
    'a body over the limit in chunks',
    () => 'x'.repeat(MAX_BODY_BYTES + 1),
    TOO_LARGE,
    { ...JSON_TYPE, 'transfer-encoding': 'chunked' },
  ],
]);

const EVALUATIONS = requests('POST', '/evaluation', [
  ['nothing', {}, NO_EVALUATION],
  ['everything below __proto__', `{"__proto__":${evaluationText('1')}}`, NO_EVALUATION],
  ['everything below constructor', `{"constructor":{"prototype":${evaluationText('1')}}}`, NO_EVALUATION],
  [
    'nulls',
    { agent_name: null, step: null, stage: null },
    ['agent_name value_error', 'step model_attributes_type', 'stage literal_error'],
  ],
  [
    'an unknown stage',
    { ...evaluation({ type: 'llm', name: 'x', input: 1 }), stage: 'during' },
    'stage literal_error',
  ],
  [
    'a stage as a number',
    { ...evaluation({ type: 'llm', name: 'x', input: 1 }), stage: 1 },
    'stage literal_error',
  ],
  [
    'a stage of one mebibyte',
    () => JSON.stringify({ ...evaluation({ type: 'llm', name: 'x', input: 1 }), stage: MEBIBYTE_TEXT }),
    'stage literal_error',
  ],
  ['an empty step', evaluation({}), ['step.type missing', 'step.name missing', 'step.input missing']],
  ['a step that is a list', evaluation([]), 'step model_attributes_type'],
  [
    'a step below __proto__',
    `{"agent_name":"${AGENT}","stage":"pre","step":{"__proto__":{"type":"llm","name":"x","input":1}}}`,
    ['step.type missing', 'step.name missing', 'step.input missing'],
  ],
  ...['1e999', '-1e999', '1e400'].map((number): Row => {
    const body = evaluationText(`{"amount":${number}}`);
    return [`an input of ${number}`, body, `[${body.indexOf(number)}] finite_number`];
  }),
  [
    'a step of other types',
    evaluation({ type: 1, name: [], input: 1, context: [] }),
    ['step.type string_type', 'step.name string_type', 'step.context dict_type'],
  ],
  [
    'empty step type and name',
    evaluation({ type: '', name: '', input: 1 }),
    ['step.type string_too_short', 'step.name string_too_short'],
  ],
  [
    'a tool step without an object',
    evaluation({ type: 'tool', name: 'x', input: 'text' }),
    'step value_error',
  ],
  [
    'an agent name of one mebibyte',
    () => JSON.stringify({ ...evaluation({ type: 'llm', name: 'x', input: 1 }), agent_name: MEBIBYTE_TEXT }),
    'agent_name value_error',
  ],
  [
    'an agent name with NUL',
    { ...evaluation({ type: 'llm', name: 'x', input: 1 }), agent_name: `${AGENT}\0` },
    'agent_name value_error',
  ],
  [
    'an agent name with half a surrogate pair',
    { ...evaluation({ type: 'llm', name: 'x', input: 1 }), agent_name: AGENT + LONE_SURROGATE },
    'agent_name value_error',
  ],
  [
    'an unknown agent',
    { ...evaluation({ type: 'llm', name: 'x', input: 1 }), agent_name: 'nobody-knows-me' },
    NO_AGENT,
  ],
  [
    'an agent called like a built-in member',
    { ...evaluation({ type: 'llm', name: 'x', input: 1 }), agent_name: 'constructor' },
    NO_AGENT,
  ],
]);

const REGISTRATIONS = requests('POST', '/agents/initAgent', [
  ['no body with a JSON content type', undefined, NO_BODY],
  ['nothing', {}, 'agent missing'],
  ['an agent that is null', { agent: null }, 'agent model_attributes_type'],
  ['an agent that is a list', { agent: [] }, 'agent model_attributes_type'],
  ['an agent below __proto__', '{"__proto__":{"agent":{"agent_name":"refused-agent-1"}}}', 'agent missing'],
  [
    'a name below __proto__',
    '{"agent":{"__proto__":{"agent_name":"refused-agent-1"}}}',
    'agent.agent_name missing',
  ],
  ['a name that is null', { agent: { agent_name: null } }, BAD_NAME],
  ['a name that is a list', { agent: { agent_name: ['refused-agent-1'] } }, BAD_NAME],
  ['a short name', { agent: { agent_name: 'short-one' } }, BAD_NAME],
  ['a name with a blank', { agent: { agent_name: 'refused agent 1' } }, BAD_NAME],
  ['a name with NUL', { agent: { agent_name: 'refused-agent-1\0' } }, BAD_NAME],
  [
    'a name with half a surrogate pair',
    { agent: { agent_name: `refused-agent-1${LONE_SURROGATE}` } },
    BAD_NAME,
  ],
  ['a name in other letters', { agent: { agent_name: 'агент-номер-один' } }, BAD_NAME],
  ['a name of 256 characters', { agent: { agent_name: 'a'.repeat(256) } }, BAD_NAME],
  ['a name of one mebibyte', () => JSON.stringify({ agent: { agent_name: MEBIBYTE_TEXT } }), BAD_NAME],
  [
    'a description that is a number',
    { agent: { agent_name: 'refused-agent-1', agent_description: 5 } },
    'agent.agent_description string_type',
  ],
  [
    'metadata that are a list',
    { agent: { agent_name: 'refused-agent-1', agent_metadata: [] } },
    'agent.agent_metadata dict_type',
  ],
  ['steps that are an object', registration({ steps: {} }), 'steps list_type'],
  ['steps that are null', registration({ steps: null }), 'steps list_type'],
  ['a step that is a number', registration({ steps: [5] }), 'steps[0] model_attributes_type'],
  ['an empty step', registration({ steps: [{}] }), ['steps[0].type missing', 'steps[0].name missing']],
  [
    'a step without a name behind a good one',
    registration({
      steps: [
        { type: 'a', name: 'b' },
        { type: 'a', name: '' },
      ],
    }),
    'steps[1].name string_too_short',
  ],
  [
    'a schema that is a text',
    registration({ steps: [{ type: 'a', name: 'b', input_schema: '{}' }] }),
    'steps[0].input_schema dict_type',
  ],
  [
    'the same step twice',
    registration({
      steps: [
        { type: 'a', name: 'b' },
        { type: 'a', name: 'b' },
      ],
    }),
    DUPLICATE_STEP,
  ],
  [
    'a step called __proto__ twice',
    registration({
      steps: [
        { type: '__proto__', name: '__proto__' },
        { type: '__proto__', name: '__proto__' },
      ],
    }),
    DUPLICATE_STEP,
  ],
  [
    'an evaluator without a name',
    registration({ evaluators: [{ name: '' }] }),
    'evaluators[0].name string_too_short',
  ],
  [
    'an evaluator with a long name',
    registration({ evaluators: [{ name: 'e'.repeat(256) }] }),
    'evaluators[0].name string_too_long',
  ],
  [
    'an evaluator with a long description',
    registration({ evaluators: [{ name: 'e', description: 'd'.repeat(1_001) }] }),
    'evaluators[0].description string_too_long',
  ],
  [
    "an evaluator with a name of the service's own",
    registration({ evaluators: [{ name: 'regex' }] }),
    nameTaken('EVALUATOR'),
  ],
  ['an unknown conflict mode', registration({ conflict_mode: 'merge' }), 'conflict_mode enum'],
  ['a conflict mode as a number', registration({ conflict_mode: 1 }), 'conflict_mode enum'],
  ['a switch that is a word', registration({ force_replace: 'perhaps' }), 'force_replace bool_parsing'],
  ['a switch that is null', registration({ force_replace: null }), 'force_replace bool_type'],
]);

const DEFINITIONS = requests('PUT', '/controls', [
  ['nothing', {}, ['name missing', 'data missing']],
  [
    'everything below __proto__',
    `{"__proto__":${JSON.stringify(control(DEFINITION))}}`,
    ['name missing', 'data missing'],
  ],
  ['a name that is null', { name: null, data: DEFINITION }, 'name string_type'],
  ['a name that is a number', { name: 5, data: DEFINITION }, 'name string_type'],
  ['a blank name', { name: '  ', data: DEFINITION }, 'name too_short'],
  ['a name of 256 characters', { name: 'n'.repeat(256), data: DEFINITION }, 'name too_long'],
  [
    'a name of one mebibyte',
    () => JSON.stringify({ name: MEBIBYTE_TEXT, data: DEFINITION }),
    'name too_long',
  ],
  ['a name that begins with a dash', { name: '-refused', data: DEFINITION }, 'name string_pattern_mismatch'],
  ['a name called __proto__', { name: '__proto__', data: DEFINITION }, 'name string_pattern_mismatch'],
  ['a name with NUL', { name: 'refused\0', data: DEFINITION }, 'name string_pattern_mismatch'],
  [
    'a name with half a surrogate pair',
    { name: `refused${LONE_SURROGATE}`, data: DEFINITION },
    'name string_pattern_mismatch',
  ],
  ['a name that is taken', { name: CONTROL, data: DEFINITION }, nameTaken('CONTROL')],
  ['data that are null', control(null), NEITHER_SHAPE],
  ['data that are a text', control(JSON.stringify(DEFINITION)), NEITHER_SHAPE],
  ['data that are a list', control([DEFINITION]), NEITHER_SHAPE],
  ['empty data', control({}), NO_DEFINITION],
  [
    'a definition below __proto__',
    `{"name":"refused-control","data":{"__proto__":${JSON.stringify(DEFINITION)}}}`,
    NO_DEFINITION,
  ],
  ['an unknown execution', control({ ...DEFINITION, execution: 'client' }), 'data.execution literal_error'],
  ['an execution as a number', control({ ...DEFINITION, execution: 1 }), 'data.execution literal_error'],
  ['a switch that is a word', control({ ...DEFINITION, enabled: 'perhaps' }), 'data.enabled bool_parsing'],
  ['a switch that is a number', control({ ...DEFINITION, enabled: 2 }), 'data.enabled bool_parsing'],
  ['a switch that is null', control({ ...DEFINITION, enabled: null }), 'data.enabled bool_type'],
  [
    'a description that is a list',
    control({ ...DEFINITION, description: [] }),
    'data.description string_type',
  ],
  ['tags that are a text', control({ ...DEFINITION, tags: 'tag' }), 'data.tags list_type'],
  ['a tag that is a number', control({ ...DEFINITION, tags: ['a', 1] }), 'data.tags[1] string_type'],
  ['a template', control({ template: {} }), 'data.template.definition_template missing'],
  ['no decision', withAction({}), 'data.action.decision missing'],
  ['an unknown decision', withAction({ decision: 'allow' }), 'data.action.decision value_error'],
  [
    'a decision called constructor',
    withAction({ decision: 'constructor' }),
    'data.action.decision value_error',
  ],
  ['an action that is a text', withAction('deny'), 'data.action model_type'],
  [
    'guidance without a message',
    withAction({ decision: 'steer', steering_context: {} }),
    'data.action.steering_context.message missing',
  ],
  [
    'steering without guidance',
    control({ ...DEFINITION, condition: { not: LEAF }, action: { decision: 'steer' } }),
    'data value_error',
  ],
  ['a scope that is a list', withScope([]), 'data.scope model_type'],
  ['an unknown stage', withScope({ stages: ['pre', 'during'] }), 'data.scope.stages[1] literal_error'],
  ['no step names', withScope({ step_names: [] }), 'data.scope.step_names value_error'],
  ['an empty step name', withScope({ step_names: [''] }), 'data.scope.step_names value_error'],
  ['step types that are a text', withScope({ step_types: 'tool' }), 'data.scope.step_types list_type'],
  [
    'a scope pattern that is invalid',
    withScope({ step_name_regex: '(' }),
    'data.scope.step_name_regex value_error',
  ],
  ['an empty condition', withNode({}), 'data.condition value_error'],
  ['a condition that is a list', withNode([LEAF]), 'data.condition model_type'],
  [
    'a condition below __proto__',
    `{"name":"refused-control","data":{"condition":{"__proto__":${JSON.stringify(LEAF)}},"execution":"server","action":{"decision":"deny"}}}`,
    'data.condition value_error',
  ],
  ['two forms of a condition', withNode({ ...LEAF, not: LEAF }), 'data.condition value_error'],
  ['half a check', withNode({ selector: {} }), 'data.condition value_error'],
  ['and without children', withNode({ and: [] }), 'data.condition value_error'],
  ['or that is an object', withNode({ or: LEAF }), 'data.condition.or list_type'],
  ['a child that is null', withNode({ and: [LEAF, null] }), 'data.condition.and[1] model_type'],
  ['a condition 13 deep', () => `{"name":"refused-control","data":${deepCondition(13)}}`, 'data value_error'],
  [
    'a condition 190 deep',
    () => `{"name":"refused-control","data":${deepCondition(190)}}`,
    'data value_error',
  ],
  [
    'a condition 100,000 deep',
    () => `{"name":"refused-control","data":${deepCondition(100_000)}}`,
    UNDECODABLE,
  ],
  [
    'a condition of 2,001 nodes',
    withNode({ or: Array.from({ length: 2_000 }, () => LEAF) }),
    'data value_error',
  ],
  [
    'a selector that leads nowhere',
    withNode({ ...LEAF, selector: { path: 'inputs.a' } }),
    'data.condition.selector.path value_error',
  ],
  [
    'a selector that begins with __proto__',
    withNode({ ...LEAF, selector: { path: '__proto__.polluted' } }),
    'data.condition.selector.path value_error',
  ],
  [
    'a selector that begins with constructor',
    withNode({ ...LEAF, selector: { path: 'constructor' } }),
    'data.condition.selector.path value_error',
  ],
  [
    'a selector that is a number',
    withNode({ ...LEAF, selector: { path: 1 } }),
    'data.condition.selector.path string_type',
  ],
  [
    'an evaluator without configuration',
    withNode({ ...LEAF, evaluator: { name: 'regex' } }),
    'data.condition.evaluator.config missing',
  ],
  ['an evaluator without a name', control(checking('  ', {})), 'data.condition.evaluator.name value_error'],
  ['a configuration that is a list', withRegex([]), 'data.condition.evaluator.config dict_type'],
  ['no pattern', withRegex({}), 'data.condition.evaluator.pattern missing'],
  [
    'a pattern below __proto__',
    `{"name":"refused-control","data":{"condition":{"selector":{},"evaluator":{"name":"regex","config":{"__proto__":{"pattern":"a"}}}},"execution":"server","action":{"decision":"deny"}}}`,
    'data.condition.evaluator.pattern missing',
  ],
  ['a pattern that is a number', withRegex({ pattern: 5 }), 'data.condition.evaluator.pattern string_type'],
  ['a pattern with an open group', withRegex({ pattern: '(a' }), BAD_PATTERN],
  ['a pattern with an open class', withRegex({ pattern: '[a' }), BAD_PATTERN],
  ['a pattern with nothing to repeat', withRegex({ pattern: '*a' }), BAD_PATTERN],
  ['a pattern that looks behind', withRegex({ pattern: '(?<=a)b' }), BAD_PATTERN],
  ['a pattern that refers back', withRegex({ pattern: '(a)\\1' }), BAD_PATTERN],
  ['a pattern with an unknown class', withRegex({ pattern: '\\p{Nope}' }), BAD_PATTERN],
  ['a pattern that repeats repetitions', withRegex({ pattern: '((a{1000}){1000}){1000}' }), BAD_PATTERN],
  ['a pattern of many repetitions', withRegex({ pattern: 'a{1000}'.repeat(75) }), BAD_PATTERN],
  ['a pattern of 100,000 characters', withRegex({ pattern: 'a'.repeat(100_000) }), BAD_PATTERN],
  ['a pattern of 30,000 open groups', withRegex({ pattern: '('.repeat(30_000) }), BAD_PATTERN],
  [
    'a pattern of 30,000 nested groups',
    withRegex({ pattern: `${'('.repeat(30_000)}a${')'.repeat(30_000)}` }),
    BAD_PATTERN,
  ],
  [
    'flags that are a text',
    withRegex({ pattern: 'a', flags: 'I' }),
    'data.condition.evaluator.flags list_type',
  ],
  [
    'a flag that is a number',
    withRegex({ pattern: 'a', flags: [1] }),
    'data.condition.evaluator.flags[0] string_type',
  ],
  ['no list values', withList({}), 'data.condition.evaluator.values missing'],
  ['list values that are a text', withList({ values: 'a' }), 'data.condition.evaluator.values list_type'],
  [
    'a list value that is an object',
    withList({ values: ['a', {}] }),
    [
      'data.condition.evaluator.values[1].str string_type',
      'data.condition.evaluator.values[1].int int_type',
      'data.condition.evaluator.values[1].float float_type',
    ],
  ],
  ['a blank list value', withList({ values: [' '] }), 'data.condition.evaluator.values[0] value_error'],
  [
    'a list value with half a surrogate pair',
    withList({ values: [LONE_SURROGATE] }),
    'data.condition.evaluator.values[0] value_error',
  ],
  [
    'an unknown logic',
    withList({ values: ['a'], logic: 'some' }),
    'data.condition.evaluator.logic literal_error',
  ],
  [
    'an unknown match mode',
    withList({ values: ['a'], match_mode: 'constructor' }),
    'data.condition.evaluator.match_mode literal_error',
  ],
  [
    '100,000 list values too long for contains',
    () =>
      JSON.stringify(
        withList({
          values: Array.from({ length: 100_000 }, (_, index) => `value-number-${index}`),
          match_mode: 'contains',
        }),
      ),
    'data.condition.evaluator.values value_error',
  ],
]);

const CHANGES: BadRequest[] = [
  ...requests('POST', '/controls/validate', [
    ['no body with a JSON content type', undefined, NO_BODY],
    ['nothing', {}, 'data missing'],
    ['an invalid pattern', { data: checking('regex', { pattern: '(' }) }, BAD_PATTERN],
  ]),
  ...requests('PATCH', `/controls/${CONTROL_ID}`, [
    ['an invalid name', { name: '-' }, 'name string_pattern_mismatch'],
    ['a switch that is a list', { enabled: [] }, 'enabled bool_type'],
    ['no JSON', '{', notJsonAt(1)],
  ]),
  ...requests('PATCH', '/controls/one', [
    [
      'every problem at once',
      { name: '', enabled: 'perhaps' },
      ['path.control_id int_parsing', 'name too_short', 'enabled bool_parsing'],
    ],
    ['no JSON', '{', ['path.control_id int_parsing', '[1] json_invalid']],
  ]),
  ...requests('PATCH', '/controls/2147483648', [['an id beyond 32 bits', { enabled: false }, NO_CONTROL]]),
  ...requests('PUT', `/controls/${CONTROL_ID}/data`, [
    ['nothing', {}, 'data missing'],
    ['empty data', { data: {} }, NO_DEFINITION],
  ]),
  ...requests('PUT', '/controls/-1/data', [['a negative id', { data: DEFINITION }, NO_CONTROL]]),
  ...requests('DELETE', `/controls/${CONTROL_ID}`, [['a control in use', undefined, CONTROL_IN_USE]]),
  ...requests('DELETE', `/controls/${CONTROL_ID}?force=perhaps`, [
    ['a switch that is a word', undefined, 'query.force bool_parsing'],
  ]),
  ...requests('DELETE', '/controls/99999999999999999999', [['an id beyond 64 bits', undefined, NO_CONTROL]]),
  ...requests('POST', `/agents/${AGENT}/controls/0`, [['the id 0', undefined, NO_CONTROL]]),
  ...requests('POST', `/agents/${AGENT}/controls/x`, [['no id', undefined, 'path.control_id int_parsing']]),
  ...requests('POST', `/agents/short/controls/${CONTROL_ID}`, [
    ['a short agent name', undefined, BAD_PATH_NAME],
  ]),
  ...requests('DELETE', `/agents/nobody-knows-me/controls/${CONTROL_ID}`, [
    ['an unknown agent', undefined, NO_AGENT],
  ]),
];

/** Requests without a body: [method, path and query, why they are refused]. */
const PATHS: readonly (readonly [method: string, path: string, refused: Refused])[] = [
  ['GET', '/controls/abc', 'path.control_id int_parsing'],
  ['GET', '/controls/1.5', 'path.control_id int_parsing'],
  ['GET', '/controls/0x1', 'path.control_id int_parsing'],
  ['GET', '/controls/1e0', 'path.control_id int_parsing'],
  ['GET', '/controls/%20', 'path.control_id int_parsing'],
  ['GET', '/controls/1%00', 'path.control_id int_parsing'],
  ['GET', '/controls/%D9%A1', 'path.control_id int_parsing'],
  ['GET', '/controls/__proto__', 'path.control_id int_parsing'],
  ['GET', '/controls/validate', 'path.control_id int_parsing'],
  ['GET', `/controls/${'1'.repeat(5_000)}`, 'path.control_id int_parsing'],
  ['GET', '/controls/0', NO_CONTROL],
  ['GET', '/controls/-1', NO_CONTROL],
  ['GET', '/controls/2147483647', NO_CONTROL],
  ['GET', '/controls/2147483648', NO_CONTROL],
  ['GET', '/controls/-2147483649/data', NO_CONTROL],
  ['GET', '/controls/18446744073709551617', NO_CONTROL],
  ['GET', '/controls/%', NOTHING_HERE],
  ['GET', '/controls/%ZZ', NOTHING_HERE],
  ['GET', '/controls/%ff', NOTHING_HERE],
  ['GET', '/agents/existing-%ed%a0%80-agent', NOTHING_HERE],
  ['GET', '/agents/%c0%ae%c0%ae', NOTHING_HERE],
  ['GET', '/agents/short', BAD_PATH_NAME],
  ['GET', '/agents/initAgent', BAD_PATH_NAME],
  ['GET', '/agents/existing-agent-1%00', BAD_PATH_NAME],
  ['GET', '/agents/existing%2Fagent-1', BAD_PATH_NAME],
  ['GET', '/agents/..%2F..%2Fetc%2Fpasswd', BAD_PATH_NAME],
  ['GET', `/agents/${'a'.repeat(256)}`, BAD_PATH_NAME],
  ['GET', `/agents/${'a'.repeat(10_000)}`, BAD_PATH_NAME],
  ['GET', '/agents/hasOwnProperty', NO_AGENT],
  ['GET', '/agents/short/controls', BAD_PATH_NAME],
  ['GET', `/agents/${AGENT}/controls?enabled_state=other`, 'query.enabled_state literal_error'],
  ['GET', `/agents/${AGENT}/controls?rendered_state=`, 'query.rendered_state literal_error'],
  ['GET', '/agents?limit=many', 'query.limit int_parsing'],
  ['GET', '/agents?limit=', 'query.limit int_parsing'],
  ['GET', '/agents?cursor=short', 'cursor invalid_format'],
  ['GET', '/agents?cursor=existing-agent-1%00', 'cursor invalid_format'],
  ['GET', `/agents?cursor=${'a'.repeat(8_000)}`, 'cursor invalid_format'],
  ['GET', '/controls?limit=0', 'query.limit greater_than_equal'],
  ['GET', '/controls?limit=-1', 'query.limit greater_than_equal'],
  ['GET', '/controls?limit=101', 'query.limit less_than_equal'],
  ['GET', '/controls?limit=99999999999999999999', 'query.limit less_than_equal'],
  ['GET', '/controls?limit=Infinity', 'query.limit int_parsing'],
  ['GET', '/controls?limit=1e2', 'query.limit int_parsing'],
  ['GET', '/controls?limit=%ZZ', 'query.limit int_parsing'],
  ['GET', '/controls?limit=5&limit=many', 'query.limit int_parsing'],
  ['GET', '/controls?cursor=last', 'query.cursor int_parsing'],
  ['GET', '/controls?cursor=', 'query.cursor int_parsing'],
  [
    'GET',
    '/controls?enabled=perhaps&template_backed=2',
    ['query.enabled bool_parsing', 'query.template_backed bool_parsing'],
  ],
  ['GET', '/controls?enabled=%00', 'query.enabled bool_parsing'],
  ['GET', '/nothing', NOTHING_HERE],
  ['GET', '/__proto__', NOTHING_HERE],
  ['GET', '/agents/a/b/c/d', NOTHING_HERE],
  ['POST', '/agents//controls/1', NOTHING_HERE],
  ['GET', '/../v1/controls', NOTHING_HERE],
  ['GET', '//no-page', NOTHING_HERE],
  ['GET', '///etc/passwd', NOTHING_HERE],
  ['GET', '/evaluation', NOT_ALLOWED],
  ['DELETE', '/controls', NOT_ALLOWED],
  ['PUT', '/agents/initAgent', NOT_ALLOWED],
  ['OPTIONS', '/controls', NOT_ALLOWED],
  ['POST', '//health', NOT_ALLOWED],
  ['DELETE', '//metrics', NOT_ALLOWED],
];

/** Every request over REST that must be refused. */
export const BAD_REQUESTS: readonly BadRequest[] = [
  ...BODIES,
  ...EVALUATIONS,
  ...REGISTRATIONS,
  ...DEFINITIONS,
  ...CHANGES,
  ...PATHS.map(([method, path, refused]) => ({
    name: `${method} ${path.length > 60 ? `${path.slice(0, 60)}… (${path.length} characters)` : path}`,
    method,
    path,
    refusal: refusalOf(refused),
  })),
];
