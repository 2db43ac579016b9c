import type { HTTPMethods } from 'fastify';
import type { ServedPath } from './route-finder.js';

/** What is served together, or not at all. */
export type HostPart = 'dashboard' | 'operations' | 'documents' | 'session' | 'issuer';

/** A route that the host serves itself: it is of no RPC, and public. */
interface HostRoute {
  readonly part: HostPart;
  /** Those of sessions are below the prefix of the API. */
  readonly path: string;
  readonly methods: HTTPMethods[];
  /** Files that are served below it. */
  readonly files?: readonly string[];
  /** What a call costs a caller without a key, in units of a simple request; 1 by default. */
  readonly publicUnits?: number;
}

const READ: HTTPMethods[] = ['GET', 'HEAD'];
/** A login checks a key and signs a token; at the issuer, it asks there. */
const LOGIN_UNITS = 5;

/** All of them: registration, costs, OpenAPI and messages about paths that are not served follow from it. */
export const HOST_ROUTES = {
  /** Leads to all other pages of the dashboard. */
  dashboard: { part: 'dashboard', path: '/ui/', methods: READ },
  health: { part: 'operations', path: '/health', methods: ['GET'] },
  ready: { part: 'operations', path: '/ready', methods: ['GET'] },
  /** A long text. */
  metrics: { part: 'operations', path: '/metrics', methods: READ, publicUnits: 5 },
  openapi: { part: 'documents', path: '/openapi.json', methods: READ },
  docs: {
    part: 'documents',
    path: '/docs',
    methods: READ,
    files: ['start.js', 'swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'],
  },
  redoc: { part: 'documents', path: '/redoc', methods: READ },
  config: { part: 'session', path: '/config', methods: ['GET'] },
  login: { part: 'session', path: '/login', methods: ['POST'], publicUnits: LOGIN_UNITS },
  logout: { part: 'session', path: '/logout', methods: ['POST'] },
  /** Continues a session in another namespace: checks a token, and signs one. */
  namespace: { part: 'session', path: '/namespace', methods: ['POST'], publicUnits: LOGIN_UNITS },
  /** Where the dashboard sends a browser that logs in at the issuer, and where it comes back to. */
  issuerLogin: { part: 'issuer', path: '/oidc/login', methods: ['GET'], publicUnits: LOGIN_UNITS },
  issuerCallback: { part: 'issuer', path: '/oidc/callback', methods: ['GET'], publicUnits: LOGIN_UNITS },
} satisfies Readonly<Record<string, HostRoute>>;

export type HostRouteName = keyof typeof HOST_ROUTES;

const ROUTES: readonly HostRoute[] = Object.values(HOST_ROUTES);

/** The path of a route; `apiPrefix` is the first part of those of sessions, for example `/api`. */
export function hostPath(route: HostRouteName, apiPrefix: string): string {
  return pathOf(HOST_ROUTES[route], apiPrefix);
}

function pathOf({ part, path }: HostRoute, apiPrefix: string): string {
  return part === 'session' || part === 'issuer' ? apiPrefix + path : path;
}

/** The paths of some parts, with their methods. */
export function hostPaths(parts: readonly HostPart[], apiPrefix: string): ServedPath[] {
  return ROUTES.filter(({ part }) => parts.includes(part)).flatMap((route) => {
    const path = pathOf(route, apiPrefix);
    const below = (route.files ?? []).map((file) => `${path}/${file}`);
    return [path, ...below].map((template) => ({ template, methods: route.methods }));
  });
}

/** What calls without a key cost that are not simple requests, by path. */
export function hostUnits(apiPrefix: string): ReadonlyMap<string, number> {
  return new Map(ROUTES.map((route) => [pathOf(route, apiPrefix), route.publicUnits ?? 1]));
}
