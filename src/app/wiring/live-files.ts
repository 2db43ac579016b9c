import type { FastifyBaseLogger } from 'fastify';
import { type RoleTable, roleTable } from '../../contract/call/scopes.js';
import type { Config } from '../../contract/config/config.js';
import { reasonOf } from '../../contract/runtime/repeat-log.js';
import { KeyRing } from '../../serve/auth/key-ring.js';
import { readKeysFile } from '../../serve/auth/keys-file.js';
import type { Listener } from '../../serve/listener/listener.js';
import { type WatchedFiles, watchFiles } from '../process/watched-files.js';
import { checkTlsFiles, credentialsOf, readNamed, readTlsFiles, tlsFileNames } from './tls-files.js';

/** The files that are read again while the service runs. */
export interface LiveFiles {
  /** Reads all of them now. */
  reload(): void;
  /** The contents of the TLS files in use, in the order of `tlsFileNames`; empty without TLS. */
  readonly tls: readonly Buffer[];
  stop(): void;
}

/** What is in use, and where it is used. */
export interface LiveFilesOptions {
  readonly config: Pick<Config, 'auth' | 'tls'>;
  readonly keyRing: KeyRing;
  readonly listener: Pick<Listener, 'renewTls'>;
  /** The contents of the files at the start. */
  readonly initial: StartFiles;
  readonly log: Pick<FastifyBaseLogger, 'info' | 'error'>;
  readonly metrics: { reloaded(file: 'keys' | 'tls', result: 'used' | 'refused'): void };
}

/** The contents of the files at the start; empty without such files. */
export interface StartFiles {
  readonly keys: readonly Buffer[];
  readonly tls: readonly Buffer[];
}

/** Reads all files, and the keys into the ring. Throws an Error with the variable, the file and the reason. */
export function readStartFiles({ auth, tls }: Pick<Config, 'auth' | 'tls'>, keyRing: KeyRing): StartFiles {
  const keys = auth.keysFile === null ? [] : [readNamed('SERVICE_KEYS_FILE', auth.keysFile)];
  const roles = roleTable(auth.validationAccess);
  for (const content of keys) useKeys(auth.keysFile ?? '', content, keyRing, roles);
  return { keys, tls: tls === null ? [] : readTlsFiles(tls) };
}

/** Checks the files that each of several processes will read. Throws like `readStartFiles`. */
export function checkStartFiles(config: Pick<Config, 'auth' | 'tls'>): void {
  const keyRing = new KeyRing(config.auth, undefined, roleTable(config.auth.validationAccess));
  readStartFiles(config, keyRing);
  keyRing.close();
}

/** Watches the keys file and the TLS files. What cannot be used is reported, and what is in use stays in use. */
export function createLiveFiles(options: LiveFilesOptions): LiveFiles {
  const { config, keyRing, listener, initial, log, metrics } = options;
  const watched: WatchedFiles[] = [];

  function watch(
    kind: 'keys' | 'tls',
    files: readonly string[],
    use: (contents: readonly Buffer[]) => object,
  ) {
    watched.push(
      watchFiles({
        files,
        initial: initial[kind],
        apply(contents) {
          const facts = use(contents);
          metrics.reloaded(kind, 'used');
          log.info({ files, ...facts }, USED[kind]);
        },
        onProblem(error) {
          metrics.reloaded(kind, 'refused');
          log.error({ files, reason: reasonOf(error) }, REFUSED[kind]);
        },
      }),
    );
  }

  const { keysFile, validationAccess } = config.auth;
  const roles = roleTable(validationAccess);
  if (keysFile !== null) {
    watch('keys', [keysFile], ([content]) => ({
      keys: useKeys(keysFile, content ?? Buffer.alloc(0), keyRing, roles),
    }));
  }
  const { tls } = config;
  let tlsInUse = initial.tls;
  if (tls !== null) {
    watch('tls', tlsFileNames(tls), (contents) => {
      checkTlsFiles(tls, contents);
      listener.renewTls(credentialsOf(contents));
      tlsInUse = contents;
      return {};
    });
  }
  return {
    reload() {
      if (watched.length === 0)
        log.info({}, 'there is no file to read again: settings are read at the start only');
      for (const files of watched) void files.check();
    },
    get tls() {
      return tlsInUse;
    },
    stop() {
      for (const files of watched) files.stop();
      keyRing.close();
    },
  };
}

const USED = {
  keys: 'the keys file has changed: its keys are in use',
  tls: 'the TLS files have changed: new connections get the new certificate',
};
const REFUSED = {
  keys: 'the keys file cannot be used: the keys before stay in use',
  tls: 'the TLS files cannot be used: the certificate before stays in use',
};

/** Returns the number of keys. */
function useKeys(file: string, content: Buffer, keyRing: KeyRing, roles: RoleTable): number {
  try {
    const keys = readKeysFile(content, keyRing.fixed, roles);
    keyRing.replace(keys);
    return keys.length;
  } catch (cause) {
    throw new Error(`SERVICE_KEYS_FILE=${file} cannot be used`, { cause });
  }
}
