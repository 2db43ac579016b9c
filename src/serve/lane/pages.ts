import type { IncomingHttpHeaders } from 'node:http';
import { API_KEY_HEADER } from '../auth/key-reader.js';

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
