import { AGENT, EXCHANGE, PAIR, SHAPES, type TenancyCase } from './tenancy-case.js';

const INIT = '/api/v1/agents/initAgent';
const EVALUATION = '/api/v1/evaluation';
const CONTROLS = `/api/v1/agents/${AGENT}/controls`;
const OTHER = { target_type: PAIR.target_type, target_id: 'another' };

const step = (input: unknown, more: object = {}) => ({
  step: { type: 'llm', name: 'answer', input },
  ...more,
});
const evaluation = (input: unknown, more: object = PAIR) =>
  ['POST', EVALUATION, { agent_name: AGENT, stage: 'pre', ...step(input), ...more }] as const;
const controls = (query: object) => ['GET', `${CONTROLS}?${new URLSearchParams({ ...query })}`] as const;
const init = (more: object) => ['POST', INIT, { agent: { agent_name: AGENT }, ...more }] as const;

const invalid = { status: 422, code: 'VALIDATION_ERROR' } as const;
const forbidden = { status: 403, code: 'AUTH_INSUFFICIENT_PRIVILEGES' } as const;
const KEY_CHALLENGE = { 'www-authenticate': 'ApiKey' };

const EXCHANGE_CASES: readonly TenancyCase[] = [
  {
    title: 'POST /auth/runtime-token-exchange with any key',
    by: 'reader',
    call: ['POST', EXCHANGE, PAIR],
    status: 200,
    reply: SHAPES.token,
    equal: () => PAIR,
  },
  {
    title:
      'POST /auth/runtime-token-exchange without members or credentials: 401 (8.x: 422 first), because no body is read before its caller is known',
    by: 'nobody',
    call: ['POST', EXCHANGE, {}],
    status: 401,
    code: 'AUTH_MISSING_KEY',
    headers: KEY_CHALLENGE,
  },
  {
    title: 'POST /auth/runtime-token-exchange without members',
    by: 'reader',
    call: ['POST', EXCHANGE, {}],
    ...invalid,
    items: ['target_type missing', 'target_id missing'],
  },
  {
    title: 'POST /auth/runtime-token-exchange with another type and a text that is too short',
    by: 'reader',
    call: ['POST', EXCHANGE, { target_type: 1, target_id: '' }],
    ...invalid,
    items: ['target_type string_type', 'target_id string_too_short'],
  },
  {
    title: 'POST /auth/runtime-token-exchange with half a pair',
    by: 'reader',
    call: ['POST', EXCHANGE, { target_type: 'x' }],
    ...invalid,
    items: ['target_id missing'],
  },
  {
    title: 'POST /auth/runtime-token-exchange with further members, which are forbidden',
    by: 'reader',
    call: ['POST', EXCHANGE, { ...PAIR, ttl_seconds: 5 }],
    ...invalid,
    items: ['ttl_seconds extra_forbidden'],
  },
  {
    title: 'POST /auth/runtime-token-exchange without credentials',
    by: 'nobody',
    call: ['POST', EXCHANGE, PAIR],
    status: 401,
    code: 'AUTH_MISSING_KEY',
    headers: KEY_CHALLENGE,
  },
];

