import { createHash } from 'node:crypto';
import { LIMITS } from '../../../gen/limits/limits.js';
import { stringifyJson } from '../../../packages/exact-json/src/index.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import { text } from '../../contract/input/fields.js';
import { withServiceErrors } from './errors.js';
import type { Scoped } from './scoped.js';

/** How long a call is not repeated, in milliseconds. */
export const IDEMPOTENCY_MS = 24 * 3_600_000;

/** A call that its client may repeat. */
export interface RepeatableCall {
  /** Name of the RPC: keys of different RPCs are different. */
  readonly rpc: string;
  /** The idempotency key that the client sent; without one each call is a new one. */
  readonly key: string | undefined;
  /** What the client asked for, as JSON: repeated calls must ask for the same. */
  readonly request: object;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** What a call made, or what the first call with its key made. */
export interface Made<T> {
  readonly value: T;
  readonly isRepeat: boolean;
}

/** Reads an idempotency key. */
export const idempotencyKey = () => text(LIMITS.CreateKeyRequest.idempotency_key);

/**
 * Runs `make` for the first call with an idempotency key only; a repeated one gets the value that the first one made. To be
 * called in a transaction of the mutator, which `make` also writes in, so that both are kept or neither is. `make` must
 * return what JSON can hold, without secrets: it is stored. Throws IDEMPOTENCY_CONFLICT for a key of another request.
 */
export async function once<T extends object>(
  { client, namespace }: Scoped,
  { rpc, key, request, nowMs }: RepeatableCall,
  make: () => Promise<T>,
): Promise<Made<T>> {
  if (key === undefined) return { value: await make(), isRepeat: false };
  const place = { namespace: namespace.name, rpc, keyHash: sha256(key) };
  const requestHash = sha256(stringifyJson(request as never));
  const found = await withServiceErrors(async () => {
    await client.idempotencyKey.deleteMany({
      where: { createdAtMs: { lt: BigInt(nowMs - IDEMPOTENCY_MS) } },
    });
    return client.idempotencyKey.findUnique({ where: { namespace_rpc_keyHash: place } });
  });
  if (found !== null) {
    if (found.requestHash !== requestHash) throw otherRequest();
    return { value: JSON.parse(found.result) as T, isRepeat: true };
  }
  const value = await make();
  await withServiceErrors(() =>
    client.idempotencyKey.create({
      data: { ...place, requestHash, result: JSON.stringify(value), createdAtMs: BigInt(nowMs) },
      select: { rpc: true },
    }),
  );
  return { value, isRepeat: false };
}

function otherRequest(): ServiceError {
  return new ServiceError('IDEMPOTENCY_CONFLICT', {
    detail: 'This idempotency key was sent with another request in the last 24 hours.',
    hint: 'Send each new request with a new key, and repeat a request as it was.',
    items: [
      {
        resource: 'Request',
        field: 'idempotency_key',
        code: 'idempotency_conflict',
        message: 'was sent with another request',
      },
    ],
  });
}

function sha256(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}
