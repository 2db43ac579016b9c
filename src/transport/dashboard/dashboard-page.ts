/** What the build of the dashboard writes into the page where a fresh nonce belongs. */
const NONCE_PLACE = '__csp_nonce__';
/** What the source of the page has where the prefix of the session routes belongs. */
const API_PREFIX_PLACE = '__api_prefix__';

/** The page with a nonce, for one request. */
export function dashboardPage(template: string, nonce: string, apiPrefix: string): string {
  return template.replaceAll(NONCE_PLACE, nonce).replaceAll(API_PREFIX_PLACE, apiPrefix);
}

/** What the page may load: its own files only, and styles with the nonce. */
export function dashboardPolicy(nonce: string): string {
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
