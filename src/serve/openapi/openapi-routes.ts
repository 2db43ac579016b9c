import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { createFiles, fileErrors } from '../http/files.js';
import { sendShared } from '../rest/reply-bodies.js';
import { HOST_ROUTES } from '../routing/host-routes.js';
import { MEDIA_TYPES } from '../wire/media-types.js';
import { DOCS_PAGE, DOCS_POLICY, START_SCRIPT } from './docs-page.js';

const { openapi, docs, redoc } = HOST_ROUTES;
/** The script that starts the viewer, and files of its package. */
const [START_FILE = '', ...VIEWER_FILES] = docs.files;

/** A restart may bring another version: caches revalidate soon, using the ETag. */
const CACHE_CONTROL = 'public, max-age=60';
const VIEWER_AGE_MS = 60_000;

/**
 * Serves the document and a page that shows it: public, and from this process only. The document is made for its first
 * reader: making it is a third of the work of a start.
 */
export function registerOpenApi(app: FastifyInstance, document: () => Promise<JsonObject>): void {
  serveText(app, openapi.path, MEDIA_TYPES.jsonInUtf8, async () => JSON.stringify(await document()));
  serveText(app, docs.path, 'text/html; charset=utf-8', () => DOCS_PAGE, {
    'content-security-policy': DOCS_POLICY,
    'referrer-policy': 'no-referrer',
  });
  serveText(app, `${docs.path}/${START_FILE}`, 'text/javascript; charset=utf-8', () => START_SCRIPT);
  app.route({
    method: redoc.methods,
    url: redoc.path,
    // Relative, like all URLs of the page.
    handler: (_request, reply) => reply.code(302).header('location', 'docs').send(),
  });
  const files = createFiles({
    folder: path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')),
    names: new Set(VIEWER_FILES),
    maxAgeMs: VIEWER_AGE_MS,
  });
  for (const file of VIEWER_FILES) {
    app.route({
      method: docs.methods,
      url: `${docs.path}/${file}`,
      errorHandler: fileErrors,
      handler: (request, reply) => files.send(request, secure(reply), file),
    });
  }
}

/** Serves a text that is made once, when it is asked for. */
function serveText(
  app: FastifyInstance,
  url: string,
  type: string,
  make: () => string | Promise<string>,
  headers: Readonly<Record<string, string>> = {},
): void {
  let making: ReturnType<typeof made> | undefined;
  const made = async () => {
    try {
      return tagged(await make());
    } catch (error) {
      // The next reader tries again.
      making = undefined;
      throw error;
    }
  };
  app.route({
    method: docs.methods,
    url,
    handler: async (request, reply) => {
      making ??= made();
      const { text, tag } = await making;
      secure(reply).headers({ ...headers, 'cache-control': CACHE_CONTROL, etag: tag });
      return isKnown(request, tag) ? reply.code(304).send() : sendShared(text, request, reply.type(type));
    },
  });
}

function tagged(text: string): { text: Buffer; tag: string } {
  return { text: Buffer.from(text), tag: `"${createHash('sha256').update(text).digest('base64url')}"` };
}

function isKnown(request: FastifyRequest, tag: string): boolean {
  const known = request.headers['if-none-match'] ?? '';
  return known.split(',').some((one) => one.trim().replace(/^W\//, '') === tag);
}

function secure(reply: FastifyReply): FastifyReply {
  return reply.header('x-content-type-options', 'nosniff');
}
