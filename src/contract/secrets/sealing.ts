import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = 'aes256gcm:';
const PLAIN = 'plain:';

/** Keeps texts so that only holders of the key can read them, if there is a key. */
export interface Sealing {
  readonly hasKey: boolean;
  /** `place` says what the text belongs to: it can be opened for the same place only. */
  seal(text: string, place: string): string;
  /** Null for a text that was sealed with another key or for another place, or is damaged. */
  open(stored: string, place: string): string | null;
}

/** Seals with AES-256-GCM. Without a key, of 32 bytes, texts are stored as they are. */
export function createSealing(key: Uint8Array | null): Sealing {
  return {
    hasKey: key !== null,
    seal(text, place) {
      if (key === null) return PLAIN + text;
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(place));
      const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return SEALED + sealed.toString('base64');
    },
    open(stored, place) {
      // A text of the time without a key stays readable.
      if (stored.startsWith(PLAIN)) return stored.slice(PLAIN.length);
      if (key === null || !stored.startsWith(SEALED)) return null;
      const bytes = Buffer.from(stored.slice(SEALED.length), 'base64');
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
      const end = bytes.length - TAG_BYTES;
      try {
        const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES))
          .setAAD(Buffer.from(place))
          .setAuthTag(bytes.subarray(end));
        return Buffer.concat([
          decipher.update(bytes.subarray(NONCE_BYTES, end)),
          decipher.final(),
        ]).toString();
      } catch {
        return null;
      }
    },
  };
}
