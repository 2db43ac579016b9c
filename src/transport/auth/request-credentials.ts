import type { FastifyRequest } from 'fastify';
import { mediaTypeOf } from '../wire/media-types.js';
import type { ForeignOriginCheck } from './request-origin.js';
import { sessionTokenOf } from './session-cookie.js';

/** A session sent by a browser. */
export interface SessionCredential {
  readonly token: string;
  /** Whether a page of another origin tries to act with it, not only to read. */
  readonly foreignOrigin: boolean;
}

/**
 * The credentials of a request: the key of `x-api-key`, else the session, else a bearer key. Deployed clients send
 * bearer tokens for proxies beside the other two.
 */
export interface Credentials {
  /** Never empty. */
  readonly apiKey?: string;
  readonly session?: SessionCredential;
  /** Set without a key and a session, if a page of another origin acts: it must not use the certificate of its user. */
  readonly foreignOrigin?: true;
  /** Set if no key is required and the page of the request must not change anything. */
  readonly foreignPage?: true;
}

/** Reads the credentials of requests. */
export interface CredentialReader {
  ofRest(request: FastifyRequest): Credentials;
  /** Plain gRPC has no cookies; gRPC-Web and Connect do. */
  ofRpc(request: FastifyRequest): Credentials;
}

const NONE: Credentials = {};
const FOREIGN_ORIGIN: Credentials = { foreignOrigin: true };
const FOREIGN_PAGE: Credentials = { foreignPage: true };

/** Creates the reader for when keys are required. */
export function createCredentialReader(isForeign: ForeignOriginCheck): CredentialReader {
  function read(request: FastifyRequest, acts: boolean): Credentials {
    const apiKey = headerKeyOf(request.raw);
    if (apiKey !== undefined) return { apiKey };
    const { cookie } = request.headers;
    const token = cookie === undefined ? undefined : sessionTokenOf(cookie);
    if (token !== undefined) return { session: { token, foreignOrigin: acts && isForeign(request) } };
    const credentials = keyOnly(request);
    return credentials === NONE && acts && isForeign(request) ? FOREIGN_ORIGIN : credentials;
  }
  function keyOnly(request: FastifyRequest): Credentials {
    const apiKey = apiKeyOf(request.raw);
    return apiKey === undefined ? NONE : { apiKey };
  }
  return {
    ofRest: (request) => read(request, request.method !== 'GET'),
    ofRpc(request) {
      if (mediaTypeOf(request.headers['content-type']).protocol !== 'grpc') return read(request, true);
      return keyOnly(request);
    },
  };
}

/** If no key is required, the only check is whether a page may make changes. */
export function createKeylessCredentialReader(isForeignPage: ForeignOriginCheck): CredentialReader {
  const ofRpc = (request: FastifyRequest) => (isForeignPage(request) ? FOREIGN_PAGE : NONE);
  return { ofRpc, ofRest: (request) => (request.method === 'GET' ? NONE : ofRpc(request)) };
}

/** Header and metadata entry that carries the API key. */
export const API_KEY_HEADER = 'x-api-key';

/** Where the key of a request is read from: the headers by name, and as a flat list of names and values. */
export interface KeyHeaders {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly rawHeaders: readonly string[];
}

/**
 * The API key of a request without a session, never empty: that of `x-api-key`, else of `authorization: Bearer KEY`.
 * Undefined without one. Credentials of other schemes are not for this service.
 */
export function apiKeyOf(request: KeyHeaders): string | undefined {
  const apiKey = headerKeyOf(request);
  const { authorization } = request.headers;
  return apiKey !== undefined || authorization === undefined ? apiKey : bearerOf(authorization);
}

/** The key of `x-api-key`, never empty; the first one if the header is repeated. */
function headerKeyOf(request: KeyHeaders): string | undefined {
  const value = firstOf(request);
  return value === '' ? undefined : value;
}

/** The name of the scheme is case-insensitive (RFC 9110, section 11.1). */
const BEARER = /^bearer +(\S.*)$/i;

function bearerOf(authorization: string | string[]): string | undefined {
  const value = Array.isArray(authorization) ? authorization[0] : authorization;
  return BEARER.exec(value ?? '')?.[1];
}

function firstOf({ headers, rawHeaders }: KeyHeaders): string | undefined {
  const value = headers[API_KEY_HEADER];
  if (typeof value !== 'string' || !value.includes(',')) return Array.isArray(value) ? value[0] : value;
  // Node joins repeated headers with commas; only the raw list distinguishes that from a comma in a key.
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === API_KEY_HEADER) return rawHeaders[index + 1];
  }
  return value;
}
