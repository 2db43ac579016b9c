import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.js';

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
    if (origin === undefined) return comesFromAnotherSite(request);
    return !listed.has(origin) && !isSameOrigin(origin, request);
  };
}

/** Host names of pages on the machine of the browser, as they stand in an origin. */
const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Tells whether a page that must not change anything while no key is demanded is behind a request. A page may when it is
 * on the machine of the browser (localhost, 127.0.0.1 or [::1], any port), when its origin is listed, and when it is
 * served by the service itself under a name that is certainly the service's. Any other name may have been given the
 * address of this service by the owner of the page (DNS rebinding), so that the page seems to be the service's own.
 *
 * Browsers state the origin with every request that is not a GET or a HEAD, whatever its content type, also with those
 * that need no preflight. Callers that are no browsers state none.
 */
export function keylessPageCheck({ cors, host }: Pick<Config, 'cors' | 'host'>): ForeignOriginCheck {
  const origins = cors.origins === '*' ? [] : cors.origins;
  const listed = new Set(origins);
  const ownNames = new Set([...LOOPBACK_NAMES, host.toLowerCase()]);
  for (const origin of origins) ownNames.add(parsed(origin)?.hostname ?? '');
  ownNames.delete('');
  const isOwnName = (name: string) => ownNames.has(name) || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
  return (request) => {
    const { origin } = request.headers;
    if (origin === undefined) return comesFromAnotherSite(request);
    if (listed.has(origin)) return false;
    const page = parsed(origin);
    if (page === undefined || page.origin !== origin || !/^https?:$/.test(page.protocol)) return true;
    if (LOOPBACK_NAMES.has(page.hostname)) return false;
    return !(isSameOrigin(origin, request) && isOwnName(page.hostname));
  };
}

/** Of a request without an origin. */
function comesFromAnotherSite(request: FastifyRequest): boolean {
  const site = request.headers['sec-fetch-site'];
  return site === 'cross-site' || site === 'same-site';
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
