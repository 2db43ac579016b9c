import type { AdapterService } from '../../../../gen/proto/enforcement/v1/adapter_service_pb.js';
import type { HandlersOf } from '../../../../src/contract/call/handler.js';
import { isObject, type JsonObject, type JsonValue } from '../../../exact-json/src/index.js';
import type { AdapterEvaluations } from '../steps/adapter-evaluations.js';
import { type Members, membersOf } from '../steps/members.js';
import { AGENTGATEWAY_NAMES } from '../steps/protocol-names.js';
import { messageSchema, type Settled, statusOf, type WebhookStep, webhook } from '../steps/webhook.js';

/**
 * The guardrail webhook of agentgateway (https://agentgateway.dev/docs/standalone/latest/llm/prompt-guards/webhooks/). A prompt is
 * an llm step before the model with its messages as the input, a completion one after it with its choices as the output.
 * Errors reject: the gateway can be set to let requests pass when its webhook fails.
 */
export function createAgentgateway(
  evaluations: AdapterEvaluations,
): Pick<HandlersOf<typeof AdapterService>, 'evaluateGatewayPrompt' | 'evaluateGatewayCompletion'> {
  const side = (list: Side, example: JsonObject) =>
    webhook(evaluations, 'agentgateway', {
      input: messageSchema({ agent: 'llm-gateway-01', body: { body: example } }),
      names: AGENTGATEWAY_NAMES,
      step: ({ body }) => stepOf(list, membersOf(body).object('body')),
      reply: (outcome, { body }) => ({ action: actionOf(list, outcome, body) }),
      failed: (message, { status }) => ({ action: rejected(message, status) }),
    });
  const message = { role: 'user', content: 'hello' };
  return {
    evaluateGatewayPrompt: side('messages', { messages: [message] }),
    evaluateGatewayCompletion: side('choices', { choices: [{ message }] }),
  };
}

/** The member that is checked. */
type Side = 'messages' | 'choices';

function stepOf(list: Side, content: Members): WebhookStep {
  const isPrompt = list === 'messages';
  for (const one of content.objects(list)) checkMessage(isPrompt ? one : one.object('message'));
  const value = { [list]: content.all[list] as JsonValue };
  const step = { type: 'llm', name: 'chat', protocol: {} } as const;
  return isPrompt
    ? { ...step, stage: 'pre', input: value, accepts: ['steer', 'ask', 'modify'] }
    : { ...step, stage: 'post', input: {}, output: value, accepts: ['steer', 'modify'] };
}

function checkMessage(message: Members): void {
  message.text('role');
  if (message.optionalText('content') === undefined)
    message.refuse('content', 'must be a string', 'string_type');
}

/** The gateway tells the actions apart by their members. */
function actionOf(list: Side, outcome: Settled, { body }: JsonObject): JsonObject {
  if (outcome.kind === 'allow') return {};
  if (outcome.kind !== 'modify') return rejected(outcome.message, statusOf(outcome));
  const changed = list === 'messages' ? outcome.step.input : outcome.step.output;
  const items = isObject(changed) ? changed[list] : undefined;
  const reason = `A policy changes the ${list}.`;
  if (isSameShape(items, (body as JsonObject)[list])) return { body: { [list]: items }, reason };
  return rejected(`${reason} The gateway cannot apply it, so it counts as denied.`, 403);
}

/** Whether two values differ in texts only: the gateway takes as many messages as it has sent. */
function isSameShape(value: JsonValue | undefined, other: JsonValue | undefined): value is JsonValue {
  if (Array.isArray(value) && Array.isArray(other))
    return value.length === other.length && value.every((item, index) => isSameShape(item, other[index]));
  if (isObject(value) && isObject(other)) {
    const names = Object.keys(value);
    return (
      names.length === Object.keys(other).length &&
      names.every((name) => isSameShape(value[name], other[name]))
    );
  }
  return value !== undefined && typeof value === typeof other && !Array.isArray(value) && !isObject(value);
}

function rejected(reason: string, status: number): JsonObject {
  return { body: reason, status_code: status, reason };
}
