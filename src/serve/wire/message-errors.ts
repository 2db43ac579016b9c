import { Code, ConnectError } from '@connectrpc/connect';
import { JsonSyntaxError, parseStoredJson } from '../../../packages/exact-json/src/index.js';
import type { JsonCopy } from './json-copy.js';

/** Prefixes of Connect's messages for internal errors that are caused by the caller. */
const DECODE_ERROR = 'parse binary: ';
const COMPRESSION_ERROR = 'received compressed envelope';

const JSON_ERROR = /^cannot decode message \S+ from JSON: /;

/** The bytes are not a valid message; `reason` is the error text of protobuf-es. */
export function undecodableMessage(reason: string): ConnectError {
  return new ConnectError(`the request message cannot be decoded: ${reason}`, Code.InvalidArgument);
}

/** A message is marked as compressed, but the call declares no encoding. */
export function unexpectedCompression(): ConnectError {
  const text = 'a request message is marked as compressed, but the call states no encoding';
  return new ConnectError(text, Code.InvalidArgument);
}

/** Corrects a decode error; returns other errors unchanged. For streams, where it occurs while reading. */
export function correctedDecodeError(error: ConnectError): ConnectError {
  return correctedStatus(error.code, error.rawMessage) ?? error;
}

/**
 * Converts what Connect reports as an internal error to the caller error that it is; also invalid JSON, with
 * its position instead of an excerpt. Undefined for anything else.
 */
export function correctedStatus(
  code: Code,
  message: string,
  json: Pick<JsonCopy, 'text'> | null = null,
): ConnectError | undefined {
  if (code === Code.InvalidArgument && json !== null && JSON_ERROR.test(message)) return syntaxError(json);
  if (code !== Code.Internal) return undefined;
  if (message.startsWith(DECODE_ERROR)) return undecodableMessage(message.slice(DECODE_ERROR.length));
  return message.startsWith(COMPRESSION_ERROR) ? unexpectedCompression() : undefined;
}

function syntaxError(json: Pick<JsonCopy, 'text'>): ConnectError | undefined {
  try {
    parseStoredJson(json.text());
    return undefined;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) return undefined;
    return new ConnectError(`the request message is ${error.message}`, Code.InvalidArgument);
  }
}