const EVALUATION_CASES: readonly TenancyCase[] = [
  {
    title: 'POST /evaluation with a token: a control that is bound to its target',
    by: 'token',
    call: evaluation('bound'),
    status: 200,
    equal: () => ({ is_safe: false, matches: [{ control_name: 'bound', action: 'deny' }] }),
  },
  {
    title: 'POST /evaluation with a token: a control that is linked to the agent',
    by: 'token',
    call: evaluation('linked'),
    status: 200,
    equal: () => ({ is_safe: false, matches: [{ control_name: 'linked' }] }),
  },
  {
    title: 'POST /evaluation with a token: a control of a policy of the agent',
    by: 'token',
    call: evaluation('by-policy'),
    status: 200,
    equal: () => ({ is_safe: false, matches: [{ control_name: 'by-policy' }] }),
  },
  {
    title: 'POST /evaluation with a token: a control that is linked and bound counts once',
    by: 'token',
    call: evaluation('twice'),
    status: 200,
    equal: () => ({ is_safe: false, matches: { length: 1 } }),
  },
  {
    title: 'POST /evaluation with a token: a binding that is disabled',
    by: 'token',
    call: evaluation('disabled'),
    status: 200,
    equal: () => ({ is_safe: true }),
  },
  {
    title: 'POST /evaluation with a token, for another target',
    by: 'token',
    call: evaluation('x', OTHER),
    ...forbidden,
    headers: { 'www-authenticate': null },
  },
  {
    title: 'POST /evaluation with a token, without a target',
    by: 'token',
    call: evaluation('x', {}),
    ...forbidden,
    headers: { 'www-authenticate': null },
  },
  ...['target_type', 'target_id'].map(
    (given): TenancyCase => ({
      title: `POST /evaluation with ${given} alone`,
      by: 'token',
      call: evaluation('x', { [given]: 'x' }),
      ...invalid,
      items: ['- value_error'],
    }),
  ),
  {
    title: 'POST /evaluation of no agent',
    by: 'token',
    call: evaluation('x', { ...PAIR, agent_name: 'agent-that-is-not-there' }),
    status: 404,
    code: 'AGENT_NOT_FOUND',
  },
  {
    title: 'POST /evaluation without a token',
    by: 'nobody',
    call: evaluation('x'),
    status: 401,
    code: 'AUTH_MISSING_KEY',
    headers: KEY_CHALLENGE,
  },
  {
    title: 'POST /evaluation with a key where tokens are needed: only their header is read',
    by: 'reader',
    call: evaluation('x'),
    status: 401,
    code: 'AUTH_MISSING_KEY',
    headers: KEY_CHALLENGE,
  },
  {
    title: 'GET /agents with a token, which does nothing but evaluate',
    by: 'token',
    call: ['GET', '/api/v1/agents'],
    status: 401,
    code: 'AUTH_MISSING_KEY',
    headers: KEY_CHALLENGE,
  },
];

const AGENT_CASES: readonly TenancyCase[] = [
  {
    title: 'POST /agents/initAgent with a target: direct, of policies and bound, each once',
    by: 'reader',
    call: init(PAIR),
    status: 200,
    reply: SHAPES.agentControls,
    equal: () => ({ created: false, controls: names('twice', 'by-policy', 'bound', 'linked') }),
  },
  {
    title: 'POST /agents/initAgent without a target',
    by: 'reader',
    call: init({}),
    status: 200,
    reply: SHAPES.agentControls,
    equal: () => ({ controls: names('twice', 'by-policy', 'linked') }),
  },
  {
    title: 'POST /agents/initAgent with half a pair',
    by: 'reader',
    call: init({ target_type: 'x' }),
    ...invalid,
    items: ['- value_error'],
  },
  {
    title:
      'POST /agents/initAgent with a target by the role agent: 200 (8.x: 403 without control_bindings.read), because an agent reads its own controls and learns nothing about bindings',
    by: 'agent',
    call: init(PAIR),
    status: 200,
    reply: SHAPES.agentControls,
  },
  {
    title:
      'POST /agents/initAgent that overwrites, with a key that is no admin key: 200 as in 7.x (8.x: agents.update), because agents register their later versions with the key they have',
    by: 'reader',
    call: init({ conflict_mode: 'overwrite', force_replace: true }),
    status: 200,
    reply: SHAPES.agentControls,
  },
  {
    title: 'GET /agents/{n}/controls of a target',
    by: 'reader',
    call: controls(PAIR),
    status: 200,
    reply: SHAPES.agentControls,
    equal: () => ({ controls: names('twice', 'by-policy', 'bound', 'linked') }),
  },
  {
    title: 'GET /agents/{n}/controls of a target without bindings',
    by: 'reader',
    call: controls(OTHER),
    status: 200,
    reply: SHAPES.agentControls,
    equal: () => ({ controls: names('twice', 'by-policy', 'linked') }),
  },
  ...['target_type', 'target_id'].map(
    (given): TenancyCase => ({
      title: `GET /agents/{n}/controls with ${given} alone`,
      by: 'reader',
      call: controls({ [given]: 'x' }),
      status: 400,
      code: 'VALIDATION_ERROR',
      items: [`${given === 'target_id' ? 'target_type' : 'target_id'} missing_target_pair`],
    }),
  ),
];

const names = (...all: string[]) => all.map((name) => ({ name }));

/** "auth", "evaluation" and "agents" of the page, as far as targets and tokens are concerned. */
export const RUNTIME_CASES = [...EXCHANGE_CASES, ...EVALUATION_CASES, ...AGENT_CASES];
