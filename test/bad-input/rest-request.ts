/** A body: a value that is sent as JSON, text or bytes that are sent as they are, or what makes one of them. */
export type Body = object | string | Buffer | (() => string | Buffer);

/** What a refused request is answered with. */
export interface Refusal {
  readonly status: number;
  /** Absent where the answer is outside the problem format. */
  readonly errorCode?: string;
  /** Every item as [field, code]; no field is ''. */
  readonly items?: readonly (readonly [field: string, code: string])[];
}

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

/** 422 with exactly these items. */
export function invalid(...items: [field: string, code: string][]): Refusal {
  return { status: 422, errorCode: 'VALIDATION_ERROR', items };
}

/** A problem with a code of its own, with these items if any. */
export function problem(
  status: number,
  errorCode: string,
  ...items: [field: string, code: string][]
): Refusal {
  return items.length === 0 ? { status, errorCode } : { status, errorCode, items };
}

/** 400 with `detail` alone: the body cannot even be decoded. */
export const UNDECODABLE: Refusal = { status: 400 };
export const NO_CONTROL = problem(404, 'CONTROL_NOT_FOUND');
export const NO_AGENT = problem(404, 'AGENT_NOT_FOUND');
export const NOTHING_HERE = problem(404, 'RESOURCE_NOT_FOUND');
export const NOT_ALLOWED = problem(405, 'METHOD_NOT_ALLOWED');
/** An invalid agent name in a path is the only problem told. */
export const BAD_PATH_NAME = invalid(['agent_name', 'invalid_format']);

/** The bytes of a body. */
export function bytesOf(body: Body | undefined): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body;
  if (typeof body === 'function') return bytesOf(body());
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
