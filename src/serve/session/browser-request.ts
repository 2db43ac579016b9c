import type { FastifyReply, FastifyRequest } from 'fastify';
import { schemeOf } from '../auth/request-origin.js';

/** Reason for refusing a login over plain http from another machine. */
export const NEEDS_HTTPS =
  'over plain http, logins are taken at localhost or with SERVICE_DEBUG=true only; use https';

/** Whether browsers treat the name of the service as secure even over plain http. */
export function isLocal(request: FastifyRequest): boolean {
  return /^(?:localhost|127\.0\.0\.1)(?::\d+)?$/i.test(request.host);
}

/** Whether a login must be refused: its cookie could be read on its way. */
export function isUnsafe(request: FastifyRequest, debug: boolean): boolean {
  return schemeOf(request) === 'http' && !isLocal(request) && !debug;
}

/** Whether a cookie is for https only: always if set over TLS, else unless plain http must work too. */
export function isForHttpsOnly(request: FastifyRequest, debug: boolean): boolean {
  return request.protocol === 'https' || (!debug && !isLocal(request));
}

/** The answer applies to one browser at one time. */
export function notStored(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store');
}
