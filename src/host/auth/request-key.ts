import type { FastifyRequest } from 'fastify';

/** Header and metadata entry that carries the API key. */
export const API_KEY_HEADER = 'x-api-key';

/** The API key of a request; of a repeated header the first one. Undefined without one. */
export function apiKeyOf(request: FastifyRequest): string | undefined {
  const value = request.headers[API_KEY_HEADER];
  if (typeof value !== 'string' || !value.includes(',')) return Array.isArray(value) ? value[0] : value;
  // Node joins repeated headers with commas; the raw list tells a comma in a key from a repetition.
  const { rawHeaders } = request.raw;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === API_KEY_HEADER) return rawHeaders[index + 1];
  }
  return value;
}
