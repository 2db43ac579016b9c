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
export function createGrpcHead(version: string): ReplyHead {
  return (_headers, requestId) => ({ [VERSION]: version, [REQUEST_ID_HEADER]: requestId });
}

/** Of the protocols that pages use as well. */
export function createWebHead(version: string, corsHeaders: CorsHeaders): ReplyHead {
  return ({ origin }, requestId) => ({
    [VERSION]: version,
    [REQUEST_ID_HEADER]: requestId,
    [SNIFFING]: NO_SNIFF,
    ...corsHeaders(origin),
  });
}
