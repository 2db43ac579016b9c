import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** An entry of a keys file. */
export interface KeyEntry {
  readonly name: string;
  readonly key?: string;
  readonly sha256?: string;
  readonly certificate?: string;
  /** Name of a role. Either it or scopes. */
  readonly role?: string;
  readonly scopes?: readonly string[];
  readonly namespace?: string;
  readonly expires_at?: string;
  readonly agents?: readonly string[];
}

/** A keys file in a folder of its own, and the settings of a service that reads it. */
export interface TestKeysFile {
  readonly file: string;
  readonly folder: string;
  readonly environment: Record<string, string>;
  /** Replaces the entries, at once. */
  set(entries: readonly KeyEntry[]): void;
  /** Replaces the whole text, at once. */
  write(text: string): void;
  remove(): void;
}

export function createKeysFile(entries: readonly KeyEntry[]): TestKeysFile {
  const folder = mkdtempSync(path.join(tmpdir(), 'keys-'));
  const file = path.join(folder, 'keys.json');
  const write = (text: string): void => {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  const set = (keys: readonly KeyEntry[]) => write(JSON.stringify({ keys }));
  set(entries);
  return {
    file,
    folder,
    environment: { SERVICE_API_KEY_ENABLED: 'true', SERVICE_KEYS_FILE: file },
    set,
    write,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
