import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';

/** Smallest reply that is compressed, in bytes: below, the gain is not worth the time. */
export const MIN_GZIP_BYTES = 1_024;

const compress = promisify(gzip);

/** Compresses outside the event loop, at the fastest level: evaluations share the processors. */
export function gzipped(bytes: Uint8Array | string): Promise<Buffer> {
  return compress(bytes, { level: constants.Z_BEST_SPEED });
}

/** Whether the value of an Accept-Encoding header names gzip, without forbidding it by a weight of 0. */
export function acceptsGzip(accepted: string | readonly string[] | undefined): boolean {
  if (accepted === undefined) return false;
  const text = typeof accepted === 'string' ? accepted : accepted.join();
  return text.split(',').some((one) => {
    const [name = '', ...parameters] = one.split(';').map((part) => part.trim().toLowerCase());
    return name === 'gzip' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}
