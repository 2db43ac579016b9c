import type { IncomingMessage, ServerResponse } from 'node:http';
import { FREE_BYTES } from '../admission/call-ticket.js';
import { apiKeyOf } from '../auth/request-key.js';
import type { RequestTaker } from '../listener/listener.js';
import type { RestLaneOptions } from './lane-request.js';
import { LaneRequest } from './lane-request.js';
import type { RestRoute } from './rest-route.js';

/**
 * The short way for the JSON requests that agents make for every step: over HTTP/1.1, with an ordinary JSON body of a
 * stated length, and from no browser. They are served on the request itself, beneath Fastify, whose router, hooks and
 * reply cost several times what an evaluation costs. It leaves everything else, and every doubt, to Fastify. To a
 * client both look the same; test/transport/rest/lane holds them together.
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
