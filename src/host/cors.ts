import { cors as connectCors } from '@connectrpc/connect';
import fastifyCors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.js';
import { REVISION_HEADER } from './connect/rpc-call.js';
import { WARNING_HEADER } from './warning-header.js';

/** How long browsers may remember the answer to a preflight, in seconds. */
const PREFLIGHT_MAX_AGE_SECONDS = 600;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

const exposed = (ownHeaders: readonly string[]): string[] => [
  ...connectCors.exposedHeaders,
  REVISION_HEADER,
  WARNING_HEADER,
  'X-Request-Id',
  ...ownHeaders,
];

/** Headers that `registerCors` gives the reply to a request without an origin, names and values by turns. */
export function corsHeadersWithoutOrigin(cors: Config['cors'], ownHeaders: readonly string[]): string[] {
  const [name, value] =
    cors.origins === '*'
      ? ['access-control-allow-origin', '*']
      : ['access-control-allow-credentials', 'true'];
  return ['vary', 'Origin', name, value, 'access-control-expose-headers', exposed(ownHeaders).join(', ')];
}

/**
 * CORS for the JSON routes and for gRPC-Web and Connect. With `*` any origin may call, without credentials;
 * credentials are for listed origins only.
 */
export async function registerCors(
  app: FastifyInstance,
  cors: Config['cors'],
  ownHeaders: readonly string[],
): Promise<void> {
  const listed = cors.origins === '*' ? null : new Set(cors.origins);
  app.addHook('onRequest', (request, reply, done) => {
    // Caches between us and the browser must not mix up answers to different origins.
    reply.header('vary', 'Origin');
    if (request.method !== 'OPTIONS') return done();
    const { origin, 'access-control-request-method': asked } = request.headers;
    // The plugin takes every OPTIONS request for a preflight.
    if (origin === undefined || asked === undefined) return void reply.callNotFound();
    if (listed === null || listed.has(origin)) return done();
    reply.code(400).type('text/plain').send('This origin may not call the service.');
  });
  await app.register(fastifyCors, {
    origin: listed === null ? '*' : [...listed],
    credentials: listed !== null,
    methods: cors.methods === '*' ? METHODS : [...cors.methods],
    // Left out, the requested headers are echoed.
    ...(cors.headers === '*' ? {} : { allowedHeaders: [...cors.headers] }),
    exposedHeaders: exposed(ownHeaders),
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
    optionsSuccessStatus: 200,
    strictPreflight: false,
    hideOptionsRoute: true,
  });
}
