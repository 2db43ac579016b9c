import {
  type AuthInfo,
  bearerAuthChallengeResponse,
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  OAuthErrorCode,
  verifyBearerToken,
} from '@modelcontextprotocol/server';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import type { GatewayConfig } from './config.js';

/** Lets callers with a token in: an OAuth 2.1 resource server as MCP has it (basic/authorization). */
export interface Authentication {
  /** Who calls; or the answer for a caller without a valid token. */
  check(request: Request): Promise<AuthInfo | Response>;
  /** The document of RFC 9728; undefined for other paths. */
  metadata(pathname: string): Response | undefined;
}

type Settings = Exclude<GatewayConfig['auth'], 'none' | undefined>;

/** Signatures that are accepted: those with a public key. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

export function createAuthentication({ issuer, audience, jwks_url, scopes }: Settings): Authentication {
  const keys = createRemoteJWKSet(new URL(jwks_url), { timeoutDuration: 5_000 });
  const resource = new URL(audience);
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(resource);
  const { pathname: metadataPath } = new URL(resourceMetadataUrl);

  async function verifyAccessToken(token: string): Promise<AuthInfo> {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp', 'sub'],
    }).catch(() => {
      throw new OAuthError(OAuthErrorCode.InvalidToken, 'the token is not valid');
    });
    const scope = typeof payload.scope === 'string' ? payload.scope.split(' ') : [];
    return {
      token,
      clientId: String(payload.client_id ?? payload.azp ?? payload.sub),
      scopes: scope,
      ...(payload.exp === undefined ? {} : { expiresAt: payload.exp }),
      resource,
      extra: { ...payload },
    };
  }

  const options = { verifier: { verifyAccessToken }, requiredScopes: scopes, resourceMetadataUrl };
  return {
    async check(request) {
      try {
        return await verifyBearerToken(request.headers.get('authorization'), options);
      } catch (error) {
        if (error instanceof OAuthError) return bearerAuthChallengeResponse(error, options);
        throw error;
      }
    },
    metadata(pathname) {
      if (pathname !== metadataPath) return undefined;
      return Response.json({
        resource: audience,
        authorization_servers: [issuer],
        bearer_methods_supported: ['header'],
        ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
      });
    },
  };
}
