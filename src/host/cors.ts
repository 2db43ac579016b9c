import { cors as connectCors } from '@connectrpc/connect';
import fastifyCors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.js';
import { REVISION_HEADER } from './connect/rpc-call.js';

/** How long browsers may remember the answer to a preflight, in seconds. */
const PREFLIGHT_MAX_AGE_SECONDS = 600;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

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
  if (listed !== null) refuseForeignPreflights(app, listed);
  await app.register(fastifyCors, {
    origin: listed === null ? '*' : [...listed],
    credentials: listed !== null,
    methods: cors.methods === '*' ? METHODS : [...cors.methods],
    // Left out, the requested headers are echoed.
    ...(cors.headers === '*' ? {} : { allowedHeaders: [...cors.headers] }),
    exposedHeaders: [...connectCors.exposedHeaders, REVISION_HEADER, 'X-Request-Id', ...ownHeaders],
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
    optionsSuccessStatus: 200,
    strictPreflight: false,
    hideOptionsRoute: true,
  });
  app.addHook('onRequest', (_request, reply, done) => {
    // Caches between us and the browser must not mix up answers to different origins.
    if (reply.getHeader('vary') === undefined) reply.header('vary', 'Origin');
    done();
  });
}

function refuseForeignPreflights(app: FastifyInstance, listed: ReadonlySet<string>): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers;
    const isPreflight =
      request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
    if (!isPreflight || origin === undefined || listed.has(origin)) return done();
    reply.code(400).type('text/plain').header('vary', 'Origin').send('This origin may not call the service.');
  });
}
