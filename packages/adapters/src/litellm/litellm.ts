import type { AdapterService } from '../../../../gen/proto/enforcement/v1/adapter_service_pb.js';
import type { HandlersOf } from '../../../../src/contract/call/handler.js';
import type { Step } from '../../../../src/kernel/core/types.js';
import { isObject, type JsonObject, type JsonValue, jsonEqual } from '../../../exact-json/src/index.js';
import type { AdapterEvaluations } from '../steps/adapter-evaluations.js';
import { given, type Members, membersOf } from '../steps/members.js';
import { LITELLM_NAMES } from '../steps/protocol-names.js';
import { messageSchema, type Settled, type WebhookStep, webhook } from '../steps/webhook.js';

/**
 * The generic guardrail of LiteLLM (https://docs.litellm.ai/docs/adding_provider/generic_guardrail_api). A request is an llm step:
 * before the model with its texts as the input, and after it with those of the answer as the output. Whatever is not allowed,
 * errors included, is BLOCKED: LiteLLM can be set to let requests pass when a guardrail fails.
 */
export function createLitellm(
  evaluations: AdapterEvaluations,
): Pick<HandlersOf<typeof AdapterService>, 'evaluateLitellmGuardrail'> {
  return {
    evaluateLitellmGuardrail: webhook(evaluations, 'litellm', {
      input: messageSchema({
        agent: 'chat-proxy-01',
        body: { input_type: 'request', texts: ['hello'], litellm_call_id: 'call-1', request_data: {} },
      }),
      names: LITELLM_NAMES,
      step: ({ body }) => stepOf(membersOf(body)),
      reply: (outcome, { body }) => replyOf(outcome, body),
      failed: blocked,
    }),
  };
}

function stepOf(message: Members): WebhookStep {
  const kind = message.text('input_type');
  if (kind !== 'request' && kind !== 'response')
    return message.refuse('input_type', 'must be one of: request, response', 'literal_error');
  const { all } = message;
  const content = contentOf(message);
  const common = {
    type: 'llm',
    name: message.optionalText('model') || 'completion',
    context: given({
      request_data: message.optionalObject('request_data')?.all,
      additional_provider_specific_params: message.optionalObject('additional_provider_specific_params')?.all,
    }),
    protocol: {
      // Never a parameter of the guardrail: LiteLLM takes them from the client too, which could choose its controls.
      session: message.optionalText('litellm_trace_id'),
      step_id: message.optionalText('litellm_call_id'),
    },
    accepts: ['steer', 'ask', 'modify'],
  } as const;
  if (kind === 'request') return { ...common, stage: 'pre', input: content };
  const input = given({ structured_messages: all.structured_messages ?? undefined });
  return { ...common, accepts: ['steer', 'modify'], stage: 'post', input, output: content };
}

/**
 * Images are not looked into: a step has their number, so that a control can deny them. LiteLLM can be set to leave members out
 * (`exclude_payload_fields`, `send_images`): what it shows nothing of is refused, and the number of images is not known.
 */
function contentOf(message: Members): JsonObject {
  const { texts = null, images, input_type: kind } = message.all;
  const others = given({
    tools: optional(message, 'tools'),
    tool_calls: optional(message, 'tool_calls'),
    structured_messages: kind === 'request' ? optional(message, 'structured_messages') : undefined,
  });
  // Something else than texts may show what is said.
  const isShown = Object.entries(others).some(
    ([name, value]) => name !== 'tools' && (value as JsonValue[]).length > 0,
  );
  const shown = texts === null && isShown ? [] : message.texts('texts');
  // A list without texts shows as little as none; before a model it is all that there is to check.
  if (shown.length === 0 && !isShown)
    return message.refuse('texts', 'must not be empty: there is nothing to check', 'too_short');
  return given({
    texts: [...shown],
    images: images === undefined ? undefined : (message.optionalList('images')?.length ?? 0),
    ...others,
  });
}

function optional(message: Members, name: string): JsonValue | undefined {
  const found = message.optionalList(name);
  return found === undefined ? undefined : [...found];
}

function replyOf(outcome: Settled, body: JsonObject): JsonObject {
  if (outcome.kind === 'allow') return { action: 'NONE' };
  if (outcome.kind !== 'modify') return blocked(outcome.message);
  const texts = changedTexts(outcome.step, body);
  if (texts !== undefined) return { action: 'GUARDRAIL_INTERVENED', texts };
  return blocked(
    `A policy changes "${outcome.step.name}" in a way that LiteLLM cannot apply, so it counts as denied.`,
  );
}

/** The texts of a modified step; undefined if it has another number of them, or if anything else than texts has changed. */
function changedTexts(step: Step, body: JsonObject): string[] | undefined {
  const { texts, ...others } = isObject(step.output) ? step.output : isObject(step.input) ? step.input : {};
  const before = body.texts ?? [];
  if (!Array.isArray(texts) || !Array.isArray(before) || texts.length !== before.length) return undefined;
  if (jsonEqual(texts, before) || !texts.every((one) => typeof one === 'string')) return undefined;
  // LiteLLM makes its messages from the texts.
  const rest = ['tools', 'tool_calls'] as const;
  return rest.every((name) => jsonEqual(others[name] ?? null, body[name] ?? null))
    ? (texts as string[])
    : undefined;
}

function blocked(reason: string): JsonObject {
  return { action: 'BLOCKED', blocked_reason: reason };
}
