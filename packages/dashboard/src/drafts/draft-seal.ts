import { isJsonObject } from '../code/json-members.js';
import type { Draft } from './draft.js';
import { draftDatabase, type SealedDraft } from './draft-database.js';

const ALGORITHM = 'AES-GCM';
const NONCE_BYTES = 12;

/** Encrypts a draft with the key of its owner, which leaves the browser in no form. */
export async function sealDraft(owner: string, draft: Draft): Promise<SealedDraft> {
  const { place, savedAt, title, value } = draft;
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const text = new TextEncoder().encode(JSON.stringify({ title, value }));
  const content = await crypto.subtle.encrypt(
    { name: ALGORITHM, iv: nonce, additionalData: boundTo(owner, place) },
    await keyOf(owner),
    text,
  );
  return { owner, place, savedAt, nonce, content };
}

/** The content of a sealed draft; null if it cannot be read, for example because its key is gone. */
export async function openDraft(sealed: SealedDraft): Promise<Draft | null> {
  const { owner, place, savedAt, nonce, content } = sealed;
  try {
    const bytes = await crypto.subtle.decrypt(
      { name: ALGORITHM, iv: nonce, additionalData: boundTo(owner, place) },
      await keyOf(owner),
      content,
    );
    const read: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (!isJsonObject(read) || typeof read.title !== 'string') return null;
    return { place, savedAt, title: read.title, value: read.value ?? null };
  } catch {
    return null;
  }
}

/** A content cannot be passed off as that of another place. */
function boundTo(owner: string, place: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${owner}\n${place}`);
}

async function keyOf(owner: string): Promise<CryptoKey> {
  const fresh = await crypto.subtle.generateKey({ name: ALGORITHM, length: 256 }, false, [
    'encrypt',
    'decrypt',
  ]);
  return draftDatabase.keyOf(owner, fresh);
}
