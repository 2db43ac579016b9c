import { foldedName, type JsonValue, type ProtocolNames } from '../../packages/exact-json/src/index.js';
import { invalidRequest } from '../contract/input/parse-input.js';

/**
 * Throws a VALIDATION_ERROR for a member that has a name of a protocol in another case: some readers ignore case, so the peer could
 * do something else than was checked.
 */
export function refuseFolded(value: JsonValue | undefined, names: ProtocolNames, place = ''): void {
  const found = foldedName(value, names, place);
  if (found === undefined) return;
  throw invalidRequest([
    { resource: 'Request', field: found.path, code: 'value_error', message: inOtherCase(found.written) },
  ]);
}

/** What is wrong with such a member. */
export function inOtherCase(written: string): string {
  return `is written ${JSON.stringify(written.slice(0, 100))}, with another case of its letters: readers differ in whether it counts`;
}

const FREE = null;
const FUNCTION = {
  id: FREE,
  type: FREE,
  function: { name: FREE, description: FREE, arguments: FREE, parameters: FREE },
};
const CHAT_MESSAGE = {
  ...{ role: FREE, name: FREE, tool_call_id: FREE, refusal: FREE },
  content: { type: FREE, text: FREE },
  tool_calls: FUNCTION,
};

/** Messages of hooks of coding agents. */
export const HOOK_NAMES: ProtocolNames = {
  ...{ hook_event_name: FREE, session_id: FREE, transcript_path: FREE, cwd: FREE, permission_mode: FREE },
  ...{ tool_name: FREE, tool_use_id: FREE, tool_input: FREE, tool_response: FREE, prompt: FREE, error: FREE },
};

export const LITELLM_NAMES: ProtocolNames = {
  ...{
    input_type: FREE,
    texts: FREE,
    images: FREE,
    model: FREE,
    litellm_call_id: FREE,
    litellm_trace_id: FREE,
  },
  ...{ request_data: FREE, additional_provider_specific_params: FREE },
  ...{ tools: FUNCTION, tool_calls: FUNCTION, structured_messages: CHAT_MESSAGE },
};

export const COPILOT_NAMES: ProtocolNames = {
  plannerContext: { userMessage: FREE, thought: FREE, chatHistory: FREE, previousToolOutputs: FREE },
  toolDefinition: {
    id: FREE,
    type: FREE,
    name: FREE,
    description: FREE,
    inputParameters: FREE,
    outputParameters: FREE,
  },
  inputValues: FREE,
  conversationMetadata: {
    ...{ conversationId: FREE, messageId: FREE, channelId: FREE, planId: FREE, planStepId: FREE, user: FREE },
    ...{ trigger: FREE, parentAgentComponentId: FREE, incomingClientIp: FREE },
    agent: { id: FREE, tenantId: FREE, environmentId: FREE, version: FREE, isPublished: FREE },
  },
};

export const AGENTGATEWAY_NAMES: ProtocolNames = {
  body: { messages: CHAT_MESSAGE, choices: { message: CHAT_MESSAGE } },
};

export const AGENT_HOOKS_NAMES: ProtocolNames = {
  ...{
    spec: FREE,
    interception_point: FREE,
    timestamp: FREE,
    sequence: FREE,
    request_id: FREE,
    target: FREE,
  },
  ...{ output: FREE, summary: FREE, budgets: FREE },
  agent: { id: FREE, framework: FREE, name: FREE },
  session: { id: FREE },
  trace: { trace_id: FREE, span_id: FREE },
  tool_call: { id: FREE, name: FREE, args: FREE },
  tool_result: { is_error: FREE, content: FREE },
  input: { role: FREE, content: FREE },
  model: { id: FREE },
  messages: { role: FREE, content: FREE },
  response: { content: FREE, tool_calls: { id: FREE, name: FREE, args: FREE } },
  agent_init: { tools_registered: FREE },
};

const ENTITY = { type: FREE, id: FREE, properties: FREE };
const ACCESS = {
  subject: ENTITY,
  resource: ENTITY,
  action: { name: FREE, properties: FREE },
  context: { agent: FREE, session_id: FREE, step_id: FREE, traceparent: FREE },
};
export const AUTHZEN_NAMES: ProtocolNames = {
  ...ACCESS,
  evaluations: ACCESS,
  options: { evaluations_semantic: FREE },
};

/** Messages of JSON-RPC. */
export const JSON_RPC_NAMES: ProtocolNames = { jsonrpc: FREE, id: FREE, method: FREE, params: FREE };

/** Params of the methods of MCP that are steps. */
export const MCP_PARAMS_NAMES: ProtocolNames = {
  ...{ name: FREE, arguments: FREE, uri: FREE, task: FREE, requestState: FREE, inputResponses: FREE },
  _meta: { progressToken: FREE, traceparent: FREE },
};

const CONTENT: ProtocolNames = {
  ...{ type: FREE, text: FREE, data: FREE, mimeType: FREE, uri: FREE, name: FREE, blob: FREE },
  resource: { uri: FREE, mimeType: FREE, text: FREE, blob: FREE },
};

/** Results of the methods of MCP that are steps. */
export const MCP_RESULT_NAMES: ProtocolNames = {
  ...{ structuredContent: FREE, isError: FREE, _meta: FREE, description: FREE, resultType: FREE },
  ...{ content: CONTENT, contents: CONTENT, messages: { role: FREE, content: CONTENT } },
};

/** What the configuration of a gateway says of a call. */
export const ROUTE_NAMES: ProtocolNames = {
  ...{ agent: FREE, session: FREE, step: FREE, step_id: FREE, traceparent: FREE, input: FREE },
};
