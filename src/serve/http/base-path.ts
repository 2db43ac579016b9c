import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../../contract/config/config.js';
import { BASE_PATH } from '../../contract/config/listener-settings.js';
import { type TrustedProxies, trustedProxies } from '../../contract/config/trusted-proxies.js';

/** Longest `X-Forwarded-Prefix` that is read. */
const MAX_PREFIX_LENGTH = 200;

declare module 'fastify' {
  interface FastifyRequest {
    /** The path below which the browser sees the service, for example `/guard`; empty at the root. */
    basePath: string;
  }
}

/**
 * Tells each request its base path: the configured one, or the one in `X-Forwarded-Prefix` if a trusted proxy has sent it.
 * Several proxies that each take a part away name their parts one after the other, the outermost first.
 */
export function tellBasePath(
  app: FastifyInstance,
  { basePath, trustedProxies: trusted }: Pick<Config, 'basePath' | 'trustedProxies'>,
): void {
  app.decorateRequest('basePath', basePath ?? '');
  if (basePath !== null || trusted.length === 0) return;
  const proxies = trustedProxies(trusted);
  app.addHook('onRequest', (request, _reply, done) => {
    const forwarded = request.headers['x-forwarded-prefix'];
    if (forwarded !== undefined && isFrom(proxies, request)) request.basePath = prefixIn(String(forwarded));
    done();
  });
}

function isFrom(proxies: TrustedProxies, { raw }: FastifyRequest): boolean {
  const { remoteAddress } = raw.socket;
  return remoteAddress !== undefined && proxies.trusts(remoteAddress);
}

/** Empty if it is not a path that may be written into pages, cookies and redirects. */
function prefixIn(header: string): string {
  const parts = header.split(',').map((part) => part.trim().replace(/\/$/, ''));
  const prefix = parts.join('');
  return prefix.length <= MAX_PREFIX_LENGTH && BASE_PATH.test(prefix) ? prefix : '';
}

/** A path without its base path, for proxies that pass it on; every other one as it is. */
export function belowBase(path: string, basePath: string): string {
  if (!path.startsWith(basePath)) return path;
  const rest = path.slice(basePath.length);
  return rest.startsWith('/') ? rest : rest === '' || rest.startsWith('?') ? `/${rest}` : path;
}
