import { generateKeyPairSync, sign } from 'node:crypto';
import http, { type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import { AUDIENCE } from './issuer.js';

/** An issuer whose device flow a test decides about (RFC 8628), and what it was sent. */
export interface DeviceIssuer {
  readonly url: string;
  /** The bodies of the calls for a token, in their order. */
  readonly asked: URLSearchParams[];
  /** The errors of the next calls for a token; after them, it is given. */
  readonly errors: string[];
}

/** Runs an issuer from before the first test of a suite to after its last. */
export function suiteDeviceIssuer(): DeviceIssuer {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const asked: URLSearchParams[] = [];
  const errors: string[] = [];
  let url = '';

  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  function token(): string {
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: url,
      aud: AUDIENCE,
      sub: 'alice',
      roles: ['control-admin'],
      iat: now,
      exp: now + 600,
    };
    const signed = `${part({ alg: 'RS256', kid: 'one', typ: 'JWT' })}.${part(claims)}`;
    return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
  }

  function answer(path: string, body: URLSearchParams): readonly [status: number, body: object] {
    if (path === '/.well-known/openid-configuration') {
      return [
        200,
        {
          issuer: url,
          jwks_uri: `${url}/jwks`,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
          device_authorization_endpoint: `${url}/device`,
        },
      ];
    }
    if (path === '/jwks') {
      return [
        200,
        { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] },
      ];
    }
    if (path === '/device') {
      return [
        200,
        {
          device_code: 'a-device-code',
          user_code: 'WDJB-MJHT',
          verification_uri: `${url}/activate`,
          expires_in: 600,
          interval: 0.01,
        },
      ];
    }
    if (path !== '/token') return [404, {}];
    asked.push(body);
    const error = errors.shift();
    if (error !== undefined) return [400, { error, error_description: `the issuer says ${error}` }];
    return [200, { access_token: token(), token_type: 'Bearer', expires_in: 600 }];
  }

  const server = http.createServer(async (request, response: ServerResponse) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const [status, body] = answer(request.url ?? '', new URLSearchParams(text));
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    get url() {
      return url;
    },
    asked,
    errors,
  };
}
