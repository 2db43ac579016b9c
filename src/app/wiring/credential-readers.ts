import type { Config } from '../../contract/config/config.js';
import type { KeyReader } from '../../serve/auth/key-reader.js';
import {
  type CredentialReader,
  createCredentialReader,
  createForwardingCredentialReader,
  createKeylessCredentialReader,
  createTokenCredentialReader,
  withRuntimeCredentials,
} from '../../serve/auth/request-credentials.js';
import {
  type ForeignOriginCheck,
  foreignOriginCheck,
  keylessPageCheck,
} from '../../serve/auth/request-origin.js';

/** Headers that pages may send whatever else they may send: those that the settings name for credentials. */
export function credentialHeaders({ keyHeaders, runtime }: Config['auth']): readonly string[] {
  const takesTokens = runtime.mode === 'jwt' || runtime.mode === 'both';
  return takesTokens ? [...keyHeaders, runtime.header] : keyHeaders;
}

/** Reads the credentials of all calls, by the settings. `isForeignPage` is given if no call needs any. */
export function credentialReaderFor(
  config: Pick<Config, 'auth' | 'cors' | 'host'>,
  keys: KeyReader,
  isForeignPage: ForeignOriginCheck | null,
): CredentialReader {
  if (isForeignPage !== null) return createKeylessCredentialReader(isForeignPage);
  const isForeign = foreignOriginCheck(config.cors.origins);
  const others =
    config.auth.upstream === null
      ? createCredentialReader(isForeign, keys)
      : createForwardingCredentialReader(isForeign, keys);
  const { mode } = config.auth.runtime;
  if (mode === 'auth') return others;
  const evaluations =
    mode === 'none'
      ? createKeylessCredentialReader(keylessPageCheck(config))
      : createTokenCredentialReader(keys, mode === 'both' ? others : null);
  return withRuntimeCredentials(others, evaluations);
}
