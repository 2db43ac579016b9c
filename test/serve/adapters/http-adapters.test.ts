import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { restClient } from '../../support/http.js';
import { createKeysFile, type TestKeysFile } from '../../support/keys-file.js';
import { denyWord, seeder } from '../../support/seed.js';
import { startService, type TestService } from '../../support/service.js';
import { AGENT, contextAt, PEERS } from './http-adapters.support.js';

const LIMITED = 'adapters-bot-02';
const SECRET = 'use sk-12ab';

let keys: TestKeysFile;
let service: TestService;

interface Sent {
  readonly agent?: string;
  readonly key?: string | null;
  readonly headers?: Record<string, string>;
}
// biome-ignore lint/suspicious/noExplicitAny: replies of many protocols
type Reply = { status: number; body: any; headers: Headers };

async function send(
  path: string,
  message: unknown,
  { agent = AGENT, key = 'bot-key', headers = {} }: Sent = {},
): Promise<Reply> {
  const reply = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(agent === '' ? {} : { 'x-agent-name': agent }),
      ...(key === null ? {} : { 'x-api-key': key }),
      ...headers,
    },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });
  return { status: reply.status, body: await reply.json(), headers: reply.headers };
}

/** A control that redacts secrets at a stage. */
const redacting = (stage: string, path: string) => ({
  execution: 'server',
  scope: { stages: [stage] },
  condition: { selector: { path }, evaluator: { name: 'regex', config: { pattern: 'sk-[a-z0-9]+' } } },
  action: { decision: 'deny', modify: [{ path, replace: 'matches', with: '[redacted]' }] },
});
const finding = (word: string, action: object, more: object = {}) => ({
  ...denyWord(word, { action }),
  ...more,
});
const CONTROLS: readonly (readonly [string, object])[] = [
  ['no-forbidden', { ...denyWord('forbidden'), condition: finds('*', 'forbidden') }],
  [
    'steers-risky',
    finding('risky', { decision: 'steer', steering_context: { message: 'Use a safer way.' } }),
  ],
  [
    'asks-expensive',
    finding(
      'expensive',
      { decision: 'deny', approval: { approvers: ['role:approver'] } },
      { scope: { stages: ['pre'] } },
    ),
  ],
  ['notes', finding('noted', { decision: 'observe' })],
  ['redacts-inputs', redacting('pre', 'input')],
  ['redacts-outputs', redacting('post', 'output')],
];
function finds(path: string, pattern: string) {
  return { selector: { path }, evaluator: { name: 'regex', config: { pattern } } };
}

beforeAll(async () => {
  keys = createKeysFile([
    { name: 'boss', key: 'admin-key', role: 'admin' },
    { name: 'bot', key: 'bot-key', role: 'agent' },
    { name: 'other', key: 'other-key', role: 'agent', agents: ['another-bot-01'] },
    { name: 'single', key: 'single-key', role: 'agent', agents: [AGENT] },
  ]);
  service = await startService({
    ...keys.environment,
    SERVICE_ADAPTERS: PEERS.map(({ adapter }) => adapter).join(','),
    SERVICE_STRICT_DEFINITIONS: 'true',
  });
  const seed = seeder(restClient(service.url, { 'x-api-key': 'admin-key' }));
  await seed.agent(AGENT);
  for (const [name, data] of CONTROLS) await seed.link(AGENT, await seed.control(name, data));
  await seed.linked(LIMITED, 'once-an-hour', {
    execution: 'server',
    scope: { stages: ['pre'] },
    condition: {
      selector: { path: '*' },
      evaluator: { name: 'rate', config: { limit: 1, period: '1h', key: ['agent'] } },
    },
    action: { decision: 'deny' },
  });
  // A step without an id, which no later one repeats.
  const first = await send(
    '/adapters/coding-hooks',
    { ...PEERS[0]?.message('hello'), tool_use_id: null },
    { agent: LIMITED },
  );
  expect(first.body).toEqual({});
});
afterAll(async () => {
  await service.stop();
  keys.remove();
});

