import * as oauth from 'oauth4webapi';
import type { Principal } from '../../contract/call/handler.js';
import type { RoleTable } from '../../contract/call/scopes.js';
import type { OidcLogin, OidcSettings } from '../../contract/config/oidc-settings.js';
import type { BearerTokens } from '../auth/bearer-tokens.js';
import type { IssuerMetadata } from '../auth/issuer-documents.js';
import { hasRoles, tokenPrincipal } from '../auth/token-rights.js';
import { createLoginFlows } from './login-flow.js';

/** Time limit of the question for tokens, in milliseconds. */
const TOKEN_TIMEOUT_MS = 10_000;

/** The login of browsers at the issuer: authorization code with PKCE (OpenID Connect Core 1.0, section 3.1). */
export interface IssuerLogin {
  /** Name of the issuer for people. */
  readonly name: string;
  /** The address at the issuer to send the browser to, and what its cookie must contain until it comes back. */
  begin(redirectUrl: string, page: string): Promise<{ readonly location: string; readonly flow: string }>;
  /**
   * The person that a browser came back with, until the token of the issuer expires. `flow` is from its cookie, the
   * parameters are those of the callback. Rejects with a LoginError, or with AUTH_INSUFFICIENT_PRIVILEGES for a person
   * without a role.
   */
  finish(
    flow: string,
    parameters: URLSearchParams,
  ): Promise<{ readonly principal: Principal; readonly page: string }>;
}

/** A login that ended without a session. `problem` is for the dashboard, the cause for the log. */
export class LoginError extends Error {
  readonly problem: 'expired' | 'denied' | 'insecure' | 'failed';
  constructor(problem: LoginError['problem'], cause?: unknown) {
    super(`the login has ended: ${problem}`, { cause });
    this.name = 'LoginError';
    this.problem = problem;
  }
}

export interface IssuerLoginOptions {
  readonly settings: OidcSettings;
  readonly login: OidcLogin;
  readonly keys: { metadata(): Promise<IssuerMetadata> };
  readonly tokens: Pick<BearerTokens, 'claimsOf'>;
  /** What the roles may do. */
  readonly roles?: RoleTable;
  /** Secret of the sessions. */
  readonly secret: string;
}

export function createIssuerLogin(options: IssuerLoginOptions): IssuerLogin {
  const { settings, login, keys, tokens, roles, secret } = options;
  const { issuer, audience, rights, clockToleranceMs } = settings;
  const flows = createLoginFlows(secret, () => Date.now());
  const client: oauth.Client = {
    client_id: login.clientId,
    [oauth.clockTolerance]: clockToleranceMs / 1000,
  };

  /** The tokens for the code of a callback. */
  async function exchange(
    parameters: URLSearchParams,
    redirectUrl: string,
    verifier: string,
    nonce: string,
  ): Promise<oauth.TokenEndpointResponse> {
    const server = (await keys.metadata()) as oauth.AuthorizationServer;
    const reply = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      clientAuthentication(login, server),
      parameters,
      redirectUrl,
      verifier,
      {
        signal: AbortSignal.timeout(TOKEN_TIMEOUT_MS),
        // Plain http is accepted for an issuer on this machine only, see `isSafeUrl`.
        [oauth.allowInsecureRequests]: true,
      },
    );
    // Checks the claims; the signature is checked by `claimsOf`.
    return oauth.processAuthorizationCodeResponse(server, client, reply, {
      expectedNonce: nonce,
      requireIdToken: true,
    });
  }

  /** The ID token proves who it is. Some issuers write roles into access tokens only. */
  async function principalOf(reply: oauth.TokenEndpointResponse): Promise<Principal> {
    const claims = await tokens.claimsOf(reply.id_token ?? '', login.clientId);
    if (hasRoles(claims, rights)) return tokenPrincipal(claims, rights, issuer, claims.exp * 1000, roles);
    const access = await tokens.claimsOf(reply.access_token, audience).catch(() => claims);
    const used = access.sub === claims.sub ? access : claims;
    return tokenPrincipal(used, rights, issuer, Math.min(claims.exp, used.exp) * 1000, roles);
  }

  return {
    name: login.name,
    async begin(redirectUrl, page) {
      const { authorization_endpoint: endpoint } = await keys.metadata();
      if (endpoint === undefined)
        throw new LoginError('failed', new Error('the issuer has no authorization_endpoint'));
      const state = oauth.generateRandomState();
      const nonce = oauth.generateRandomNonce();
      const verifier = oauth.generateRandomCodeVerifier();
      const location = new URL(endpoint);
      const parameters = {
        client_id: login.clientId,
        response_type: 'code',
        redirect_uri: redirectUrl,
        scope: login.scopes.join(' '),
        state,
        nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      };
      for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value);
      return {
        location: location.href,
        flow: await flows.seal({ state, nonce, verifier, redirectUrl, page }),
      };
    },
    async finish(text, parameters) {
      const flow = await flows.open(text);
      if (flow === undefined) throw new LoginError('expired');
      const { state, nonce, verifier, redirectUrl, page } = flow;
      try {
        const server = (await keys.metadata()) as oauth.AuthorizationServer;
        const code = oauth.validateAuthResponse(server, client, parameters, state);
        return { principal: await principalOf(await exchange(code, redirectUrl, verifier, nonce)), page };
      } catch (error) {
        if (error instanceof oauth.AuthorizationResponseError) throw new LoginError('denied', error);
        throw error;
      }
    },
  };
}

function clientAuthentication(
  { clientSecret }: OidcLogin,
  { token_endpoint_auth_methods_supported: methods }: oauth.AuthorizationServer,
): oauth.ClientAuth {
  if (clientSecret === null) return oauth.None();
  // Without a list it is client_secret_basic (OpenID Connect Discovery 1.0, section 3).
  const isPost = methods?.includes('client_secret_basic') === false && methods.includes('client_secret_post');
  return isPost ? oauth.ClientSecretPost(clientSecret) : oauth.ClientSecretBasic(clientSecret);
}
