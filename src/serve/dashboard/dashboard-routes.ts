import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createFiles, fileErrors } from '../http/files.js';
import { HOST_ROUTES } from '../routing/host-routes.js';

/** All paths below it are pages of the dashboard, except those of its files. */
const { path: DASHBOARD_PATH, methods: METHODS } = HOST_ROUTES.dashboard;
/** The files, whose names contain a hash of their content. */
const ASSETS_PATH = `${DASHBOARD_PATH}assets/`;
const ONE_YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const NONCE_BYTES = 18;

/** What the build of the dashboard writes into the page where a fresh nonce belongs. */
const NONCE_PLACE = '__csp_nonce__';
/** What the source of the page has where the prefix of the session routes belongs. */
const API_PREFIX_PLACE = '__api_prefix__';
/** The same for the path of the JSON routes, with their version. */
const API_BASE_PLACE = '__api_base__';
/** The same for the base path of the request. */
const BASE_PATH_PLACE = '__base_path__';
/** How the build refers to files, relative to a page: but pages have paths of any length. */
const BUILT_ASSETS = '"./assets/';

export interface DashboardOptions {
  /** Prefix of the session routes, for example `/api`. */
  readonly apiPrefix: string;
  /** Path of the JSON routes, for example `/api/v1`. */
  readonly apiBase: string;
  /** The folder with its files, see `builtDashboard`. */
  readonly folder: string;
}

/** Serves the dashboard: public, like its session routes; what it shows comes from RPCs, which require a key. */
export async function registerDashboard(
  app: FastifyInstance,
  { apiPrefix, apiBase, folder }: DashboardOptions,
): Promise<void> {
  const source = await readFile(path.join(folder, 'index.html'), 'utf8');
  const template = source
    .replaceAll(BUILT_ASSETS, `"${BASE_PATH_PLACE}${ASSETS_PATH}`)
    .replaceAll(API_PREFIX_PLACE, apiPrefix)
    .replaceAll(API_BASE_PLACE, apiBase);
  const sendPage = ({ basePath }: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    return reply
      .headers({
        'cache-control': 'no-store',
        'content-security-policy': dashboardPolicy(nonce),
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      })
      .type('text/html; charset=utf-8')
      .send(template.replaceAll(NONCE_PLACE, nonce).replaceAll(BASE_PATH_PLACE, basePath));
  };
  // Relative without a base path, so that it works behind one unknown to the service.
  app.route({
    method: METHODS,
    url: '/',
    handler: ({ basePath }, reply) => {
      const location = basePath === '' ? 'ui/' : `${basePath}${DASHBOARD_PATH}`;
      return reply.code(302).header('location', location).send();
    },
  });
  // Pages have addresses of their own, which only the script in the page knows.
  for (const url of [DASHBOARD_PATH, `${DASHBOARD_PATH}*`]) {
    app.route({ method: METHODS, url, handler: sendPage });
  }
  const files = createFiles({
    folder: path.join(folder, 'assets'),
    names: await fileNames(path.join(folder, 'assets')),
    maxAgeMs: ONE_YEAR_MS,
    immutable: true,
    preCompressed: true,
  });
  // The folder itself is no file. One route serves all files: those that Fastify makes for each cost a start 40 ms.
  for (const url of [ASSETS_PATH, `${ASSETS_PATH}*`]) {
    app.route<{ Params: { '*'?: string } }>({
      method: METHODS,
      url,
      errorHandler: fileErrors,
      handler: (request, reply) => files.send(request, reply, request.params['*'] ?? ''),
    });
  }
}

/** What the page may load: its own files only, and styles with the nonce. */
function dashboardPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The files of the folder: all have a hash in their names, and some are there compressed, too. */
async function fileNames(folder: string): Promise<Set<string>> {
  const entries = await readdir(folder, { withFileTypes: true });
  return new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name));
}

/** The folder that `npm run build` writes; undefined, with a warning, without a build. */
export function builtDashboard(log: Pick<FastifyBaseLogger, 'warn'>): string | undefined {
  const folder = folderOfPackage();
  if (folder === undefined) log.warn('the dashboard is not built, so /ui/ is not served: run npm run build');
  return folder;
}

function folderOfPackage(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve('@control-enforcement/dashboard/package.json');
    const folder = path.join(path.dirname(manifest), 'dist');
    return existsSync(path.join(folder, 'index.html')) ? folder : undefined;
  } catch {
    return undefined;
  }
}
