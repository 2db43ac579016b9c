import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import type { Admission } from '../admission/admission.js';
import { FREE_BYTES } from '../admission/call-ticket.js';
import type { Entrance } from '../admission/entrance.js';
import { apiKeyOf } from '../auth/request-key.js';
import type { CallMeter } from '../call/call-meter.js';
import type { RequestTaker } from '../listener/listener.js';
import { LaneRequest } from './lane-request.js';
import type { ErrorContext } from './rest-errors.js';
import type { RestRoute } from './rest-routes.js';

export interface RestLaneOptions extends ErrorContext {
  /** Served by the lane: POST with a body, and no parameters in the path. */
  readonly routes: readonly RestRoute[];
  readonly admission: Pick<Admission, 'ticket'>;
  readonly entrance: Pick<Entrance, 'enterWithKey'>;
  readonly metrics: Pick<CallMeter, 'restStarted' | 'restEnded'>;
  readonly log: FastifyBaseLogger;
  /** Whether anybody reads a log line for each request. */
  readonly logsCalls: boolean;
  /** Told on every reply. */
  readonly version: string;
  /** Headers of every reply to a request without an origin, names and values by turns. */
  readonly corsHeaders: readonly string[];
  /** Longest time that an evaluation may take, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** Largest body, in bytes. */
  readonly maxBodyBytes: number;
}

/**
 * The short way for the JSON requests that agents make for every step: over HTTP/1.1, with an ordinary JSON body of a
 * stated length, and from no browser. They are served on the request itself, beneath Fastify, whose router, hooks and
 * reply cost several times what an evaluation costs. It leaves everything else, and every doubt, to Fastify. To a
 * client both look the same; test/rest-lane holds them together.
 */
export function createRestLane(options: RestLaneOptions): RequestTaker {
  const routes = new Map<string | undefined, RestRoute>();
  for (const route of options.routes) {
    const { binding, method, template } = route;
    const fits = binding.verb === 'POST' && binding.body === '*' && binding.pathMembers.length === 0;
    if (!fits || method.desc.methodKind !== 'unary')
      throw new Error(`${method.name} has no place in the lane`);
    routes.set(template, route);
  }
  // What larger bodies take together is bounded where Fastify reads them.
  const maxBodyBytes = Math.min(options.maxBodyBytes, FREE_BYTES);

  return (request: IncomingMessage, response: ServerResponse): boolean => {
    // Exactly the path: with a query, or written in another way, it goes to the router.
    const route = routes.get(request.url);
    if (route === undefined || !isOrdinary(request, maxBodyBytes)) return false;
    new LaneRequest(options, route, request, response).start(apiKeyOf(request));
    return true;
  };
}

const JSON_CONTENT = /^application\/json(?:; ?charset=utf-8)?$/i;

function isOrdinary({ method, httpVersion, headers }: IncomingMessage, maxBodyBytes: number): boolean {
  if (method !== 'POST' || httpVersion !== '1.1') return false;
  if (!JSON_CONTENT.test(headers['content-type'] ?? '')) return false;
  const length = Number(headers['content-length'] ?? 0);
  if (!(length > 0 && length <= maxBodyBytes)) return false;
  return (
    headers['content-encoding'] === undefined &&
    headers['transfer-encoding'] === undefined &&
    headers.expect === undefined &&
    headers.upgrade === undefined &&
    // Only browsers send these; a session, and whether a page may act, is read elsewhere.
    headers.cookie === undefined &&
    headers.origin === undefined &&
    headers['sec-fetch-site'] === undefined
  );
}
