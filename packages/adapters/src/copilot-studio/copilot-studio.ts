import { z } from 'zod';
import type { AdapterService } from '../../../../gen/proto/enforcement/v1/adapter_service_pb.js';
import type { HandlersOf, ShownError } from '../../../../src/contract/call/handler.js';
import { handler } from '../../../../src/contract/call/handler.js';
import { freeObject, nullable, text, withExample } from '../../../../src/contract/input/fields.js';
import { type JsonObject, stringifyJson } from '../../../exact-json/src/index.js';
import type { AdapterEvaluations } from '../steps/adapter-evaluations.js';
import { given, type Members, membersOf } from '../steps/members.js';
import { COPILOT_NAMES } from '../steps/protocol-names.js';
import {
  JSON_TYPE,
  type Settled,
  statusOf,
  trailOfSettled,
  type WebhookStep,
  webhook,
} from '../steps/webhook.js';

/** Copilot Studio waits for a second, and can be set to run the tool after it. */
const TIMEOUT_MS = 800;

/** Own codes of reasons, as the page of the adapter lists them. */
const REASON_CODES = { deny: 1, steer: 2, ask: 3, modify: 4, error: 5, refused: 6 } as const;
const LIMIT_REACHED = 7;

const analysis = withExample(
  z.object({ body: freeObject(), agent: nullable(text()), api_version: nullable(text()) }),
  {
    body: {
      plannerContext: { userMessage: 'Send the report to Ann.' },
      toolDefinition: { id: 'tool-1', type: 'Connector', name: 'send_email' },
      inputValues: { to: 'ann@example.com' },
      conversationMetadata: {
        agent: { id: 'b1c7b8f0-5bf6-4c1b-9d5e-000000000001' },
        conversationId: 'conversation-1',
      },
    },
  },
);

/**
 * External threat detection of Copilot Studio
 * (https://learn.microsoft.com/microsoft-copilot-studio/external-security-webhooks-interface-developers). An execution is a tool
 * step at the stage pre. Errors block: Copilot Studio can be set to run the tool after one.
 */
export function createCopilotStudio(
  evaluations: AdapterEvaluations,
): Pick<HandlersOf<typeof AdapterService>, 'analyzeToolExecution' | 'validateThreatDetection'> {
  return {
    analyzeToolExecution: webhook(evaluations, 'copilot-studio', {
      input: analysis,
      names: COPILOT_NAMES,
      step: ({ body }, call) => stepOf(membersOf(body), call.header('x-ms-correlation-id')),
      reply: replyOf,
      failed: (message, { status }) => blocked(reasonOf(status), message, {}),
      rejected: plainError,
    }),
    validateThreatDetection: {
      ...handler(z.object({ api_version: nullable(text()) }), () => {
        evaluations.demand('copilot-studio');
        return { reply: { isSuccessful: true, status: 'OK' } };
      }),
      errorForm: {
        type: JSON_TYPE,
        show: (error) => ({ status: plainStatus(error), body: stringifyJson(plainError(error)) }),
      },
    },
  };
}

function stepOf(message: Members, correlationId: string | undefined): WebhookStep {
  const tool = message.object('toolDefinition');
  const conversation = message.object('conversationMetadata');
  return {
    stage: 'pre',
    type: 'tool',
    name: tool.optionalText('name') ?? tool.text('id'),
    input: message.optionalObject('inputValues')?.all ?? {},
    context: given({
      plannerContext: message.optionalObject('plannerContext')?.all,
      toolDefinition: tool.all,
      conversationMetadata: conversation.all,
    }),
    protocol: {
      agent: conversation.optionalObject('agent')?.optionalText('id'),
      session: conversation.optionalText('conversationId'),
      step_id: correlationId,
    },
    accepts: ['steer', 'ask'],
    timeoutMs: TIMEOUT_MS,
  };
}

function reasonOf(status: number): number {
  if (status === 429) return LIMIT_REACHED;
  return status >= 500 ? REASON_CODES.error : REASON_CODES.refused;
}

function replyOf(outcome: Settled): JsonObject {
  if (outcome.kind === 'allow')
    return {
      blockAction: false,
      ...(outcome.unchecked ? { diagnostics: stringifyJson({ unchecked: true }) } : {}),
    };
  if (outcome.kind === 'modify')
    return blocked(
      REASON_CODES.modify,
      `A policy changes the input of "${outcome.step.name}".`,
      trailOfSettled(outcome),
    );
  const code = statusOf(outcome) === 429 ? LIMIT_REACHED : REASON_CODES[outcome.kind];
  return blocked(code, outcome.message, trailOfSettled(outcome));
}

function blocked(reasonCode: number, reason: string, diagnostics: JsonObject): JsonObject {
  return { blockAction: true, reasonCode, reason, diagnostics: stringifyJson(diagnostics) };
}

function plainStatus({ status }: ShownError): number {
  return status === 422 ? 400 : status;
}

function plainError(error: ShownError): JsonObject {
  const { message, code, requestId } = error;
  const httpStatus = plainStatus(error);
  const diagnostics = stringifyJson({ code, request_id: requestId });
  return { errorCode: httpStatus, message, httpStatus, diagnostics };
}
