import { createHmac } from 'node:crypto';
import { BoundedMap } from '../../contract/runtime/bounded-map.js';
import type { MemoryKey, StepIdentity } from '../../kernel/core/memory.js';

/** 22 characters of base64url: 132 bits, far more than any number of keys needs to stay apart. */
const HASH_LENGTH = 22;
/** Ids of cells that are remembered: computing one takes longer than deciding a simple step. */
const KNOWN_IDS = 50_000;
/** Keys are bounded by the messages they are made of; longer texts are not worth remembering. */
const LONGEST_KNOWN = 512;

/** HMAC-SHA256 of texts (RFC 2104), in base64url, shortened: the same for all processes with this key. */
export function keyedHash(key: Uint8Array): (text: string) => string {
  return (text) => createHmac('sha256', key).update(text).digest('base64url').slice(0, HASH_LENGTH);
}

/** Ids of cells, and hashes of steps. Different meanings never have the same text, and so never the same hash. */
export interface MemoryIds {
  readonly hash: (text: string) => string;
  cellOf(namespace: string, key: MemoryKey): string;
  /** Null without a step id. */
  stepOf(identity: StepIdentity): string | null;
}

export function createMemoryIds(key: Uint8Array): MemoryIds {
  const hash = keyedHash(key);
  const known = new BoundedMap<string, string>({ entries: KNOWN_IDS });
  return {
    hash,
    cellOf(namespace, { parts }) {
      const text = JSON.stringify([namespace, ...parts]);
      const id = known.get(text);
      if (id !== undefined) return id;
      const made = createHmac('sha256', key).update(text).digest('base64url');
      if (text.length <= LONGEST_KNOWN) known.set(text, made);
      return made;
    },
    stepOf({ namespace, agent, sessionId, stepId }) {
      return stepId === null ? null : hash(JSON.stringify(['step', namespace, agent, sessionId, stepId]));
    },
  };
}
