import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../contract/errors/service-error.js';
import { reasonOf } from '../../contract/runtime/repeat-log.js';
import type { Authenticator } from '../auth/authenticator.js';
import { foreignOrigin } from '../auth/credential-errors.js';
import { KeysUnavailableError } from '../auth/issuer-keys.js';
import { type ForeignOriginCheck, schemeOf } from '../auth/request-origin.js';
import { cookieOf, LOGIN_COOKIE, loginCookie, sessionCookie } from '../auth/session-cookie.js';
import type { CallHost } from '../call/call-host.js';
import { publicRoute } from '../rest/rest-calls.js';
import { hostPath } from '../routing/host-routes.js';
import { isForHttpsOnly, isUnsafe, NEEDS_HTTPS, notStored } from './browser-request.js';
import { type IssuerLogin, LoginError } from './issuer-login.js';
import { FLOW_SECONDS } from './login-flow.js';

export interface IssuerLoginRouteOptions {
  /** First part of the paths of the session routes, for example `/api`. */
  readonly prefix: string;
  readonly login: IssuerLogin;
  /** The address of the callback; null for that of each request. */
  readonly redirectUrl: string | null;
  readonly authenticator: Pick<Authenticator, 'logInAs'>;
  readonly host: CallHost;
  readonly isForeign: ForeignOriginCheck;
  /** Lets browsers log in over plain http from any host. */
  readonly debug: boolean;
}

/** Pages of the dashboard that a login may return to: plain paths, which lead nowhere else. */
const PAGE = /^(?!.*\.\.)(?:[\w~%-][\w./~%-]*)?(?:\?[\w./~%=&+,:@-]*)?$/;
const MAX_PAGE_LENGTH = 1_000;

/** The login of browsers at the issuer: one route that sends them there, and one that they come back to. */
export function registerIssuerLogin(scope: FastifyInstance, options: IssuerLoginRouteOptions): void {
  const { prefix, login, redirectUrl, authenticator, host, isForeign, debug } = options;
  const loginPath = hostPath('issuerLogin', prefix);
  const callbackPath = hostPath('issuerCallback', prefix);
  // Relative to the callback, so that it works behind a prefix unknown to the service.
  const dashboard = `${'../'.repeat(callbackPath.split('/').length - 2)}ui/`;
  const at = (path: string) => ({ callRoute: publicRoute(host, 'GET', path) });

  const withLoginCookie = (request: FastifyRequest, value: string, seconds: number): string =>
    loginCookie(value, seconds, `${request.basePath}${prefix}/oidc`, isForHttpsOnly(request, debug));
  const redirect = (reply: FastifyReply, location: string): FastifyReply =>
    notStored(reply).header('referrer-policy', 'no-referrer').code(303).header('location', location).send();

  /** Tells the person at the sign-in page of the dashboard why there is no session. */
  function refuse(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
    const problem = problemOf(error);
    // The reason only: the errors themselves may contain codes and tokens.
    const reason = reasonOf(error);
    request.log.info(
      { address: request.ticket.address, problem, reason },
      'a login at the issuer was refused',
    );
    return redirect(reply, `${dashboard}?sign_in_problem=${problem}`);
  }

  scope.get(
    loginPath,
    {
      config: at(loginPath),
      // Pages of other origins must not begin a login in the name of their user.
      onRequest(request, _reply, done) {
        if (isForeign(request)) throw foreignOrigin();
        done();
      },
    },
    async (request, reply) => {
      try {
        if (isUnsafe(request, debug)) throw new LoginError('insecure', new Error(NEEDS_HTTPS));
        const origin = `${schemeOf(request)}://${request.host}${request.basePath}`;
        const callback = redirectUrl ?? `${origin}${callbackPath}`;
        const { page = '' } = request.query as { readonly page?: string };
        const { location, flow } = await login.begin(callback, isPage(page) ? page : '');
        return redirect(reply.header('set-cookie', withLoginCookie(request, flow, FLOW_SECONDS)), location);
      } catch (error) {
        return refuse(request, reply, error);
      }
    },
  );

  scope.get(callbackPath, { config: at(callbackPath) }, async (request, reply) => {
    const cleared = withLoginCookie(request, '', 0);
    try {
      const flow = cookieOf(request.headers.cookie ?? '', LOGIN_COOKIE) ?? '';
      const parameters = new URL(request.url, 'http://localhost').searchParams;
      const { principal, page } = await login.finish(flow, parameters);
      const { token, seconds } = await authenticator.logInAs(principal);
      const session = sessionCookie(token, seconds, request.basePath, isForHttpsOnly(request, debug));
      return redirect(reply.header('set-cookie', [session, cleared]), `${dashboard}${page}`);
    } catch (error) {
      return refuse(request, reply.header('set-cookie', cleared), error);
    }
  });
}

function isPage(page: unknown): page is string {
  return typeof page === 'string' && page.length <= MAX_PAGE_LENGTH && PAGE.test(page);
}

/** A word that the dashboard has a text for. */
function problemOf(error: unknown): string {
  if (error instanceof LoginError) return error.problem;
  if (error instanceof KeysUnavailableError) return 'unavailable';
  if (error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE') return 'unavailable';
  return error instanceof ServiceError && error.code === 'AUTH_INSUFFICIENT_PRIVILEGES'
    ? 'no-role'
    : 'failed';
}
