import { EndpointError } from './errors.js';

/** Largest reply, in bytes; a score takes some hundred. */
const MAX_REPLY_BYTES = 64 * 1024;

/** Where and with which key. */
export interface Target {
  readonly url: string;
  readonly apiKey: string;
}

/**
 * One POST. Returns the body of a reply with a status of success, as text. Rejects with an EndpointError, or with the
 * reason of the signal.
 */
export async function post(target: Target, body: string, signal: AbortSignal): Promise<string> {
  const response = await send(target, body, signal);
  if (response.status >= 200 && response.status < 300) return readBody(response, signal);
  // The connection can be used again only when nothing of the reply is left in it.
  await response.body?.cancel().catch(() => undefined);
  throw refusal(response);
}

async function send({ url, apiKey }: Target, body: string, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        accept: 'application/json',
      },
      body,
      // A redirect would send the key and the data to another host.
      redirect: 'manual',
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw new EndpointError('ConnectionError', `the model cannot be reached: ${causeOf(error)}`, {
      retryable: true,
      outOfOrder: true,
    });
  }
}

function refusal(response: Response): EndpointError {
  const { status } = response;
  if (status >= 300 && status < 400) {
    return new EndpointError('HttpError', `the model answered with a redirect (HTTP ${status})`);
  }
  const busy = status === 429 || status === 408;
  const broken = status >= 500;
  return new EndpointError('HttpError', `the model answered with HTTP ${status}`, {
    retryable: busy || broken,
    retryAfterMs: retryAfter(response.headers.get('retry-after')),
    outOfOrder: broken,
  });
}

/** Retry-After in seconds or as a date (RFC 9110, 10.2.3), in milliseconds from now; 0 when it says nothing. */
export function retryAfter(value: string | null): number {
  if (value === null) return 0;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000;
  const time = Date.parse(value);
  return Number.isNaN(time) ? 0 : Math.max(0, time - Date.now());
}

async function readBody(response: Response, signal: AbortSignal): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      // Leaving the loop cancels the rest.
      if (size > MAX_REPLY_BYTES) break;
      chunks.push(chunk);
    }
  } catch (error) {
    signal.throwIfAborted();
    const message = `the model's reply broke off: ${causeOf(error)}`;
    throw new EndpointError('ConnectionError', message, { retryable: true, outOfOrder: true });
  }
  if (size > MAX_REPLY_BYTES) {
    const message = `the model's reply exceeds ${MAX_REPLY_BYTES} bytes`;
    throw new EndpointError('InvalidReply', message, { outOfOrder: true });
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** `fetch` says only that it failed; its cause says why. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason';
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return (cause as NodeJS.ErrnoException).code ?? cause.message;
}
