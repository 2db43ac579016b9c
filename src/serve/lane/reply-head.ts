import type { CorsHeaders } from '../http/cors.js';
import { NO_SNIFFING } from '../http/safe-replies.js';
import type { ReplyFields } from '../wire/reply.js';
import { REQUEST_ID_HEADER, VERSION_HEADER } from '../wire/reply-headers.js';

/** Makes the headers of every reply, of the headers of its request. */
export type ReplyHead = (headers: { readonly origin?: string | undefined }, requestId: string) => ReplyFields;

/** In lower case, as sent by Fastify. */
const VERSION = VERSION_HEADER.toLowerCase();
const [SNIFFING, NO_SNIFF] = NO_SNIFFING;

/** Of plain gRPC, which browsers do not use. */
export function createGrpcHead(version: string, further: readonly string[] = []): ReplyHead {
  const same = sameVersion(version, further);
  if (same !== null)
    return (_headers, requestId) => ({ [VERSION]: version, ...same, [REQUEST_ID_HEADER]: requestId });
  return (_headers, requestId) => ({ [VERSION]: version, [REQUEST_ID_HEADER]: requestId });
}

/** Of the protocols that pages use as well. */
export function createWebHead(
  version: string,
  corsHeaders: CorsHeaders,
  further: readonly string[] = [],
): ReplyHead {
  const same = sameVersion(version, further);
  return ({ origin }, requestId) => ({
    [VERSION]: version,
    ...same,
    [REQUEST_ID_HEADER]: requestId,
    [SNIFFING]: NO_SNIFF,
    ...corsHeaders(origin),
  });
}

/** Further headers with the version; null without any, for speed. */
function sameVersion(version: string, further: readonly string[]): ReplyFields | null {
  return further.length === 0 ? null : Object.fromEntries(further.map((name) => [name, version]));
}
