import { expect } from 'vitest';

export const AGENT = 'adapters-bot-01';

/** A text of a reply that has this part. */
const part = (text: string): string => expect.stringContaining(text);

/** What the tests of every adapter need of its protocol. */
export interface Peer {
  readonly adapter: string;
  readonly path: string;
  /** A message before a step whose input has the text. */
  message(text: string): object;
  readonly allowed: object;
  /** The reply that denies for a reason with this part, with this status where the protocol has one. */
  denied(reason: string, status?: number): object;
  /** The reply to a step with a secret, which a control redacts. */
  readonly modified: object;
  /** Names of its protocol that are in a message, of all levels. */
  readonly names: readonly string[];
  /** A message that is invalid, and what the reason says. */
  readonly invalid: readonly (readonly [object, string])[];
  /** The reply to a wrong key. */
  readonly wrongKey: object;
}

const toolUse = (text: string) => ({
  hook_event_name: 'PreToolUse',
  session_id: 'session-1',
  tool_name: 'Bash',
  tool_use_id: 'toolu-1',
  tool_input: { command: text },
});
const hookDenied = (reason: string) => ({
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: part(reason),
  },
});
const hookBlocked = (reason: string) => ({ decision: 'block', reason: part(reason) });

const CODING_HOOKS: Peer = {
  adapter: 'coding-hooks',
  names: ['hook_event_name', 'session_id', 'tool_name', 'tool_use_id', 'tool_input'],
  path: '/adapters/coding-hooks',
  message: toolUse,
  allowed: {},
  denied: hookDenied,
  modified: hookDenied('Repeat it with exactly this one: {"command":"use [redacted]"}'),
  invalid: [
    [{ ...toolUse('x'), tool_name: undefined }, 'tool_name: Field required'],
    [{ ...toolUse('x'), tool_input: 'ls' }, 'tool_input: must be an object'],
    [{ ...toolUse('x'), session_id: 's'.repeat(256) }, 'session_id: '],
  ],
  wrongKey: hookBlocked('key'),
};

const guardrail = (text: string) => ({
  input_type: 'request',
  litellm_call_id: 'call-1',
  litellm_trace_id: 'trace-1',
  texts: ['hello', text],
  structured_messages: [{ role: 'user', content: text }],
  images: null,
  request_data: { user_api_key_alias: 'team-a' },
  additional_provider_specific_params: {},
});
const blocked = (reason: string) => ({ action: 'BLOCKED', blocked_reason: part(reason) });

const LITELLM: Peer = {
  adapter: 'litellm',
  names: [
    'input_type',
    'texts',
    'structured_messages',
    'role',
    'content',
    'images',
    'request_data',
    'litellm_trace_id',
  ],
  path: '/adapters/litellm/beta/litellm_basic_guardrail_api',
  message: guardrail,
  allowed: { action: 'NONE' },
  denied: blocked,
  modified: { action: 'GUARDRAIL_INTERVENED', texts: ['hello', 'use [redacted]'] },
  invalid: [
    [{ ...guardrail('x'), texts: undefined, structured_messages: null }, 'texts: Field required'],
    [{ ...guardrail('x'), texts: null, input_type: 'response' }, 'texts: Field required'],
    [{ ...guardrail('x'), texts: ['a', 7] }, 'texts[1]: must be a string'],
    [{ ...guardrail('x'), input_type: 'both' }, 'input_type: must be one of: request, response'],
    [{ ...guardrail('x'), images: 'none' }, 'images: must be a list'],
    [{ ...guardrail('x'), texts: Array(10_001).fill('') }, 'texts: must have at most 10000 items'],
  ],
  wrongKey: blocked('key'),
};

const execution = (text: string) => ({
  plannerContext: { userMessage: 'Send it.' },
  toolDefinition: { id: 'tool-1', type: 'Connector', name: 'send_email' },
  inputValues: { body: text },
  conversationMetadata: { agent: { id: AGENT }, conversationId: 'conversation-1' },
});
const stopped = (reason: string) => ({
  blockAction: true,
  reasonCode: expect.any(Number),
  reason: part(reason),
  diagnostics: expect.any(String),
});

