import type { FastifyRequest } from 'fastify';
import { protocolOf } from '../wire/protocol.js';
import { apiKeyOf } from './request-key.js';
import type { ForeignOriginCheck } from './request-origin.js';
import { sessionTokenOf } from './session-cookie.js';

/** The session a browser sent. */
export interface SessionCredential {
  readonly token: string;
  /** A page of another origin wants to act with it, not only to read. */
  readonly foreignOrigin: boolean;
}

/** What a caller showed of itself. A key wins: where there is one, the session is not even read. */
export interface Credentials {
  /** Never empty. */
  readonly apiKey?: string;
  readonly session?: SessionCredential;
  /** Where no key is demanded: a page that must not change anything wants to. */
  readonly foreignPage?: true;
}

/** Finds the credentials of requests. */
export interface CredentialReader {
  ofRest(request: FastifyRequest): Credentials;
  /** Plain gRPC has no cookies; gRPC-Web and Connect do. */
  ofRpc(request: FastifyRequest): Credentials;
}

const NONE: Credentials = {};
const FOREIGN_PAGE: Credentials = { foreignPage: true };

/** Reads credentials where keys are demanded. */
export function createCredentialReader(isForeign: ForeignOriginCheck): CredentialReader {
  function read(request: FastifyRequest, acts: boolean): Credentials {
    const apiKey = apiKeyOf(request.raw);
    if (apiKey !== undefined) return { apiKey };
    const { cookie } = request.headers;
    const token = cookie === undefined ? undefined : sessionTokenOf(cookie);
    return token === undefined ? NONE : { session: { token, foreignOrigin: acts && isForeign(request) } };
  }
  return {
    ofRest: (request) => read(request, request.method !== 'GET'),
    ofRpc(request) {
      if (protocolOf(request.headers['content-type'] ?? '') !== 'grpc') return read(request, true);
      const apiKey = apiKeyOf(request.raw);
      return apiKey === undefined ? NONE : { apiKey };
    },
  };
}

/** Where no key is demanded, nothing counts but whether a page may act. */
export function createKeylessCredentialReader(isForeignPage: ForeignOriginCheck): CredentialReader {
  const ofRpc = (request: FastifyRequest) => (isForeignPage(request) ? FOREIGN_PAGE : NONE);
  return { ofRpc, ofRest: (request) => (request.method === 'GET' ? NONE : ofRpc(request)) };
}
