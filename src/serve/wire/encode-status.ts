import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import {
  BadRequestSchema,
  ErrorInfoSchema,
  HelpSchema,
  PreconditionFailureSchema,
  ResourceInfoSchema,
} from '../../../gen/proto/google/rpc/error_details_pb.js';
import { BackwardWriter } from './backward-writer.js';
import type { ReplyFields } from './reply.js';
import { CHALLENGE_HEADER } from './reply-headers.js';
import { PUSHBACK_TRAILER, pushbackOf, type RpcStatus, type StatusDetail } from './rpc-status.js';

// The tags below are those of google/rpc/status.proto, google/rpc/error_details.proto and
// google/protobuf/any.proto; test/serve/wire/encode-status.test.ts checks them.

/** Everything here is synchronous, so one writer is enough. */
const writer = new BackwardWriter();

/** A status as `google.rpc.Status`. */
export function encodeStatus({ code, message, details }: RpcStatus): Buffer {
  writer.start();
  for (let index = details.length - 1; index >= 0; index -= 1) {
    const before = writer.length;
    writeDetail(details[index] as StatusDetail);
    writer.message(0x1a, before);
  }
  if (message !== '') writer.string(0x12, message);
  if (code > 0) writer.varint(0x08, code);
  return writer.finish();
}

/** Fields of Any. */
function writeDetail({ desc, value }: StatusDetail): void {
  const before = writer.length;
  if (desc === ErrorInfoSchema) writeErrorInfo(value);
  else if (desc === BadRequestSchema) writeBadRequest(value);
  else if (desc === HelpSchema) writeHelp(value);
  else if (desc === ResourceInfoSchema) writeResourceInfo(value);
  else if (desc === PreconditionFailureSchema) writePreconditionFailure(value);
  else {
    const bytes = toBinary(desc, create(desc, value));
    if (bytes.length > 0) writer.bytes(0x12, bytes);
    writer.string(0x0a, typeUrl(desc.typeName));
    return;
  }
  if (writer.length > before) writer.message(0x12, before);
  writer.string(0x0a, typeUrl(desc.typeName));
}

function typeUrl(typeName: string): string {
  return `type.googleapis.com/${typeName}`;
}

function writeErrorInfo({ reason, domain, metadata = {} }: MessageInitShape<typeof ErrorInfoSchema>): void {
  for (const [key, value] of Object.entries(metadata).reverse()) {
    const before = writer.length;
    writer.string(0x12, value);
    writer.string(0x0a, key);
    writer.message(0x1a, before);
  }
  writeText(0x12, domain);
  writeText(0x0a, reason);
}

function writeBadRequest({ fieldViolations = [] }: MessageInitShape<typeof BadRequestSchema>): void {
  for (const { field, description, reason } of fieldViolations.toReversed()) {
    const before = writer.length;
    writeText(0x1a, reason);
    writeText(0x12, description);
    writeText(0x0a, field);
    writer.message(0x0a, before);
  }
}

function writeHelp({ links = [] }: MessageInitShape<typeof HelpSchema>): void {
  for (const { description, url } of links.toReversed()) {
    const before = writer.length;
    writeText(0x12, url);
    writeText(0x0a, description);
    writer.message(0x0a, before);
  }
}

function writeResourceInfo(value: MessageInitShape<typeof ResourceInfoSchema>): void {
  writeText(0x22, value.description);
  writeText(0x1a, value.owner);
  writeText(0x12, value.resourceName);
  writeText(0x0a, value.resourceType);
}

function writePreconditionFailure({
  violations = [],
}: MessageInitShape<typeof PreconditionFailureSchema>): void {
  for (const { type, subject, description } of violations.toReversed()) {
    const before = writer.length;
    writeText(0x1a, description);
    writeText(0x12, subject);
    writeText(0x0a, type);
    writer.message(0x0a, before);
  }
}

/** Omits an empty text. */
function writeText(tag: number, text: string | undefined): void {
  if (text !== undefined && text !== '') writer.string(tag, text);
}

/** The trailers of a successful call. */
export const OK_TRAILERS: ReplyFields = { 'grpc-status': '0' };

/** The trailers of a status; its message is escaped only as far as gRPC requires. */
export function statusTrailers(status: RpcStatus): ReplyFields {
  const { code, message, details, challenge } = status;
  const trailers: ReplyFields = {
    'grpc-status': String(code),
    // Field values must not begin or end with blanks (RFC 9113, section 8.2.1); the field would be dropped.
    'grpc-message': encodeGrpcMessage(message.trim()),
  };
  const pushback = pushbackOf(status);
  if (pushback !== undefined) trailers[PUSHBACK_TRAILER] = pushback;
  if (challenge !== undefined) trailers[CHALLENGE_HEADER] = challenge;
  if (details.length > 0) {
    const bytes = encodeStatus(status);
    // Without padding, as gRPC recommends (gRPC over HTTP2, "Binary-Header").
    trailers['grpc-status-details-bin'] = bytes
      .toString('base64')
      .slice(0, Math.ceil((bytes.length * 4) / 3));
  }
  return trailers;
}

/** Characters that a status message must escape: all but printable ASCII, and the escape character itself. */
const MUST_ESCAPE = /[^\x20-\x24\x26-\x7e]+|%/gu;

/** Most characters of an encoded message: clients commonly accept 8 KiB of trailers. Only other scripts are longer. */
const MAX_ENCODED_LENGTH = 1_400;
const ELLIPSIS = '%E2%80%A6';

/**
 * Percent-encodes a status message only as far as the gRPC protocol requires (gRPC over HTTP2, "Responses").
 * Connect escapes all punctuation, which grpc-js, for example, does not decode.
 */
export function encodeGrpcMessage(message: string): string {
  const encoded = message.replace(MUST_ESCAPE, encodeURIComponent);
  return encoded.length > MAX_ENCODED_LENGTH ? shortEncoding(message) : encoded;
}

function shortEncoding(message: string): string {
  let encoded = '';
  for (const character of message) {
    const next = character.replace(MUST_ESCAPE, encodeURIComponent);
    if (encoded.length + next.length + ELLIPSIS.length > MAX_ENCODED_LENGTH) break;
    encoded += next;
  }
  return encoded + ELLIPSIS;
}

/** Most characters, and most bytes, of a text in the details: names of parameters are arbitrary. */
const MAX_TEXT_LENGTH = 500;
const MAX_TEXT_BYTES = 502;

/** Shortens a text to fit into trailers, without lone surrogates. */
export function shortened(text: string): string {
  return withinBytes(
    text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH - 1)}…` : text,
    MAX_TEXT_BYTES,
  );
}

/** Shortens a text to a size in UTF-8, without lone surrogates, which cannot be sent. */
export function withinBytes(text: string, maxBytes: number): string {
  // A UTF-16 code unit takes at most three bytes.
  if (3 * text.length <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text.toWellFormed();
  const bytes = Buffer.from(text).subarray(0, maxBytes - Buffer.byteLength('…'));
  // A character that is cut in two is left out.
  return `${new TextDecoder().decode(bytes, { stream: true })}…`;
}