const COPILOT_STUDIO: Peer = {
  adapter: 'copilot-studio',
  names: [
    'plannerContext',
    'userMessage',
    'toolDefinition',
    'name',
    'inputValues',
    'conversationMetadata',
    'agent',
    'conversationId',
  ],
  path: '/adapters/copilot-studio/analyze-tool-execution',
  message: execution,
  allowed: { blockAction: false },
  denied: stopped,
  modified: stopped('denied'),
  invalid: [
    [{ ...execution('x'), toolDefinition: undefined }, 'toolDefinition: Field required'],
    [{ ...execution('x'), toolDefinition: {} }, 'toolDefinition.id: Field required'],
    [{ ...execution('x'), inputValues: [] }, 'inputValues: must be an object'],
    [
      { ...execution('x'), conversationMetadata: { agent: 7 } },
      'conversationMetadata.agent: must be an object',
    ],
  ],
  wrongKey: { errorCode: 401, httpStatus: 401, message: part('key'), diagnostics: expect.any(String) },
};

const prompt = (text: string) => ({ body: { messages: [{ role: 'user', content: text }] } });
const rejected = (reason: string, status_code: unknown = expect.any(Number)) => ({
  action: { body: part(reason), status_code, reason: part(reason) },
});

const AGENTGATEWAY: Peer = {
  adapter: 'agentgateway',
  names: ['body', 'messages', 'role', 'content'],
  path: '/adapters/agentgateway/request',
  message: prompt,
  allowed: { action: {} },
  denied: rejected,
  modified: {
    action: {
      body: { messages: [{ role: 'user', content: 'use [redacted]' }] },
      reason: 'A policy changes the messages.',
    },
  },
  invalid: [
    [{}, 'body: Field required'],
    [{ body: { messages: {} } }, 'body.messages: must be a list'],
    [{ body: { messages: ['hello'] } }, 'body.messages[0]: must be an object'],
    [
      { body: { messages: [{ role: 'user', content: ['x'] }] } },
      'body.messages[0].content: must be a string',
    ],
    [{ body: { messages: [{ content: 'x' }] } }, 'body.messages[0].role: Field required'],
  ],
  wrongKey: rejected('key', 401),
};

/** An agent context of agent-hooks at a point. */
export const contextAt = (interception_point: string, members: object) => ({
  spec: 'agent-hooks/0.1',
  interception_point,
  timestamp: '2026-06-19T14:03:11.123Z',
  sequence: 4,
  agent: { id: AGENT, framework: 'langchain' },
  session: { id: 'session-1' },
  ...members,
});
const toolCall = (text: string) =>
  contextAt('pre_tool_call', {
    tool_call: { id: 'call-1', name: 'send_email', args: { text } },
    target: { text },
  });
const deny = (message: string) =>
  expect.objectContaining({
    decision: 'deny',
    reason: expect.not.stringMatching(/^host_error/),
    message: part(message),
  });

const AGENT_HOOKS: Peer = {
  adapter: 'agent-hooks',
  names: [
    'spec',
    'interception_point',
    'agent',
    'framework',
    'session',
    'tool_call',
    'name',
    'args',
    'target',
  ],
  path: '/adapters/agent-hooks/evaluate',
  message: toolCall,
  allowed: { decision: 'allow' },
  denied: deny,
  modified: {
    decision: 'transform',
    reason: 'modified',
    transform: { path: '$target', value: { text: 'use [redacted]' } },
    evidence: expect.anything(),
  },
  invalid: [
    [{ ...toolCall('x'), spec: 'agent-hooks/9.0' }, 'spec: must be agent-hooks/0.1'],
    [{ ...toolCall('x'), interception_point: 'pre_call' }, 'interception_point: must be one of'],
    [{ ...toolCall('x'), target: { text: 'y' } }, 'target: must be the same as tool_call.args'],
    [{ ...toolCall('x'), target: undefined }, 'target: Field required'],
    [{ ...toolCall('x'), sequence: -1 }, 'sequence: must be an integer from 0'],
    [{ ...toolCall('x'), timestamp: 'today' }, 'timestamp: must be a time of RFC 3339'],
    [{ ...toolCall('x'), agent: { id: AGENT } }, 'agent.framework: Field required'],
    [{ ...toolCall('x'), agent: { id: AGENT, framework: 'Lang Chain' } }, 'agent.framework: must match'],
    [{ ...toolCall('x'), session: {} }, 'session.id: Field required'],
    [{ ...toolCall('x'), budgets: { cost: [2 ** 53] } }, 'budgets.cost[0]: must be at most 2^53 - 1'],
  ],
  wrongKey: deny('key'),
};

export const PEERS = [CODING_HOOKS, LITELLM, COPILOT_STUDIO, AGENTGATEWAY, AGENT_HOOKS];
