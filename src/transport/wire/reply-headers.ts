import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Header that tells the version of the server on every reply. */
export const VERSION_HEADER = 'X-SERVICE-Server-Version';
/** Header that names a request, on requests and replies. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** Header and trailer that carry the revision a change produced. */
export const REVISION_HEADER = 'x-service-revision';
/** Header and trailer that tell how old the controls are by which was decided; only when they may be too old. */
export const STALENESS_HEADER = 'x-service-staleness-seconds';

/** Request ids of callers are taken over when they look like ids; anything else could forge log lines. */
const ACCEPTABLE_REQUEST_ID = /^[\w.:-]{1,128}$/;

/** The id of a request: the one its caller gave it, or a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers[REQUEST_ID_HEADER];
  return typeof given === 'string' && ACCEPTABLE_REQUEST_ID.test(given) ? given : randomUUID();
}
