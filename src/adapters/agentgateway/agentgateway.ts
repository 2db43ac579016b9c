import type { AdapterService } from '../../../gen/proto/enforcement/v1/adapter_service_pb.js';
import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { type HandlerCall, type HandlersOf, handler } from '../../contract/call/handler.js';
import type { AdapterEvaluations } from '../adapter-evaluations.js';
import { type Members, membersOf } from '../members.js';
import { denyingForm, messageSchema, type Settled, settled, statusOf } from '../settled.js';

/**
 * The guardrail webhook of agentgateway (https://agentgateway.dev/docs/standalone/latest/llm/prompt-guards/webhooks/). A prompt is
 * an llm step before the model with its messages as the input, a completion one after it with its choices as the output.
 * Errors reject: the gateway can be set to let requests pass when its webhook fails.
 */
export function createAgentgateway(
  evaluations: AdapterEvaluations,
): Pick<HandlersOf<typeof AdapterService>, 'evaluateGatewayPrompt' | 'evaluateGatewayCompletion'> {
  const webhook = (side: Side, example: JsonObject) => ({
    ...handler(
      messageSchema({ agent: 'llm-gateway-01', body: { body: example } }),
      async ({ body, agent }, call) => {
        const outcome = await settled(call, () => decide(side, body, agent, call));
        return { reply: { action: actionOf(side, outcome, body) } };
      },
    ),
    errorForm: denyingForm((message, { status }) => ({
      action: rejected(message, status >= 400 ? status : 500),
    })),
  });

  function decide(side: Side, message: JsonObject, agent: string | undefined, call: HandlerCall) {
    evaluations.demand('agentgateway');
    const content = membersOf(message).object('body');
    for (const one of content.objects(side.list))
      checkMessage(side.list === 'choices' ? one.object('message') : one);
    const value = { [side.list]: content.all[side.list] as JsonValue };
    const step = { type: 'llm', name: 'chat', protocol: {}, message, query: { agent } } as const;
    return evaluations.submit(
      'agentgateway',
      side.list === 'messages'
        ? { ...step, stage: 'pre', input: value, accepts: ['steer', 'ask', 'modify'] }
        : { ...step, stage: 'post', input: {}, output: value, accepts: ['steer', 'modify'] },
      call,
    );
  }

  const message = { role: 'user', content: 'hello' };
  return {
    evaluateGatewayPrompt: webhook({ list: 'messages' }, { messages: [message] }),
    evaluateGatewayCompletion: webhook({ list: 'choices' }, { choices: [{ message }] }),
  };
}

interface Side {
  /** The member that is checked. */
  readonly list: 'messages' | 'choices';
}

function checkMessage(message: Members): void {
  message.text('role');
  if (message.optionalText('content') === undefined)
    message.refuse('content', 'must be a string', 'string_type');
}

/** The gateway tells the actions apart by their members. */
function actionOf({ list }: Side, outcome: Settled, { body }: JsonObject): JsonObject {
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
