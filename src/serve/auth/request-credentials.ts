import type { FastifyRequest } from 'fastify';
import { mediaTypeOf } from '../wire/media-types.js';
import { createKeyReader, type KeyReader } from './key-reader.js';
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
  /** `isEvaluation`: whether its route evaluates, which other credentials may be demanded for. */
  ofRest(request: FastifyRequest, isEvaluation?: boolean): Credentials;
  /** Plain gRPC has no cookies; gRPC-Web and Connect do. */
  ofRpc(request: FastifyRequest, isEvaluation?: boolean): Credentials;
}

const NONE: Credentials = {};
const FOREIGN_ORIGIN: Credentials = { foreignOrigin: true };
const FOREIGN_PAGE: Credentials = { foreignPage: true };

const isPlainGrpc = (request: FastifyRequest): boolean =>
  mediaTypeOf(request.headers['content-type']).protocol === 'grpc';

const withKey = (apiKey: string | undefined): Credentials => (apiKey === undefined ? NONE : { apiKey });

/** Creates the reader for when this service knows the keys and sessions. */
export function createCredentialReader(
  isForeign: ForeignOriginCheck,
  keys: KeyReader = createKeyReader(),
): CredentialReader {
  function read(request: FastifyRequest, acts: boolean): Credentials {
    const apiKey = keys.headerKeyOf(request.raw);
    if (apiKey !== undefined) return { apiKey };
    const { cookie } = request.headers;
    const token = cookie === undefined ? undefined : sessionTokenOf(cookie);
    if (token !== undefined) return { session: { token, foreignOrigin: acts && isForeign(request) } };
    const credentials = withKey(keys.keyOf(request.raw));
    return credentials === NONE && acts && isForeign(request) ? FOREIGN_ORIGIN : credentials;
  }
  return {
    ofRest: (request) => read(request, request.method !== 'GET'),
    ofRpc: (request) => (isPlainGrpc(request) ? withKey(keys.keyOf(request.raw)) : read(request, true)),
  };
}

/** If no key is required, the only check is whether a page may make changes. */
export function createKeylessCredentialReader(isForeignPage: ForeignOriginCheck): CredentialReader {
  const ofRpc = (request: FastifyRequest) => (isForeignPage(request) ? FOREIGN_PAGE : NONE);
  return { ofRpc, ofRest: (request) => (request.method === 'GET' ? NONE : ofRpc(request)) };
}

/**
 * If another service decides: all headers with credentials as one text. Browsers add cookies themselves, so those of a
 * page of another origin that acts are left out.
 */
export function createForwardingCredentialReader(
  isForeign: ForeignOriginCheck,
  keys: Pick<KeyReader, 'keyOf'>,
): CredentialReader {
  function read(request: FastifyRequest, acts: boolean): Credentials {
    const { headers, rawHeaders } = request.raw;
    if (headers.cookie === undefined || !acts || !isForeign(request)) return withKey(keys.keyOf(request.raw));
    const credentials = withKey(keys.keyOf({ headers: { ...headers, cookie: undefined }, rawHeaders }));
    return credentials === NONE ? FOREIGN_ORIGIN : credentials;
  }
  return {
    ofRest: (request) => read(request, request.method !== 'GET'),
    ofRpc: (request) => (isPlainGrpc(request) ? withKey(keys.keyOf(request.raw)) : read(request, true)),
  };
}

/** Evaluations that take other credentials than other calls, for which `others` reads them. */
export function withRuntimeCredentials(
  others: CredentialReader,
  evaluations: CredentialReader,
): CredentialReader {
  return {
    ofRest: (request, isEvaluation) => (isEvaluation === true ? evaluations : others).ofRest(request),
    ofRpc: (request, isEvaluation) => (isEvaluation === true ? evaluations : others).ofRpc(request),
  };
}

/** Reads runtime tokens; without one, in the mode that takes keys as well, what `others` reads. */
export function createTokenCredentialReader(
  keys: Pick<KeyReader, 'runtimeTokenOf'>,
  others: CredentialReader | null,
): CredentialReader {
  const read = (request: FastifyRequest, kind: 'ofRest' | 'ofRpc'): Credentials => {
    const token = keys.runtimeTokenOf(request.raw);
    if (token !== undefined) return { apiKey: token };
    return others === null ? NONE : others[kind](request);
  };
  return { ofRest: (request) => read(request, 'ofRest'), ofRpc: (request) => read(request, 'ofRpc') };
}
