import { expect } from 'vitest';
import { NO_AGENT, NO_KEY, refusal } from '../support/refusals.js';
import { called, READER_KEY, type Step, steps } from './every-rpc.support.js';

const AGENT = 'adapted-bot-01';
const ACCESS = {
  subject: { type: 'agent', id: AGENT },
  action: { name: 'call' },
  resource: { type: 'tool', id: 'search' },
};
const UNKNOWN = { ...ACCESS, subject: { type: 'agent', id: 'unknown-bot-01' } };
/** By the form of its errors, 400 over HTTP. */
const INVALID = refusal('VALIDATION_ERROR', 400, 'InvalidArgument');
const ALLOWED = { decision: true, context: { outcome: 'allow' } };

/** Steps of an RPC whose body is a message of another protocol: a denial is no error, but the lack of a key is one. */
const messages = (rpc: string, message: object, reply: object, denial: object): Step[] => {
  const body = message as Step['input'];
  return steps(rpc, [
    ['answers', { agent: AGENT, body }, { reply: { reply } }, READER_KEY],
    [
      'denies what is sent by an unknown agent',
      { agent: 'unknown-bot-01', body },
      { reply: { reply: denial } },
      READER_KEY,
    ],
    ['demands a key', { agent: AGENT, body }, NO_KEY, null],
  ]);
};
const ASKED = { role: 'user', content: 'hello' };
const UNCHECKED = expect.stringContaining('was not checked');
const HOOK = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } };
const HOOK_DENIED = {
  hookEventName: 'PreToolUse',
  permissionDecision: 'deny',
  permissionDecisionReason: UNCHECKED,
};
const EXECUTION = { toolDefinition: { name: 'send_email' }, inputValues: {}, conversationMetadata: {} };
const REJECTED = { action: { body: UNCHECKED, reason: UNCHECKED, status_code: 404 } };
const CONTEXT = {
  spec: 'agent-hooks/0.1',
  interception_point: 'input',
  timestamp: '2026-06-19T14:03:11Z',
  sequence: 1,
  agent: { id: AGENT, framework: 'langchain' },
  session: { id: 'session-1' },
  input: ASKED,
  target: ASKED,
};

/** The part of the script about adapters. */
export const ADAPTER_STEPS: readonly Step[] = [
  called(
    'AgentService.InitAgent',
    'registers the agent of adapters',
    { agent: { agent_name: AGENT } },
    {
      reply: {},
    },
  ),
  ...steps('AuthzenService.EvaluateAccess', [
    ['decides about an access', ACCESS, { reply: ALLOWED }, READER_KEY],
    ['refuses an unknown agent', UNKNOWN, NO_AGENT, READER_KEY],
    ['demands a resource', { subject: ACCESS.subject, action: ACCESS.action }, INVALID, READER_KEY],
    ['demands a key', ACCESS, NO_KEY, null],
  ]),
  ...steps('AuthzenService.EvaluateAccesses', [
    [
      'decides about several',
      { ...ACCESS, evaluations: [{}] },
      { reply: { evaluations: [ALLOWED] } },
      READER_KEY,
    ],
    ['decides about one', ACCESS, { reply: ALLOWED }, READER_KEY],
    [
      'denies one that lacks members',
      { evaluations: [{}] },
      { reply: { evaluations: [{ decision: false, context: { error: { code: 'VALIDATION_ERROR' } } }] } },
      READER_KEY,
    ],
    ['demands members of a request that is one access', { context: {} }, INVALID, READER_KEY],
  ]),
  ...steps('AuthzenService.GetAuthzenConfiguration', [
    [
      'tells where it is',
      {},
      { reply: { access_evaluation_endpoint: expect.stringMatching(/evaluation$/) } },
      null,
    ],
  ]),
  ...messages('AdapterService.EvaluateCodingHook', HOOK, {}, { hookSpecificOutput: HOOK_DENIED }),
  ...messages(
    'AdapterService.EvaluateLitellmGuardrail',
    { input_type: 'request', texts: ['hello'] },
    { action: 'NONE' },
    { action: 'BLOCKED', blocked_reason: UNCHECKED },
  ),
  ...messages(
    'AdapterService.AnalyzeToolExecution',
    EXECUTION,
    { blockAction: false },
    { blockAction: true, reason: UNCHECKED, reasonCode: 6 },
  ),
  ...steps('AdapterService.ValidateThreatDetection', [
    ['tells that it is set up', {}, { reply: { reply: { isSuccessful: true, status: 'OK' } } }, READER_KEY],
    ['demands a key', {}, NO_KEY, null],
  ]),
  ...messages(
    'AdapterService.EvaluateGatewayPrompt',
    { body: { messages: [ASKED] } },
    { action: {} },
    REJECTED,
  ),
  ...messages(
    'AdapterService.EvaluateGatewayCompletion',
    { body: { choices: [{ message: ASKED }] } },
    { action: {} },
    REJECTED,
  ),
  ...messages(
    'AdapterService.EvaluateAgentHook',
    CONTEXT,
    { decision: 'allow' },
    { decision: 'deny', reason: 'refused', message: UNCHECKED },
  ),
];