/** A name as readers that ignore case read it, too. */
const otherCases = (name: string): string[] => [
  name.toUpperCase(),
  `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
  ...(name.includes('s') ? [name.replace('s', '\u017f')] : []),
  ...(name.includes('k') ? [name.replace('k', '\u212a')] : []),
];

describe.each(PEERS)('$adapter', (peer) => {
  const { path, message, allowed, denied } = peer;

  it.each([
    ['allows', 'hello', allowed],
    ['denies', 'forbidden', denied('was denied before it ran by "no-forbidden"', 403)],
    ['steers', 'risky', denied('Use a safer way.', 403)],
    ['asks', 'expensive', denied('a person must approve it (approval ', 403)],
    ['modifies', SECRET, peer.modified],
  ])('%s', async (_name, text, expected) => {
    const reply = await send(path, message(text));
    expect([reply.status, reply.body]).toEqual([200, expected]);
  });

  it('denies beyond a limit, and says when to repeat it', async () => {
    const { status, body } = await send(path, message('hello'), { agent: LIMITED });
    expect([status, body]).toEqual([200, denied('A limit is reached: repeat it no earlier than in ', 429)]);
  });

  it('takes the agent from the header, the query, and a key that is limited to it', async () => {
    const quiet = { agent: '' };
    expect((await send(`${path}?agent=${AGENT}`, message('forbidden'), quiet)).body).toEqual(
      denied('"no-forbidden"'),
    );
    expect((await send(path, message('forbidden'), { ...quiet, key: 'single-key' })).body).toEqual(
      denied('"no-forbidden"'),
    );
  });

  it('denies what it cannot evaluate, with 200', async () => {
    for (const [sent, reason, status] of [
      [{ agent: 'unknown-bot-01' }, 'unknown-bot-01', 404],
      [{ agent: 'x' }, 'agent_name: ', 400],
      [{ key: 'other-key' }, 'limited to certain agents', 403],
    ] as const) {
      const reply = await send(path, message('hello'), sent);
      expect([reply.status, reply.body]).toEqual([200, denied(reason, status)]);
    }
  });

  it('denies a message that is not of its protocol, and names the member', async () => {
    for (const [invalid, reason] of peer.invalid) {
      const reply = await send(path, invalid);
      expect([reply.status, reply.body]).toEqual([200, denied(reason, 400)]);
    }
  });

  it('denies names of its protocol in another case, and names that are repeated, wherever they are', async () => {
    const whole = JSON.stringify(message('hello'));
    for (const name of peer.names) {
      for (const other of otherCases(name)) {
        const text = whole.replace(`"${name}":`, `${JSON.stringify(other)}:null,"${name}":`);
        expect(text).not.toBe(whole);
        const reply = await send(path, text);
        expect([reply.status, reply.body], other).toEqual([
          200,
          denied(`is written ${JSON.stringify(other)}`, 400),
        ]);
        const alone = whole.replace(`"${name}":`, `${JSON.stringify(other)}:`);
        expect(JSON.stringify((await send(path, alone)).body), other).toContain(
          'was not checked, so it counts as denied',
        );
      }
      const twice = await send(path, whole.replace(`"${name}":`, `"${name}":null,"${name}":`));
      expect(JSON.stringify(twice.body), name).toContain('more than once');
    }
  });

  it('denies requests that are of two agents or sessions', async () => {
    for (const [query, headers] of [
      [`?agent=${AGENT}&agent=other-bot-01`, {}],
      [`?agent=${AGENT}&agent=${AGENT}`, {}],
      [`?agent=${AGENT}&Agent=other-bot-01`, {}],
      [`?AGENT=${AGENT}`, {}],
      ['?agent=other-bot-01', { 'x-agent-name': AGENT }],
    ] as const) {
      const { status, body } = await send(`${path}${query}`, message('hello'), { agent: '', headers });
      expect(status).toBe(200);
      expect(JSON.stringify(body), query).toContain('was not checked, so it counts as denied');
    }
    for (const type of ['application/json; charset=utf-16', 'application/json; charset=latin1', 'text/plain'])
      expect(
        JSON.stringify((await send(path, message('hello'), { headers: { 'content-type': type } })).body),
        type,
      ).toContain('was not checked');
    for (const text of [`${JSON.stringify(message('hello'))} {}`, `${JSON.stringify(message('hello'))}x`])
      expect(JSON.stringify((await send(path, text)).body)).toContain('was not checked');
  });

  it('denies what is no JSON object', async () => {
    for (const text of ['{"a":', '[]', '7']) {
      const { status, body } = await send(path, text);
      // A hook whose event is not known has the form that every event takes.
      expect(status).toBe(200);
      expect(JSON.stringify(body)).toContain('was not checked, so it counts as denied');
    }
  });

  it('rejects a wrong key with 401, in its own shape', async () => {
    for (const key of [null, 'wrong-key']) {
      const reply = await send(path, message('hello'), { key });
      expect([reply.status, reply.body]).toEqual([401, peer.wrongKey]);
    }
  });
});

describe('coding-hooks', () => {
  const path = '/adapters/coding-hooks';
  const event = (hook_event_name: string, members: object = {}) => ({
    hook_event_name,
    session_id: 'session-1',
    tool_name: 'Bash',
    tool_use_id: 'toolu-1',
    tool_input: { command: 'cat file' },
    ...members,
  });
  const result = (text: string) =>
    event('PostToolUse', { tool_response: { stdout: text, code: 4111, isImage: false } });

  it('asks at the agent with the other input, if it takes one', async () => {
    const { body } = await send(
      `${path}?rewrites=true`,
      event('PreToolUse', { tool_input: { command: SECRET } }),
    );
    expect(body).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'ask',
        permissionDecisionReason: expect.any(String),
        updatedInput: { command: 'use [redacted]' },
      },
    });
  });

  it('denies another input that is too large to be quoted', async () => {
    const { body } = await send(
      path,
      event('PreToolUse', { tool_input: { command: `${SECRET} ${'x'.repeat(10_000)}` } }),
    );
    expect(body.hookSpecificOutput.permissionDecisionReason).toContain('too large to be shown');
  });

  it('blocks results, and redacts them where the agent takes others', async () => {
    const post = async (text: string, query = '') => (await send(`${path}${query}`, result(text))).body;
    expect(await post('hello')).toEqual({});
    expect(await post('forbidden')).toEqual({
      decision: 'block',
      reason: expect.stringContaining('denied after it ran'),
    });
    expect(await post(SECRET)).toEqual({
      decision: 'block',
      reason: expect.stringContaining('"stdout":"use [redacted]"'),
    });
    expect(await post(SECRET, '?rewrites=true')).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PostToolUse',
        updatedToolOutput: { stdout: 'use [redacted]', code: 4111, isImage: false },
      },
    });
    expect(await post('forbidden', '?rewrites=true')).toMatchObject({
      decision: 'block',
      hookSpecificOutput: { updatedToolOutput: { stdout: '[withheld]', code: 0, isImage: false } },
    });
  });

  it('checks prompts and failures', async () => {
    const prompt = (text: string) => send(path, { hook_event_name: 'UserPromptSubmit', prompt: text });
    expect((await prompt('hello')).body).toEqual({});
    for (const text of ['forbidden', 'risky', 'expensive', SECRET])
      expect((await prompt(text)).body).toEqual({ decision: 'block', reason: expect.any(String) });
    const failure = (error: string) =>
      send(path, event('PostToolUseFailure', { error, tool_input: { command: error } }));
    expect((await failure('exit 1')).body).toEqual({});
    expect((await failure('forbidden')).body).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PostToolUseFailure',
        additionalContext: expect.stringContaining('"no-forbidden"'),
      },
    });
  });

  it('has no opinion on other events, and blocks unknown ones about tools', async () => {
    for (const name of ['SessionStart', 'Stop', 'SubagentStop', 'PreCompact'])
      expect((await send(path, { hook_event_name: name, prompt: 'forbidden' })).body).toEqual({});
    expect((await send(path, event('PermissionRequest'))).body).toEqual({});
    const names = [
      'beforeShellExecution',
      'beforeMCPExecution',
      'beforeReadFile',
      'BeforeTool',
      'pre_run_command',
      'x',
    ];
    for (const unknown of [
      ...[event('preToolUse'), { hook_event_name: 'userPromptSubmit', prompt: 'hello' }],
      ...names.map((name) => ({ hook_event_name: name, command: 'rm -rf /' })),
    ]) {
      const reply = await send(path, unknown);
      expect([reply.status, reply.body]).toEqual([
        200,
        expect.objectContaining({
          ...{
            decision: 'block',
            continue: false,
            permission: 'deny',
            permissionDecision: 'deny',
            cancel: true,
          },
          reason: expect.stringContaining('hook_event_name: is no event that is known here; PreToolUse, '),
          hookSpecificOutput: expect.objectContaining({
            hookEventName: unknown.hook_event_name,
            permissionDecision: 'deny',
          }),
        }),
      ]);
    }
    expect((await send(path, {})).body).toMatchObject({ decision: 'block', permission: 'deny' });
  });
});

describe('litellm', () => {
  const path = '/adapters/litellm/beta/litellm_basic_guardrail_api';
  const response = (text: string, more: object = {}) => ({ input_type: 'response', texts: [text], ...more });

  it('checks answers, and their tool calls', async () => {
    const calls = (text: string) => ({ tool_calls: [{ function: { name: 'run', arguments: text } }] });
    expect((await send(path, response('hello'))).body).toEqual({ action: 'NONE' });
    expect((await send(path, response('hello', calls('forbidden')))).body).toMatchObject({
      action: 'BLOCKED',
    });
    expect((await send(path, response(SECRET))).body).toEqual({
      action: 'GUARDRAIL_INTERVENED',
      texts: ['use [redacted]'],
    });
  });

  it('blocks changes that it cannot express', async () => {
    const calls = [{ function: { arguments: SECRET } }];
    for (const text of ['hello', SECRET])
      expect((await send(path, response(text, { tool_calls: calls }))).body).toEqual({
        action: 'BLOCKED',
        blocked_reason: expect.stringContaining('in a way that LiteLLM cannot apply'),
      });
  });

  it('takes messages without texts, as they are of a model that calls a tool, or where LiteLLM leaves members out', async () => {
    const messages = (text: string) => ({ structured_messages: [{ role: 'user', content: text }] });
    for (const texts of [null, undefined, []]) {
      const ask = async (more: object) =>
        (await send(path, { input_type: 'request', texts, model: '', litellm_version: '1.90', ...more }))
          .body;
      expect(await ask(messages('hello'))).toEqual({ action: 'NONE' });
      expect(await ask(messages('forbidden'))).toMatchObject({ action: 'BLOCKED' });
      expect(await ask({ ...messages(SECRET), model: null })).toMatchObject({ action: 'BLOCKED' });
    }
  });

  it('counts images for controls, and takes no agent from parameters, which clients can add to', async () => {
    const seed = seeder(restClient(service.url, { 'x-api-key': 'admin-key' }));
    await seed.linked('adapters-bot-03', 'no-images', {
      execution: 'server',
      condition: {
        selector: {},
        evaluator: { name: 'cel', config: { expression: 'input.images > 0', on_missing: 'no_match' } },
      },
      action: { decision: 'deny' },
    });
    const request = (images: string[]) => ({
      input_type: 'request',
      texts: ['hello'],
      images,
    });
    expect((await send(path, request([]), { agent: 'adapters-bot-03' })).body).toEqual({ action: 'NONE' });
    expect(
      (await send(path, request(['data:image/png;base64,AA==']), { agent: 'adapters-bot-03' })).body,
    ).toMatchObject({
      action: 'BLOCKED',
    });
    const own = { ...request([]), additional_provider_specific_params: { agent: 'adapters-bot-03' } };
    expect((await send(path, own, { agent: '' })).body).toEqual({
      action: 'BLOCKED',
      blocked_reason: expect.stringContaining('the request names no agent'),
    });
  });
});

describe('copilot-studio', () => {
  const version = '?api-version=2025-05-01';
  it('is validated without a body, and with the version in the query', async () => {
    const validate = (key: string | null) =>
      fetch(`${service.url}/adapters/copilot-studio/validate${version}`, {
        method: 'POST',
        headers: key === null ? {} : { 'x-api-key': key },
      });
    const reply = await validate('bot-key');
    expect([reply.status, await reply.json()]).toEqual([200, { isSuccessful: true, status: 'OK' }]);
    const rejected = await validate(null);
    expect([rejected.status, await rejected.json()]).toEqual([
      401,
      { errorCode: 401, httpStatus: 401, message: expect.any(String), diagnostics: expect.any(String) },
    ]);
  });

  it('tells why it blocks by a code', async () => {
    const path = '/adapters/copilot-studio/analyze-tool-execution';
    for (const [message, reasonCode] of [
      ['{"a":', 6],
      [{}, 6],
      [PEERS[2]?.message('risky'), 2],
      [PEERS[2]?.message('expensive'), 3],
    ] as const)
      expect((await send(path, message)).body).toMatchObject({ blockAction: true, reasonCode });
    expect((await send(path, PEERS[2]?.message('hello'), { agent: LIMITED })).body.reasonCode).toBe(7);
  });

  it('takes the agent and the session from the conversation, and tells a decision for its logs', async () => {
    const peer = PEERS[2];
    const { body } = await send(`${peer?.path}${version}`, peer?.message('forbidden'), {
      agent: '',
      headers: { 'x-ms-correlation-id': 'correlation-1' },
    });
    expect(body).toMatchObject({ blockAction: true, reasonCode: 1 });
    const { decision_id, controls } = JSON.parse(body.diagnostics);
    expect(controls).toEqual(['no-forbidden']);
    expect(decision_id).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('agentgateway', () => {
  const completion = (...texts: string[]) => ({
    body: { choices: texts.map((content) => ({ message: { role: 'assistant', content } })) },
  });
  const response = async (message: object) => (await send('/adapters/agentgateway/response', message)).body;

  it('checks completions', async () => {
    expect(await response(completion('hello'))).toEqual({ action: {} });
    expect(await response(completion('hello', 'forbidden'))).toMatchObject({ action: { status_code: 403 } });
    expect(await response(completion('hello', SECRET))).toEqual({
      action: { ...completion('hello', 'use [redacted]'), reason: 'A policy changes the choices.' },
    });
    expect(await response({ body: { choices: [{}] } })).toMatchObject({
      action: {
        status_code: 400,
        reason: expect.stringContaining('body.choices[0].message: Field required'),
      },
    });
  });
});

describe('agent-hooks', () => {
  const verdict = async (context: object) =>
    (await send('/adapters/agent-hooks/evaluate', context, { agent: '' })).body;
  const POINTS: [string, (text: string) => object, unknown][] = [
    ['agent_startup', (text) => both('agent_init', { tools_registered: [text] }), null],
    [
      'input',
      (text) => both('input', { content: text, role: 'user' }),
      { content: 'use [redacted]', role: 'user' },
    ],
    [
      'pre_model_call',
      (text) => ({ model: { id: 'model-1' }, ...both('messages', [{ role: 'user', content: text }]) }),
      [{ role: 'user', content: 'use [redacted]' }],
    ],
    [
      'post_model_call',
      (text) => ({
        model: { id: 'model-1' },
        ...both('response', { content: text, tool_calls: [], finish_reason: 'stop' }),
      }),
      { content: 'use [redacted]', tool_calls: [], finish_reason: 'stop' },
    ],
    [
      'pre_tool_call',
      (text) => ({ tool_call: { id: 'c', name: 't', args: { text } }, target: { text } }),
      { text: 'use [redacted]' },
    ],
    [
      'post_tool_call',
      (text) => ({
        tool_call: { id: 'c', name: 't', args: {} },
        tool_result: { value: text, is_error: true },
        target: text,
      }),
      'use [redacted]',
    ],
    ['output', (text) => both('output', { content: text }), { content: 'use [redacted]' }],
    ['agent_shutdown', (text) => both('summary', { reason: 'completed', note: text }), null],
  ];
  function both(name: string, target: unknown) {
    return { [name]: target, target };
  }

  it.each(POINTS)('evaluates %s', async (point, members, value) => {
    const at = (text: string) => verdict(contextAt(point, members(text)));
    expect(await at('hello')).toMatchObject({ decision: 'allow' });
    expect(await at('forbidden')).toMatchObject({ decision: 'deny', reason: 'denied' });
    // A host takes no transform at the beginning and the end of a session.
    expect(await at(SECRET)).toMatchObject(
      value === null
        ? { decision: 'deny' }
        : { decision: 'transform', transform: { path: '$target', value } },
    );
  });

  it('warns of what is only observed, and names the approval that a step waits for', async () => {
    const call = (text: string) =>
      verdict(
        contextAt('pre_tool_call', { tool_call: { id: 'c', name: 't', args: { text } }, target: { text } }),
      );
    expect(await call('noted')).toMatchObject({
      decision: 'allow',
      warnings: [{ reason: 'observed', message: 'The control "notes" matches.' }],
    });
    expect(await call('expensive')).toMatchObject({
      decision: 'deny',
      reason: 'approval_required',
      approval: { id: expect.any(String), step_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
  });

  it('refuses what is not JSON', async () => {
    expect(await verdictOfText('{"spec":')).toMatchObject({ decision: 'deny', reason: 'refused' });
  });

  it('takes integers beyond 2^53 as strings only', async () => {
    const body = JSON.stringify(
      contextAt('input', { input: { content: 'ID', role: 'user' }, target: { content: 'ID', role: 'user' } }),
    );
    const digits = '9007199254740993';
    expect(await verdictOfText(body.replaceAll('"ID"', digits))).toMatchObject({
      decision: 'deny',
      reason: 'refused',
      message: expect.stringContaining('input.content: must be at most 2^53 - 1 in size'),
    });
    // As golden contexts of the specification have them.
    for (const taken of [`"${digits}"`, '9007199254740991', '1e+21', '9.999999999999997e+22', '-0.0'])
      expect(await verdictOfText(body.replaceAll('"ID"', taken))).toMatchObject({ decision: 'allow' });
  });
  const verdictOfText = async (text: string) =>
    (await send('/adapters/agent-hooks/evaluate', text, { agent: '' })).body;
});
