import { z } from 'zod';
import { parseJson } from '../../../packages/exact-json/src/index.js';
import type { TargetName } from '../../contract/call/namespace.js';
import type { UpstreamSettings } from '../../contract/config/auth-modes.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import { MAX_TARGET_LENGTH } from '../../contract/input/target.js';
import { MEDIA_TYPES } from '../wire/media-types.js';
import { malformed, refusal, unavailable, undecidedStatus } from './upstream-errors.js';

/** What a service is asked about a call. */
export interface UpstreamQuestion {
  readonly operation: string;
  /** Null if the call concerns none, or if it is not known yet. */
  readonly target: TargetName | null;
  /** The headers of the call with credentials. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What a service permits. */
export interface UpstreamGrant {
  readonly namespace: string;
  readonly isAdmin: boolean;
  readonly callerId: string | null;
  /** The only target; null for any. */
  readonly target: TargetName | null;
  /** Names of operations or scopes; empty for all that the caller has otherwise. */
  readonly scopes: readonly string[];
  /** Milliseconds since 1970; null if it does not end by itself. */
  readonly expiresAtMs: number | null;
}

/** Asks a service about calls. */
export interface UpstreamClient {
  /**
   * Rejects with AUTH_INVALID_KEY or AUTH_INSUFFICIENT_PRIVILEGES if the call is refused, and otherwise with
   * AUTH_MISCONFIGURED or AUTH_UPSTREAM_REJECTED: then nothing is decided.
   */
  ask(question: UpstreamQuestion): Promise<UpstreamGrant>;
}

const SERVICE_TOKEN_HEADER = 'x-service-service-token';
/** Largest answer, in bytes. */
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_NAME_LENGTH = 255;
/** No control characters and no line breaks: names appear in logs. */
const NAME = /^[^\p{C}\p{Zl}\p{Zp}]+$/u;

const name = () => z.string().max(MAX_NAME_LENGTH).regex(NAME);
const target = () => z.string().min(1).max(MAX_TARGET_LENGTH).nullish();
/** Members that are not known could restrict the permission, so they are refused. */
const ANSWER = z.strictObject({
  namespace_key: name(),
  is_admin: z.boolean().nullish(),
  caller_id: name().nullish(),
  target_type: target(),
  target_id: target(),
  scopes: z.array(z.string()).nullish(),
  expires_at: z.iso.datetime({ offset: true }).nullish(),
});

export function createUpstreamClient(
  settings: Pick<UpstreamSettings, 'url' | 'token' | 'timeoutMs'>,
): UpstreamClient {
  const { url, token, timeoutMs } = settings;

  async function post({ operation, target: about, headers }: UpstreamQuestion): Promise<Response> {
    const context = about && { target_type: about.type, target_id: about.id };
    return fetch(url, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': MEDIA_TYPES.json,
        accept: MEDIA_TYPES.json,
        ...(token === null ? {} : { [SERVICE_TOKEN_HEADER]: token }),
      },
      body: JSON.stringify(context === null ? { operation } : { operation, context }),
      // Credentials are for this service only.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
  }

  return {
    async ask(question) {
      let reply: Response;
      let bytes: Buffer | undefined;
      try {
        reply = await post(question);
        bytes = await read(reply);
      } catch (error) {
        const isLate = error instanceof Error && error.name === 'TimeoutError';
        throw unavailable(
          isLate ? `did not answer within ${timeoutMs / 1000} seconds` : 'cannot be reached',
          error,
        );
      }
      if (reply.status !== 200)
        throw refusal(reply.status) ?? undecidedStatus(reply.status, retryAfterOf(reply));
      if (bytes === undefined) throw malformed(`has more than ${MAX_ANSWER_BYTES} bytes`);
      return grantOf(bytes);
    },
  };
}

/** The body of a reply with the status 200; undefined if it is too large. Others are not read. */
async function read(reply: Response): Promise<Buffer | undefined> {
  if (reply.status !== 200 || reply.body === null) {
    await reply.body?.cancel();
    return Buffer.alloc(0);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of reply.body) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function retryAfterOf(reply: Response): number | undefined {
  const seconds = Number(reply.headers.get('retry-after') ?? Number.NaN);
  return Number.isInteger(seconds) && seconds > 0 && seconds <= 3_600 ? seconds : undefined;
}

function grantOf(bytes: Buffer): UpstreamGrant {
  const read = ANSWER.safeParse(parsed(bytes));
  if (!read.success) {
    const [issue] = read.error.issues;
    const place = issue?.code === 'unrecognized_keys' ? issue.keys.join(', ') : issue?.path.join('.');
    throw malformed(
      `has no valid member ${place === undefined || place === '' ? 'at all' : place}`,
      read.error,
    );
  }
  const { namespace_key, is_admin, caller_id, target_type, target_id, scopes, expires_at } = read.data;
  if ((target_type == null) !== (target_id == null))
    throw malformed('has only one of target_type and target_id');
  return {
    namespace: namespace_key,
    isAdmin: is_admin === true,
    callerId: caller_id ?? null,
    target: target_type == null || target_id == null ? null : { type: target_type, id: target_id },
    scopes: scopes ?? [],
    expiresAtMs: expires_at == null ? null : Date.parse(expires_at),
  };
}

function parsed(bytes: Buffer): unknown {
  try {
    return parseJson(bytes, { duplicates: 'refuse' });
  } catch (error) {
    throw malformed('is not JSON', error instanceof ServiceError ? undefined : error);
  }
}
