import { type Contexts, readContexts } from './contexts.js';
import { CliError } from './errors.js';
import type { Surroundings } from './surroundings.js';

/** How a server is called. */
export interface Connection {
  /** Its address, without a path. */
  readonly server: string;
  /** The headers with the credential, if there is one. */
  readonly headers: Readonly<Record<string, string>>;
  /** The context that it is from; undefined if flags or variables say everything. */
  readonly context: string | undefined;
}

/** What flags say about the server. */
export interface ConnectionFlags {
  readonly server: string | undefined;
  readonly key: string | undefined;
  readonly context: string | undefined;
}

/** Variables of the environment that stand in for flags. */
export const VARIABLES = {
  server: 'CONTROL_ENFORCEMENT_SERVER',
  key: 'CONTROL_ENFORCEMENT_API_KEY',
  context: 'CONTROL_ENFORCEMENT_CONTEXT',
} as const;

type Warn = (text: string) => Promise<void>;

/** The server of flags, then of variables, then of the context. A credential is used for its own server only. */
export async function connectionOf(
  flags: ConnectionFlags,
  { env }: Pick<Surroundings, 'env'>,
  warn: Warn,
): Promise<Connection> {
  if (flags.key !== undefined) {
    await warn(
      `a key on the command line is seen in the list of processes and in the history of the shell; use control-enforcement login, or ${VARIABLES.key}`,
    );
  }
  const contexts = await readContexts(env, warn);
  const named = flags.context ?? given(env[VARIABLES.context]);
  const address = flags.server ?? (named === undefined ? given(env[VARIABLES.server]) : undefined);
  const name = named ?? (address === undefined ? contexts.current : contextOf(contexts, address));
  const context = name === undefined ? undefined : contexts.contexts[name];
  if (named !== undefined && context === undefined) {
    const known = Object.keys(contexts.contexts);
    throw new CliError(
      `there is no context ${named}`,
      known.length === 0
        ? 'Make it with control-enforcement login --context NAME.'
        : `There are: ${known.join(', ')}.`,
    );
  }
  const server = address ?? context?.server;
  if (server === undefined) {
    throw new CliError(
      'no server is given',
      `Give --server URL, set ${VARIABLES.server}, or make a context with control-enforcement login.`,
    );
  }
  const checked = checkedServer(server);
  const key = flags.key ?? given(env[VARIABLES.key]);
  const own = context !== undefined && checkedServer(context.server) === checked ? context : undefined;
  const headers = key === undefined ? contextHeaders(own) : { 'x-api-key': demandSendable(key) };
  if (Object.keys(headers).length > 0 && isPlainFar(checked)) {
    await warn(`the credential is sent to ${checked} without encryption; use https://`);
  }
  return { server: checked, headers, context: own === undefined ? undefined : name };
}

function given(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : text;
}

/** The context of a server that is named by its address: the current one if it is of it, else the first. */
function contextOf({ current, contexts }: Contexts, address: string): string | undefined {
  const server = checkedServer(address);
  const names = Object.keys(contexts).filter((name) => contexts[name]?.server === server);
  return current !== undefined && names.includes(current) ? current : names[0];
}

function contextHeaders(context: Contexts['contexts'][string] | undefined): Record<string, string> {
  if (context?.key !== undefined) return { 'x-api-key': context.key };
  if (context?.token === undefined) return {};
  if (context.token.expires_at !== undefined && context.token.expires_at * 1_000 < Date.now()) {
    throw new CliError('the login has expired', 'Log in again: control-enforcement login --oidc.');
  }
  return { authorization: `Bearer ${context.token.value}` };
}

/** The address of a server, without a path. */
export function checkedServer(text: string): string {
  const example = 'for example https://controls.example.com';
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new CliError(
      `the server must be an address that begins with http:// or https://`,
      `Write it whole, ${example}.`,
    );
  }
  const { origin, pathname, search, hash, username, password } = new URL(text);
  if (username !== '' || password !== '') {
    throw new CliError(
      'the address of the server must have no user name or password',
      `Use ${origin}, and a key.`,
    );
  }
  if (pathname !== '/' || search !== '' || hash !== '') {
    throw new CliError('the address of the server must have no path', `Use ${origin}.`);
  }
  return origin;
}

/** Whether a server is another machine that is called without TLS. */
function isPlainFar(server: string): boolean {
  const { protocol, hostname } = new URL(server);
  return protocol === 'http:' && !/^(localhost|127\..*|\[::1\])$/.test(hostname);
}

/** A key that a header can carry. */
export function demandSendable(key: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new CliError(
    'the key has characters that no key has',
    'Check that the key was copied whole, without blanks.',
  );
}
