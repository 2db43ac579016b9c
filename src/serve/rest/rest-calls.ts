import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorForm } from '../../contract/call/handler.js';
import { PUBLIC_METHOD } from '../admission/call-class.js';
import type { CredentialReader } from '../auth/request-credentials.js';
import { Call } from '../call/call.js';
import { type CallHost, type CallRoute, closedStatus, restRoute } from '../call/call-host.js';
import { ClientGoneError } from './rest-errors.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route of the calls at this path. */
    callRoute?: CallRoute;
    /** How errors at this path are shown; undefined for problem bodies. */
    errorForm?: ErrorForm | undefined;
  }
}

export interface RestCallOptions {
  readonly host: CallHost;
  readonly credentials: CredentialReader;
  /** Ends running streams when the server shuts down. */
  readonly shutdownSignal: AbortSignal;
}

/** Creates the call of every request of a scope, lets it enter, and ends it. */
export function startRestCalls(scope: FastifyInstance, options: RestCallOptions): void {
  const { host, credentials, shutdownSignal } = options;
  scope.addHook('onRequest', (request, reply, done) => {
    const route = request.routeOptions.config.callRoute;
    if (route === undefined) throw new Error(`${request.routeOptions.url} has no call route`);
    const call = new Call(host, route, {
      requestId: request.id,
      headers: request.headers,
      ticket: request.ticket,
      callerSignal() {
        const gone = clientSignal(reply);
        if (!route.isEndless) return gone;
        const withdrawn = new AbortController();
        call.whenWithdrawn((reason) => withdrawn.abort(reason));
        return AbortSignal.any([gone, shutdownSignal, withdrawn.signal]);
      },
    });
    request.call = call;
    // Emitted when the reply is complete or the client disconnects, in every version of HTTP.
    reply.raw.once('close', () => call.end(closedStatus(reply.raw)));
    // The router matches `/agents/` as an agent without a name; that path is not served.
    if (Object.values(request.params as object).includes('')) return reply.callNotFound();
    const entering = call.enter(credentials.ofRest(request, route.method.isEvaluation));
    if (entering === undefined) done();
    else entering.then(() => done(), done);
  });
}

/** A route of a scope that is not an RPC and needs no key. */
export function publicRoute(host: CallHost, verb: string, path: string): CallRoute {
  return restRoute(host.metrics, PUBLIC_METHOD, verb, path);
}

/** The call of a request in a scope with `startRestCalls`. */
export function callOf(request: FastifyRequest): Call {
  if (request.call === null) throw new Error('a request was served outside the host');
  return request.call;
}

/** Aborted when the connection closes. Not used after the reply was sent. */
function clientSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  if (reply.raw.destroyed) gone.abort(new ClientGoneError());
  else reply.raw.once('close', () => gone.abort(new ClientGoneError()));
  return gone.signal;
}
