import type { JsonObject } from '../../../exact-json/src/index.js';
import { refusedMember } from './members.js';

/** Names of headers whose values are, or may be, credentials. */
const CREDENTIALS = /authoriz|authentic|cookie|token|secret|passw|credential|signature|api-?key|client-cert/;

/** Headers that differ from request to request, or are about the connection: an approval must not be bound to them. */
const OF_ONE_REQUEST =
  /^(?::|x-envoy-|x-forwarded-|x-b3-|sec-|x-amzn-)|^(?:b3|connection|content-length|date|forwarded|idempotency-key|mcp-session-id|te|traceparent|tracestate|transfer-encoding|x-real-ip|x-request-id|x-session-id|x-step-id|x-correlation-id)$/;

/** Headers of a request that another service checks here, by name in lower case. Those with credentials are left out. */
export function checkedHeaders(entries: Iterable<readonly [name: string, value: string]>): CheckedHeaders {
  const headers = new Map<string, string>();
  for (const [written, value] of entries) {
    const name = written.toLowerCase();
    if (CREDENTIALS.test(name)) continue;
    const known = headers.get(name);
    headers.set(name, known === undefined ? value : `${known},${value}`);
  }
  return headers;
}

export type CheckedHeaders = ReadonlyMap<string, string>;

/** Those that say the same when the request is repeated. */
export function lastingHeaders(headers: CheckedHeaders): JsonObject {
  return Object.fromEntries([...headers].filter(([name]) => !OF_ONE_REQUEST.test(name)));
}

/** Throws a VALIDATION_ERROR for a content type that names another character set than that of JSON: others would read other texts. */
export function refuseCharset(contentType: string | undefined, field: string): void {
  const named = [...(contentType ?? '').matchAll(/charset\s*=\s*["']?([^;,"']*)/gi)];
  if (named.every(([, charset = '']) => /^(?:utf-?8|us-ascii)$/i.test(charset.trim()))) return;
  throw refusedMember(field, 'names another character set than UTF-8, so the body cannot be checked');
}
