import { type DescMethodUnary, fromJson, type JsonValue } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
} from '../../gen/proto/google/rpc/error_details_pb.js';
import type { RestReply } from './http.js';
import { methodNamed } from './protocol-clients.js';
import { type Encoding, toWire } from './wire-shape.js';

/** What an error tells people, whatever the protocol. */
export interface ToldError {
  /** HTTP status, or name of the gRPC code. */
  readonly status: number | string;
  /** Our error code. */
  readonly reason: string;
  /** The detail over REST, the message of the status over gRPC. */
  readonly detail: string;
  readonly items: readonly { readonly field: string; readonly code: string; readonly message: string }[];
}

/** The error of a JSON route. */
export function errorOfReply({ status, body }: RestReply): ToldError {
  const items: { field?: string; code: string; message: string }[] = body.errors ?? [];
  return {
    status,
    reason: body.error_code,
    detail: body.detail,
    items: items.map(({ field = '', code, message }) => ({ field, code, message })),
  };
}

const PROTO_JSON: Encoding = {
  freeForm: (value) => value,
  bytes: (text) => Buffer.from(text).toString('base64'),
  time: (text: string) => text,
};

/** Calls an RPC over gRPC with the plain form of its input. Rejects when it is not refused. */
export async function errorOfRpc(
  baseUrl: string,
  name: string,
  input: object,
  key?: string,
): Promise<ToldError> {
  const method = methodNamed(name) as DescMethodUnary;
  const message = fromJson(method.input, toWire(method.input, input, PROTO_JSON) as JsonValue);
  const headers = key === undefined ? {} : { 'x-api-key': key };
  const transport = createGrpcTransport({ baseUrl });
  const failure = await transport.unary(method, undefined, undefined, headers, message).then(
    () => undefined,
    (error: unknown) => ConnectError.from(error),
  );
  if (failure === undefined) throw new Error(`${name} was not refused`);
  const violations = failure.findDetails(BadRequestSchema)[0]?.fieldViolations ?? [];
  // Without a member of the request, the subject is the kind of a resource, which is written with a capital.
  const preconditions = (failure.findDetails(PreconditionFailureSchema)[0]?.violations ?? []).map(
    ({ type, subject, description }) => ({
      field: subject.replace(/^[A-Z].*/, ''),
      description,
      reason: type,
    }),
  );
  return {
    status: Code[failure.code],
    reason: failure.findDetails(ErrorInfoSchema)[0]?.reason ?? '',
    detail: failure.rawMessage,
    items: [...violations, ...preconditions].map(({ field, description, reason }) => ({
      field,
      code: reason.toLowerCase(),
      message: description,
    })),
  };
}

/** All that an error tells, as one text. */
export function toldText({ detail, items }: ToldError): string {
  return [detail, ...items.map(({ message }) => message)].join('\n');
}
