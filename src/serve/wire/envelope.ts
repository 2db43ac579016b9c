/** Bytes before each message in an envelope: flags and length, the same in every protocol that has envelopes. */
export const PREFIX_LENGTH = 5;

/** Flags in the first byte of an envelope. */
export const ENVELOPE_FLAGS = {
  compressed: 0x01,
  /** The end of a stream of Connect. */
  endOfStream: 0x02,
  /** The trailers of gRPC-Web ("Message framing"). */
  trailers: 0x80,
} as const;

/** Writes the prefix of a message of `length` bytes. */
export function writePrefix(target: Buffer, at: number, flags: number, length: number): void {
  target[at] = flags;
  target.writeUInt32BE(length, at + 1);
}

/** A message in its envelope. */
export function inEnvelope(flags: number, message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(PREFIX_LENGTH + message.length);
  writePrefix(framed, 0, flags, message.length);
  framed.set(message, PREFIX_LENGTH);
  return framed;
}

/** The same for a text: of UTF-8, or of ASCII alone. */
export function textInEnvelope(flags: number, text: string): Buffer {
  const length = Buffer.byteLength(text);
  const framed = Buffer.allocUnsafe(PREFIX_LENGTH + length);
  writePrefix(framed, 0, flags, length);
  framed.write(text, PREFIX_LENGTH, 'utf8');
  return framed;
}
