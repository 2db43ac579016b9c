import { isSafeUrl } from '../../contract/config/oidc-settings.js';
import { MEDIA_TYPES } from '../wire/media-types.js';

/** Largest document of an issuer, in bytes. */
const MAX_BYTES = 1024 * 1024;

/** The members of the discovery document that the service uses (OpenID Connect Discovery 1.0, section 3). */
export interface IssuerMetadata {
  readonly issuer: string;
  readonly jwks_uri: string;
  /** Absent if browsers cannot log in there. */
  readonly authorization_endpoint?: string;
  readonly token_endpoint?: string;
  readonly token_endpoint_auth_methods_supported?: readonly string[];
}

/** Reads the discovery document of an issuer. Rejects if it cannot be read, or is not that of this issuer. */
export async function readMetadata(issuer: string, timeoutMs: number): Promise<IssuerMetadata> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const document: Partial<Record<keyof IssuerMetadata, unknown>> = await readJson(url, timeoutMs);
  if (document.issuer !== issuer) throw new Error(`${url} is not the document of the issuer ${issuer}`);
  for (const member of ['jwks_uri', 'authorization_endpoint', 'token_endpoint'] as const) {
    const value = document[member];
    if (value === undefined && member !== 'jwks_uri') continue;
    if (typeof value !== 'string' || !isSafeUrl(value))
      throw new Error(`${url} has no https URL as ${member}`);
  }
  return document as IssuerMetadata;
}

/** Reads a JSON object over HTTP. Redirects are not followed: they could lead to an address without TLS. */
export async function readJson(url: string, timeoutMs: number): Promise<object> {
  const reply = await fetch(url, {
    headers: { accept: MEDIA_TYPES.json },
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!reply.ok || reply.body === null) {
    await reply.body?.cancel();
    throw new Error(`${url} answered ${reply.status}`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of reply.body) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw new Error(`${url} answered with more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${url} answered with JSON that is no object`);
  return value;
}
