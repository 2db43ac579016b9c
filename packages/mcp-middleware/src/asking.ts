import { randomUUID } from 'node:crypto';
import type { Approval } from '@control-enforcement/client/frameworks';

/**
 * What a client is asked while a person decides about its call: to open a page, or whether to go on. Its answer decides nothing:
 * the service does.
 */
export type Question =
  | { mode: 'url'; message: string; url: string; elicitationId: string }
  | {
      mode: 'form';
      message: string;
      requestedSchema: {
        type: 'object';
        properties: { continue: { type: 'boolean'; title: string } };
        required: string[];
      };
    };

/** A result of MCP 2026-07-28 with which the client asks its user, and repeats the call. */
export interface InputRequired {
  [member: string]: unknown;
  resultType: 'input_required';
  inputRequests: { approval: { method: 'elicitation/create'; params: Question } };
}

/** The question about an approval: a page where it is decided, if there is one, or whether to go on. */
export function questionOf(
  name: string,
  approval: Approval,
  approvalUrl: ((approval: Approval) => string) | undefined,
): Question {
  const message =
    `A person must approve the call of "${name}" (approval ${approval.id}). ` +
    'The tool runs only once it is approved, whatever is answered here.';
  if (approvalUrl !== undefined)
    return { mode: 'url', message, url: approvalUrl(approval), elicitationId: randomUUID() };
  return {
    mode: 'form',
    message,
    requestedSchema: {
      type: 'object',
      properties: { continue: { type: 'boolean', title: 'It is decided: go on' } },
      required: ['continue'],
    },
  };
}

export function inputRequired(question: Question): InputRequired {
  return {
    resultType: 'input_required',
    inputRequests: { approval: { method: 'elicitation/create', params: question } },
  };
}

/** What the client answers in a repeated call; undefined in the first one. */
export function answerOf(context: unknown): 'accept' | 'decline' | undefined {
  const answer = member(member(member(context, 'mcpReq'), 'inputResponses'), 'approval');
  if (answer === undefined) return undefined;
  return member(answer, 'action') === 'accept' ? 'accept' : 'decline';
}

/** Whether the client of a request can be asked. Clients before MCP 2026-07-28 say so elsewhere: the SDK refuses for them. */
export function canAsk(context: unknown, { mode }: Question): boolean {
  const envelope = member(member(context, 'mcpReq'), 'envelope');
  if (envelope === undefined) return true;
  const elicitation = member(member(envelope, 'io.modelcontextprotocol/clientCapabilities'), 'elicitation');
  return mode === 'url' ? member(elicitation, 'url') !== undefined : elicitation !== undefined;
}

/** A member of an object; undefined if there is none. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
