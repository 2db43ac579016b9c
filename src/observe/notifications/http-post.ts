import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { retryAfterMs } from '../../contract/call/retry-after.js';
import { type AddressPolicy, ForbiddenAddress, refusalOf } from './address-policy.js';
import { type AttemptResult, failed } from './attempt-result.js';

/** Bytes of a body that are read, and thrown away, so that the destination can end its answer. */
const MAX_BODY_BYTES = 65_536;

export interface Post {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly policy: AddressPolicy;
  /** Ends the request and the reading of its answer. */
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Sends JSON to a URL, on a connection of its own. The status decides: redirects are not followed, and what follows the
 * headers does not matter. Rejects when there is no answer.
 */
export async function postJson(url: string, post: Post): Promise<AttemptResult> {
  const { protocol, hostname } = new URL(url);
  // Sockets do not resolve addresses, so these are not passed to `lookup`.
  if (!post.policy.allows(hostname)) throw new ForbiddenAddress(refusalOf(hostname));
  const body = Buffer.from(post.body);
  const send = protocol === 'https:' ? httpsRequest : httpRequest;
  const options = {
    method: 'POST',
    agent: false,
    lookup: post.policy.lookup,
    signal: post.signal,
    headers: {
      ...post.headers,
      'content-type': 'application/json',
      'content-length': body.length,
      'user-agent': 'control-enforcement-service',
      connection: 'close',
    },
  };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    send(url, options).on('response', resolve).on('error', reject).end(body);
  });
  return resultOf(drained(response), post.now());
}

/** Reads what follows the headers in the background, within bounds. */
function drained(response: IncomingMessage): IncomingMessage {
  let bytes = 0;
  response.on('error', () => {});
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) response.destroy();
  });
  return response;
}

function resultOf({ statusCode = 0, headers }: IncomingMessage, nowMs: number): AttemptResult {
  if (statusCode >= 200 && statusCode < 300) {
    return { delivered: true, status: statusCode, error: null, retryAfterMs: null };
  }
  const why = statusCode >= 300 && statusCode < 400 ? ', and redirects are not followed' : '';
  return failed(
    `it answered with the status ${statusCode}${why}`,
    statusCode,
    retryAfterMs(headers['retry-after'], nowMs),
  );
}
