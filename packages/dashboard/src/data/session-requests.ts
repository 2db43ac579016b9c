import { apiPrefix } from './rest-address.js';

/** Authentication settings of the server, and whether this browser is signed in. */
export interface SessionConfig {
  readonly requires_api_key: boolean;
  readonly has_active_session: boolean;
  /** Another place to sign in: its name, and the address that leads there. */
  readonly sign_in?: { readonly name: string; readonly path: string };
}

export async function readSessionConfig(): Promise<SessionConfig> {
  const reply = await fetch(`${apiPrefix}/config`, { cache: 'no-store' });
  if (!reply.ok) throw new Error(`The server answered ${reply.status} to the question for the session.`);
  return (await reply.json()) as SessionConfig;
}

/** Signs in. Returns the reason of a refusal, or null. */
export async function signIn(apiKey: string): Promise<string | null> {
  const reply = await fetch(`${apiPrefix}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: apiKey }),
  });
  if (reply.ok) {
    await reply.body?.cancel();
    return null;
  }
  if (reply.status === 401) return 'The server does not know this key.';
  return refusalOf(reply);
}

/** Has the session of this browser work in another namespace, with another cookie. */
export async function switchNamespace(namespace: string): Promise<void> {
  const reply = await fetch(`${apiPrefix}/namespace`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ namespace }),
  });
  if (!reply.ok) throw new Error(await refusalOf(reply));
  await reply.body?.cancel();
}

async function refusalOf(reply: Response): Promise<string> {
  const body = (await reply.json().catch(() => ({}))) as { detail?: unknown };
  return typeof body.detail === 'string' ? body.detail : `The server answered ${reply.status}.`;
}

export async function signOut(): Promise<void> {
  const reply = await fetch(`${apiPrefix}/logout`, { method: 'POST' });
  if (!reply.ok) throw new Error(`The server answered ${reply.status} to the sign-out.`);
}
