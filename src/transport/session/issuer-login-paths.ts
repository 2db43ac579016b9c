import type { ServedPath } from '../routing/route-finder.js';

/** Where the dashboard sends a browser that logs in at the issuer. */
export function issuerLoginPath(prefix: string): string {
  return `${prefix}/oidc/login`;
}

/** Where the browser comes back to. */
export function callbackPath(prefix: string): string {
  return `${prefix}/oidc/callback`;
}

/** Paths of the login at the issuer, with their methods. */
export function issuerLoginPaths(prefix: string): ServedPath[] {
  return [issuerLoginPath(prefix), callbackPath(prefix)].map((template) => ({ template, methods: ['GET'] }));
}
