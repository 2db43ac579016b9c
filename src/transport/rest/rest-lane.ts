import type { IncomingMessage, ServerResponse } from 'node:http';
import { FREE_BYTES } from '../admission/call-ticket.js';
import { apiKeyOf } from '../auth/request-credentials.js';
import { restRoute } from '../call/call-host.js';
import type { RequestTaker } from '../listener/listener.js';
import { LaneRequest, type LaneRoute, type RestLaneOptions } from './lane-request.js';

/**
 * Fast path for the JSON requests that agents make for every step: over HTTP/1.1, with an ordinary JSON body
 * of declared length, and not from a browser. They are served directly on the request, bypassing Fastify,
 * whose router, hooks and reply cost several times as much as an evaluation. Everything else, and every
 * doubtful case, is left to Fastify. Clients see no difference; test/transport/rest/lane checks that.
 */
export function createRestLane(options: RestLaneOptions): RequestTaker {
  const routes = new Map<string | undefined, LaneRoute>();
  for (const route of options.routes) {
    const { binding, method, template } = route;
    const fits = binding.verb === 'POST' && binding.body === '*' && binding.pathMembers.length === 0;
    if (!fits || method.desc.methodKind !== 'unary')
      throw new Error(`${method.name} has no place in the lane`);
    const callRoute = restRoute(options.host.metrics, method, binding.verb, template);
    routes.set(template, { route, callRoute });
  }
  // The total size of larger bodies is limited where Fastify reads them.
  const maxBodyBytes = Math.min(options.maxBodyBytes, FREE_BYTES);

  return (request: IncomingMessage, response: ServerResponse): boolean => {
    // Exact match: a path with a query or in another spelling goes to the router.
    const route = routes.get(request.url);
    if (route === undefined || !isOrdinary(request, maxBodyBytes)) return false;
    const apiKey = apiKeyOf(request);
    // Its verification is asynchronous.
    if (options.host.entrance.isUnverified(apiKey)) return false;
    new LaneRequest(options, route, request, response).start(apiKey);
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
    // Only browsers send these; sessions and the rights of pages are checked elsewhere.
    headers.cookie === undefined &&
    headers.origin === undefined &&
    headers['sec-fetch-site'] === undefined
  );
}
