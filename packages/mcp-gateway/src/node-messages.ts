import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of bytes; throws for bytes that are no UTF-8, which readers could take for different texts. */
export const utf8Text = (bytes: Uint8Array): string => UTF8.decode(bytes);

/** The whole body of a message; undefined if it is larger than it may be: the rest is not read. */
export async function wholeBody(message: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  if (Number(message.headers['content-length'] ?? 0) > maxBytes) return undefined;
  const chunks: Buffer[] = [];
  let read = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    read += chunk.length;
    if (read > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The headers of a message as those of the web. */
export const headerPairs = (headers: IncomingHttpHeaders): [name: string, value: string][] =>
  Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
