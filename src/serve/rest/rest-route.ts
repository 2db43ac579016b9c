import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { ErrorForm } from '../../contract/call/handler.js';
import type { Call } from '../call/call.js';
import type { HttpBinding, RpcMethod } from '../descriptors/rpc-methods.js';
import type { ArrivedBody } from './rest-body.js';
import type { FailedRequest } from './rest-errors.js';

/** A JSON reply, already as text, or as its bytes in UTF-8. */
export type RestReply = string | Buffer;

/** The part of a request that a route receives. */
export type RestRequest = ArrivedBody & FailedRequest & Pick<FastifyRequest, 'params' | 'query'>;

/** The implementation of a JSON route. */
export interface RestRoute {
  readonly method: RpcMethod;
  readonly binding: HttpBinding;
  /** Path with the configured prefix, for example `/api/v1/controls/{control_id}`. */
  readonly template: string;
  /** Schema of the input; for the documentation of the route. */
  readonly input: z.ZodType;
  /** How errors of the route are shown; undefined for problem bodies. */
  readonly errorForm?: ErrorForm | undefined;
  /** See `Handler.isBulk`. */
  readonly isBulk?: boolean | undefined;
  /** The reply; an iterable of lines when the RPC answers with a stream. */
  run(request: RestRequest, call: Call): RestReply | Promise<RestReply> | AsyncIterable<string>;
}
