import type { IncomingHttpHeaders } from 'node:http';
import { cors as connectCors } from '@connectrpc/connect';
import fastifyCors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../../contract/config/config.js';
import { API_KEY_HEADER } from '../auth/key-reader.js';
import type { ForeignOriginCheck } from '../auth/request-origin.js';
import {
  ERROR_CODE_HEADER,
  ETAG_HEADER,
  NEXT_PAGE_HEADER,
  RATE_LIMIT_HEADER,
  RATE_LIMIT_POLICY_HEADER,
  RETRY_AFTER_HEADER,
  REVISION_HEADER,
  STALENESS_HEADER,
  WARNING_HEADER,
} from '../wire/reply-headers.js';

/** How long browsers may cache the answer to a preflight, in seconds. */
const PREFLIGHT_MAX_AGE_SECONDS = 600;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const READ_METHODS = ['GET', 'HEAD'];

const exposed = (ownHeaders: readonly string[]): string[] => [
  ...connectCors.exposedHeaders,
  REVISION_HEADER,
  STALENESS_HEADER,
  WARNING_HEADER,
  ERROR_CODE_HEADER,
  ETAG_HEADER,
  NEXT_PAGE_HEADER,
  RATE_LIMIT_HEADER,
  RATE_LIMIT_POLICY_HEADER,
  RETRY_AFTER_HEADER,
  'X-Request-Id',
  ...ownHeaders,
];

/** The headers that `registerCors` adds to a reply to a request of a page that may call, or of no page. */
export type CorsHeaders = (origin: string | undefined) => Readonly<Record<string, string>>;

/** `ownHeaders` are sent with every reply. */
export function createCorsHeaders(cors: Config['cors'], ownHeaders: readonly string[]): CorsHeaders {
  const exposes = { 'access-control-expose-headers': exposed(ownHeaders).join(', ') };
  if (cors.origins === '*') {
    const headers = { vary: 'Origin', 'access-control-allow-origin': '*', ...exposes };
    return () => headers;
  }
  const listed = new Set(cors.origins);
  const withoutOrigin = { vary: 'Origin', 'access-control-allow-credentials': 'true', ...exposes };
  return (origin) => {
    if (origin === undefined || !listed.has(origin)) return withoutOrigin;
    return {
      vary: 'Origin',
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      ...exposes,
    };
  };
}

interface CorsOptions {
  readonly cors: Config['cors'];
  /** Headers sent with every reply. */
  readonly ownHeaders: readonly string[];
  /** Headers that may carry credentials: pages may send them whatever else they may send. */
  readonly credentialHeaders?: readonly string[];
  /** If no key is required: whether a request was sent by a page that must not change anything. */
  readonly isForeignPage: ForeignOriginCheck | null;
}

/**
 * CORS for the JSON routes, gRPC-Web and Connect. With `*` any origin may call, without credentials. If no
 * key is required, any origin may read, but replies to requests that could change something are visible only
 * to pages that may make changes. Credentials are for listed origins only.
 */
export async function registerCors(app: FastifyInstance, options: CorsOptions): Promise<void> {
  const { cors, ownHeaders, credentialHeaders = [], isForeignPage } = options;
  const listed = cors.origins === '*' ? null : new Set(cors.origins);
  const mayOnlyRead = (request: FastifyRequest) => isForeignPage?.(request) === true;
  app.addHook('onRequest', (request, reply, done) => {
    // Shared caches must not mix up answers to different origins.
    reply.header('vary', 'Origin');
    if (request.method !== 'OPTIONS') return done();
    const { origin, 'access-control-request-method': asked } = request.headers;
    // The plugin treats every OPTIONS request as a preflight.
    if (origin === undefined || asked === undefined) return void reply.callNotFound();
    const isTaken = listed === null ? isRead(request) || !mayOnlyRead(request) : listed.has(origin);
    if (isTaken) return done();
    reply.code(400).type('text/plain').send('This origin may not call the service.');
  });
  const full: FastifyCorsOptions = {
    origin: listed === null ? '*' : [...listed],
    credentials: listed !== null,
    methods: cors.methods === '*' ? METHODS : [...cors.methods],
    // If omitted, the requested headers are echoed.
    ...(cors.headers === '*'
      ? {}
      : { allowedHeaders: [...new Set([...cors.headers, ...credentialHeaders])] }),
    exposedHeaders: exposed(ownHeaders),
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
    optionsSuccessStatus: 200,
    strictPreflight: false,
  };
  const reading: FastifyCorsOptions = { ...full, methods: READ_METHODS };
  const hidden: FastifyCorsOptions = { origin: false };
  await app.register(fastifyCors, {
    hideOptionsRoute: true,
    delegator(request, tell) {
      if (listed !== null || !mayOnlyRead(request)) tell(null, full);
      else tell(null, isRead(request) ? reading : hidden);
    },
  });
}

/** Whether a request, or for a preflight the request it announces, only reads. RPCs of foreign pages are refused. */
function isRead({ method, headers }: FastifyRequest): boolean {
  return READ_METHODS.includes(
    method === 'OPTIONS' ? (headers['access-control-request-method'] ?? '') : method,
  );
}

/**
 * Whether a request may be served with nothing known of it but its key. Only browsers send the headers of pages: then
 * the page must have sent a key of its own, because sessions, certificates, and what pages may do without a key are
 * checked elsewhere.
 */
export function isByKeyAlone(headers: IncomingHttpHeaders, hasKeys: boolean): boolean {
  if (headers.cookie !== undefined) return false;
  if (headers.origin === undefined && headers['sec-fetch-site'] === undefined) return true;
  return hasKeys && (headers[API_KEY_HEADER] ?? '') !== '';
}
