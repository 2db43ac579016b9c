import { type Refusal, refusal } from '../support/refusals.js';

/** A body: a value that is sent as JSON, text or bytes that are sent as they are, or what makes one of them. */
export type Body = object | string | Buffer | (() => string | Buffer);

/** A request that must be refused. */
export interface BadRequest {
  readonly name: string;
  readonly method: string;
  /** With query, below the API prefix unless it begins with `//`, which stands for the root. */
  readonly path: string;
  readonly body?: Body;
  readonly headers?: Record<string, string>;
  readonly refusal: Refusal;
}

/** 400 with `detail` alone: the body cannot even be decoded. */
export const UNDECODABLE = refusal('', 400, 'InvalidArgument', []);
export const NOTHING_HERE = refusal('RESOURCE_NOT_FOUND', 404, 'NotFound', []);
export const NOT_ALLOWED = refusal('METHOD_NOT_ALLOWED', 405, 'Unimplemented', []);

/** The bytes of a body. */
export function bytesOf(body: Body | undefined): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body;
  if (typeof body === 'function') return bytesOf(body());
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
