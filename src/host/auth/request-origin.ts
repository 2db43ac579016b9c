import type { FastifyRequest } from 'fastify';
import type { Config } from '../../config.js';

/** Scheme the client used, as far as it can be known: a proxy in front says so, else it is that of the connection. */
export function schemeOf(request: FastifyRequest): string {
  const forwarded = request.headers['x-forwarded-proto'];
  const value = Array.isArray(forwarded) ? forwarded[0] : forwarded;
  return value === undefined || value === '' ? request.protocol : value;
}

/** Tells whether a page of a foreign origin is behind a request. */
export type ForeignOriginCheck = (request: FastifyRequest) => boolean;

/**
 * A request comes from a foreign origin when its `Origin` is neither that of this service nor listed. Browsers leave
 * `Origin` out of some requests; then `Sec-Fetch-Site` tells. Callers that are no browsers send neither.
 */
export function foreignOriginCheck(origins: Config['cors']['origins']): ForeignOriginCheck {
  const listed = new Set(origins === '*' ? [] : origins);
  return (request) => {
    const { origin } = request.headers;
    if (origin !== undefined) return !listed.has(origin) && !isSameOrigin(origin, request);
    const site = request.headers['sec-fetch-site'];
    return site === 'cross-site' || site === 'same-site';
  };
}

function isSameOrigin(origin: string, request: FastifyRequest): boolean {
  const from = parsed(origin);
  if (from === undefined || from.origin !== origin) return false;
  // Without a word from a proxy in front of us https looks like http, so a page over https may be our own.
  if (from.protocol !== 'https:' && from.protocol !== `${schemeOf(request)}:`) return false;
  // Reading the host as part of an address drops the default port, which only one of the two may state.
  return parsed(`${from.protocol}//${request.host}`)?.host === from.host;
}

function parsed(url: string): URL | undefined {
  return URL.canParse(url) ? new URL(url) : undefined;
}
