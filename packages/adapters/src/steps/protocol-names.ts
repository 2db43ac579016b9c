import {
  foldedName,
  inOtherCase,
  type JsonValue,
  protocolNames as names,
  type ProtocolNames,
} from '../../../exact-json/src/index.js';
import { refusedMember } from './members.js';

/**
 * Throws a VALIDATION_ERROR for a member that has a name of a protocol in another case: some readers ignore case, so the peer could
 * do something else than was checked.
 */
export function refuseFolded(value: JsonValue | undefined, names: ProtocolNames, place = ''): void {
  const found = foldedName(value, names, place);
  if (found !== undefined) throw refusedMember(found.path, inOtherCase(found));
}

const FUNCTION = names('id type', { function: names('name description arguments parameters') });
const CHAT_MESSAGE = names('role name tool_call_id refusal', {
  content: names('type text'),
  tool_calls: FUNCTION,
});

/** Messages of hooks of coding agents. */
export const HOOK_NAMES = names(
  'hook_event_name session_id transcript_path cwd permission_mode tool_name tool_use_id tool_input tool_response prompt error',
);

export const LITELLM_NAMES = names(
  'input_type texts images model litellm_call_id litellm_trace_id request_data additional_provider_specific_params',
  { tools: FUNCTION, tool_calls: FUNCTION, structured_messages: CHAT_MESSAGE },
);

export const COPILOT_NAMES = names('inputValues', {
  plannerContext: names('userMessage thought chatHistory previousToolOutputs'),
  toolDefinition: names('id type name description inputParameters outputParameters'),
  conversationMetadata: names(
    'conversationId messageId channelId planId planStepId user trigger parentAgentComponentId incomingClientIp',
    { agent: names('id tenantId environmentId version isPublished') },
  ),
});

export const AGENTGATEWAY_NAMES: ProtocolNames = {
  body: { messages: CHAT_MESSAGE, choices: { message: CHAT_MESSAGE } },
};

const CALL = names('id name args');
const INPUT = names('role content');
export const AGENT_HOOKS_NAMES = names(
  'spec interception_point timestamp sequence request_id target output summary budgets',
  {
    agent: names('id framework name'),
    session: names('id'),
    trace: names('trace_id span_id'),
    tool_call: CALL,
    tool_result: names('is_error content'),
    ...{ input: INPUT, messages: INPUT },
    model: names('id'),
    response: names('content', { tool_calls: CALL }),
    agent_init: names('tools_registered'),
  },
);

const ENTITY = names('type id properties');
const ACCESS = {
  ...{ subject: ENTITY, resource: ENTITY },
  action: names('name properties'),
  context: names('agent session_id step_id traceparent'),
};
export const AUTHZEN_NAMES: ProtocolNames = {
  ...ACCESS,
  evaluations: ACCESS,
  options: names('evaluations_semantic'),
};

/** Messages of JSON-RPC. */
export const JSON_RPC_NAMES = names('jsonrpc id method params');

/** Params of the methods of MCP that are steps. */
export const MCP_PARAMS_NAMES = names('name arguments uri task requestState inputResponses', {
  _meta: names('progressToken traceparent'),
});

const CONTENT = names('type text data mimeType uri name blob', {
  resource: names('uri mimeType text blob'),
});

/** Results of the methods of MCP that are steps. */
export const MCP_RESULT_NAMES = names('structuredContent isError _meta description resultType', {
  ...{ content: CONTENT, contents: CONTENT, messages: names('role', { content: CONTENT }) },
});

/** What the configuration of a gateway says of a call. */
export const ROUTE_NAMES = names('agent session step step_id traceparent input');
