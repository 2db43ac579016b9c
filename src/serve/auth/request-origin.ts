import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Config } from '../../contract/config/config.js';

/** Scheme the client used, as far as known: as stated by a proxy, else that of the connection. */
export function schemeOf(request: FastifyRequest): string {
  const forwarded = request.headers['x-forwarded-proto'];
  const value = Array.isArray(forwarded) ? forwarded[0] : forwarded;
  return value === undefined || value === '' ? request.protocol : value;
}

/** Whether a request was sent by a page of a foreign origin. */
export type ForeignOriginCheck = (request: FastifyRequest) => boolean;

/**
 * A request comes from a foreign origin if its `Origin` is neither that of this service nor listed. Browsers
 * omit `Origin` from some requests; then `Sec-Fetch-Site` decides. Other clients send neither.
 */
export function foreignOriginCheck(origins: Config['cors']['origins']): ForeignOriginCheck {
  const listed = new Set(origins === '*' ? [] : origins);
  return (request) => {
    const { origin } = request.headers;
    if (origin === undefined) return comesFromAnotherSite(request);
    return !listed.has(origin) && !isSameOrigin(origin, request);
  };
}

/** Host names of pages on the machine of the browser, as written in an origin. */
const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Whether a request was sent by a page that must not change anything while no key is required. Changes are
 * allowed for a page on the machine of the browser (localhost, 127.0.0.1 or [::1], any port), of a listed
 * origin, or served by the service itself under a name that certainly belongs to the service. Any other name
 * may have been pointed at this service by the owner of the page (DNS rebinding), so that the page appears to
 * have the origin of the service.
 *
 * Browsers send the origin with every request other than GET and HEAD, whatever its content type, including
 * those that need no preflight. Other clients send none.
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

/** For a request without an origin. */
function comesFromAnotherSite(request: FastifyRequest): boolean {
  const site = request.headers['sec-fetch-site'];
  return site === 'cross-site' || site === 'same-site';
}

function isSameOrigin(origin: string, request: FastifyRequest): boolean {
  const from = parsed(origin);
  if (from === undefined || from.origin !== origin) return false;
  // Unless a proxy in front states the scheme, https looks like http, so accept a page over https.
  if (from.protocol !== 'https:' && from.protocol !== `${schemeOf(request)}:`) return false;
  // Parsing the host as part of a URL drops the default port, which only one of the two may contain.
  return parsed(`${from.protocol}//${request.host}`)?.host === from.host;
}

function parsed(url: string): URL | undefined {
  return URL.canParse(url) ? new URL(url) : undefined;
}
