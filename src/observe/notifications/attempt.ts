import { timeLimited } from '../../contract/call/time-limited.js';
import type { AddressPolicy } from './address-policy.js';
import { type AttemptResult, failed } from './attempt-result.js';
import type { Message, Target } from './destination.js';
import { slackBody } from './formats.js';
import { postJson } from './http-post.js';
import type { Mailer } from './mailer.js';
import { signedHeaders } from './signing.js';

/** Longest time of an attempt, in milliseconds. */
export const ATTEMPT_LIMIT_MS = 15_000;

/** Sends one message once. Never rejects. */
export type Attempt = (target: Target, message: Message, signal?: AbortSignal) => Promise<AttemptResult>;

export interface AttemptOptions {
  readonly policy: AddressPolicy;
  /** Null without an SMTP server. */
  readonly mailer: Mailer | null;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** See `ATTEMPT_LIMIT_MS`. */
  readonly limitMs?: number;
}

export function createAttempt({ policy, mailer, now, limitMs = ATTEMPT_LIMIT_MS }: AttemptOptions): Attempt {
  async function send(target: Target, message: Message, signal: AbortSignal): Promise<AttemptResult> {
    if (target.type === 'email') {
      if (mailer === null) return failed('SERVICE_SMTP_HOST is not set');
      return mailer.send(target.recipients, message, signal);
    }
    if (target.url === null || (target.type === 'webhook' && target.secrets.length === 0)) {
      return failed('its URL or secret was stored with another key: SERVICE_APPROVALS_KEY_FILE');
    }
    const body = target.type === 'slack' ? slackBody(message) : message.payload;
    const headers = signedHeaders({ id: message.messageId, timeMs: now(), body }, target.secrets);
    // Slack knows no signatures.
    if (target.secrets.length === 0) delete headers['webhook-signature'];
    return postJson(target.url, { headers, body, policy, now, signal });
  }

  return async (target, message, signal) => {
    const limit = AbortSignal.timeout(limitMs);
    const ended = signal === undefined ? limit : AbortSignal.any([limit, signal]);
    try {
      return await timeLimited(send(target, message, ended), limitMs + 500, () => noAnswer(limitMs));
    } catch (error) {
      if (limit.aborted) return noAnswer(limitMs);
      return failed(reasonOf(error));
    }
  };
}

function noAnswer(limitMs: number): AttemptResult {
  return failed(`no answer within ${limitMs / 1000} seconds`);
}

/** Codes of Node.js are enough, and tell nothing of what was received. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'FORBIDDEN_ADDRESS') return message;
  return code === undefined ? 'the connection failed' : `the connection failed (${code})`;
}
