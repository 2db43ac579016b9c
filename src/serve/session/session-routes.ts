import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { callerError, ServiceError } from '../../contract/errors/service-error.js';
import { text } from '../../contract/input/fields.js';
import { parseInput } from '../../contract/input/parse-input.js';
import type { Entrance } from '../admission/entrance.js';
import type { Authenticator } from '../auth/authenticator.js';
import type { NewSession } from '../auth/browser-sessions.js';
import { foreignOrigin } from '../auth/credential-errors.js';
import type { CredentialReader } from '../auth/request-credentials.js';
import type { ForeignOriginCheck } from '../auth/request-origin.js';
import { sessionCookie } from '../auth/session-cookie.js';
import type { CallHost } from '../call/call-host.js';
import { readBody } from '../rest/rest-body.js';
import { publicRoute } from '../rest/rest-calls.js';
import { HOST_ROUTES, hostPath } from '../routing/host-routes.js';
import { isForHttpsOnly, isUnsafe, NEEDS_HTTPS, notStored } from './browser-request.js';
import type { IssuerLogin } from './issuer-login.js';

/** Options of the session routes. */
export interface SessionRouteOptions {
  /** First part of their paths, for example `/api`. */
  readonly prefix: string;
  readonly authenticator: Authenticator;
  readonly host: CallHost;
  readonly entrance: Pick<Entrance, 'guess' | 'isUnverified' | 'verify'>;
  readonly credentials: CredentialReader;
  readonly isForeign: ForeignOriginCheck;
  /** Lets browsers log in over plain http from any host. */
  readonly debug: boolean;
  /** The login at the issuer; null without one. */
  readonly login: IssuerLogin | null;
  /** The address of its callback; null for that of each request. */
  readonly redirectUrl: string | null;
}

/** Most characters of a host name in the log. */
const MAX_LOGGED_HOST = 255;
/** As of every namespace. */
const MAX_NAMESPACE_LENGTH = 63;
/** Largest body of a login, in bytes: a key is a short text. */
const MAX_LOGIN_BYTES = 16 * 1024;
const LOGIN_INPUT = z.object({ api_key: text() });
const NAMESPACE_INPUT = z.object({ namespace: text({ min: 1, max: MAX_NAMESPACE_LENGTH }) });

/** The routes of a web console for the authentication settings, login and logout. All are public. */
export async function registerSessionRoutes(
  scope: FastifyInstance,
  options: SessionRouteOptions,
): Promise<void> {
  const { prefix, authenticator, host, entrance, credentials, isForeign, debug, login } = options;
  const signInOf = ({ basePath }: FastifyRequest) =>
    login === null
      ? {}
      : { sign_in: { name: login.name, path: `${basePath}${hostPath('issuerLogin', prefix)}` } };
  if (login !== null) {
    const { registerIssuerLogin } = await import('./issuer-login-routes.js');
    registerIssuerLogin(scope, { ...options, login });
  }
  const refuseForeign = (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
    // Other origins must not log a user out, or into their account, or use up the attempts of the address.
    if (isForeign(request)) throw foreignOrigin();
    done();
  };

  /** Whether a request has a valid key or session. Fails with RATE_LIMITED if its address guesses keys. */
  async function recognizes(request: FastifyRequest): Promise<boolean> {
    const shown = credentials.ofRest(request);
    const { apiKey } = shown;
    if (typeof apiKey !== 'string') return authenticator.recognizes(shown);
    if (entrance.isUnverified(apiKey)) {
      const verified = entrance.verify(request.ticket, apiKey);
      return verified.then(
        () => true,
        (error: unknown) => {
          if (error instanceof ServiceError && error.code.startsWith('AUTH_')) return false;
          throw error;
        },
      );
    }
    return entrance.guess('call', request.ticket, apiKey, () => authenticator.find(apiKey)) !== undefined;
  }

  const at = (name: 'config' | 'login' | 'logout' | 'namespace') => {
    const [method = 'GET'] = HOST_ROUTES[name].methods;
    const url = hostPath(name, prefix);
    return { method, url, config: { callRoute: publicRoute(host, method, url) } };
  };

  scope.route({
    ...at('config'),
    handler: async (request, reply) => {
      const { enabled } = authenticator;
      const active = enabled && (await recognizes(request));
      return notStored(reply).send({
        requires_api_key: enabled,
        auth_mode: enabled ? 'api-key' : 'none',
        has_active_session: active,
        ...signInOf(request),
      });
    },
  });

  scope.route({
    ...at('login'),
    bodyLimit: MAX_LOGIN_BYTES,
    onRequest: refuseForeign,
    handler: async (request, reply) => {
      const body = readBody(request, 'refuse');
      if ('problem' in body) throw body.problem;
      const { api_key: apiKey } = parseInput(LOGIN_INPUT, body.value);
      if (isUnsafe(request, debug)) {
        const { address } = request.ticket;
        request.log.info(
          { address, host: request.host.slice(0, MAX_LOGGED_HOST) },
          `a login was refused: ${NEEDS_HTTPS}`,
        );
        return refuse(reply, 403, `Login refused: ${NEEDS_HTTPS}.`);
      }
      const key = apiKey.trim();
      const session = entrance.guess('login', request.ticket, key, () => authenticator.logIn(key));
      if (session === undefined) {
        request.log.info({ address: request.ticket.address }, 'a login was refused');
        return refuse(reply, 401);
      }
      return accept(reply, await session, request.basePath, isForHttpsOnly(request, debug));
    },
  });

  scope.route({
    ...at('namespace'),
    bodyLimit: MAX_LOGIN_BYTES,
    onRequest: refuseForeign,
    handler: async (request, reply) => {
      const body = readBody(request, 'refuse');
      if ('problem' in body) throw body.problem;
      const { namespace } = parseInput(NAMESPACE_INPUT, body.value);
      const { session } = credentials.ofRest(request);
      if (session === undefined) throw noSession();
      const { token, seconds } = await authenticator.switchNamespace(session, namespace);
      return notStored(reply)
        .header('set-cookie', sessionCookie(token, seconds, request.basePath, isForHttpsOnly(request, debug)))
        .send({ namespace });
    },
  });

  scope.route({
    ...at('logout'),
    onRequest: refuseForeign,
    handler: async (request, reply) => {
      // The browser forgets its session in any case, also when the reply is an error.
      notStored(reply).header(
        'set-cookie',
        sessionCookie('', 0, request.basePath, isForHttpsOnly(request, debug)),
      );
      const { session } = credentials.ofRest(request);
      if (session !== undefined) await authenticator.logOut(session.token);
      return reply.code(204).send();
    },
  });
}

function noSession(): ServiceError {
  return callerError('AUTH_MISSING_KEY', {
    detail: 'Only a browser session can work in another namespace, and this call has none.',
    hint: 'Log in first. A key, or a token, is for the namespace that it was made for.',
  });
}

function accept(
  reply: FastifyReply,
  { token, isAdmin, seconds }: NewSession,
  basePath: string,
  secure: boolean,
): FastifyReply {
  return notStored(reply)
    .header('set-cookie', sessionCookie(token, seconds, basePath, secure))
    .send({ authenticated: true, is_admin: isAdmin });
}

/** Consoles read these members, so this is not a problem body, which would have an `error_code`. */
function refuse(reply: FastifyReply, status: 401 | 403, detail?: string): FastifyReply {
  return notStored(reply).code(status).send({ authenticated: false, is_admin: false, detail });
}
