import { createClient } from '@connectrpc/connect';
import { useQuery } from '@connectrpc/connect-query';
import { type ApiKey, KeyService, type ListRolesResponse } from '@gen/enforcement/v1/key_service_pb.js';
import { type FormEvent, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { newIdempotencyKey } from '../data/idempotency-key.js';
import { transport } from '../data/transport.js';
import { useRefresh } from '../data/use-change.js';
import MissingScope from '../limited/missing-scope.js';
import { useMay, useSession } from '../session/session-context.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Problem, QueryState } from '../ui/states.js';
import { canGive, draftProblem, emptyDraft, type KeyDraft, requestOf } from './key-draft.js';
import { KeyForm } from './key-form.js';
import { NewSecret } from './new-secret.js';

const keys = createClient(KeyService, transport);

/** Makes a key, and shows its secret once. */
export default function NewKeyPage() {
  const mayWrite = useMay('keys.write');
  const roles = useQuery(KeyService.method.listRoles, {}, { enabled: mayWrite });
  if (!mayWrite) return <MissingScope scope="keys.write" />;
  return (
    <Page title="New key">
      <QueryState query={roles} what="the roles">
        {(data) => <NewKey roles={data} />}
      </QueryState>
    </Page>
  );
}

/** What became of the call. The secret is absent if an earlier try, whose reply was lost, made the key. */
interface Made {
  readonly key: ApiKey;
  readonly secret: string | undefined;
}

function NewKey({ roles: { roles, scopes } }: { readonly roles: ListRolesResponse }) {
  const { state } = useSession();
  const [, open] = useLocation();
  const { get } = useAddressFilter();
  const refresh = useRefresh();
  const [namespace, own] =
    state.kind === 'ready' ? [state.namespace, state.scopes] : ['default', 'all' as const];
  const least = roles.find((role) => canGive(role, own))?.name ?? '';
  const [draft, setDraft] = useState(() => emptyDraft(least, get('namespace') || namespace));
  const [problem, setProblem] = useState<string>();
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const [made, setMade] = useState<Made>();
  /** The same for every try with the same content, so that no try makes a second key. */
  const attempt = useRef<ReturnType<typeof requestOf>>(undefined);
  const change = (next: KeyDraft): void => {
    attempt.current = undefined;
    setDraft(next);
    setProblem(undefined);
  };

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    const found = draftProblem(draft, Date.now());
    setProblem(found);
    if (found !== undefined || isBusy) return;
    setBusy(true);
    setError(null);
    try {
      attempt.current ??= {
        ...requestOf(draft, namespace, Date.now()),
        idempotencyKey: newIdempotencyKey(),
      };
      // Not a mutation of the cache, which would keep the secret.
      const { key, secret } = await keys.createKey(attempt.current);
      refresh(KeyService.method.createKey);
      if (key !== undefined) setMade({ key, secret });
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  }

  if (made?.secret !== undefined) {
    const address = made.key.namespace === namespace ? `/keys/${made.key.id}` : '/keys';
    return (
      <NewSecret
        name={made.key.name}
        secret={made.secret}
        onDone={() => {
          setMade(undefined);
          open(address);
        }}
      />
    );
  }
  if (made !== undefined) {
    return (
      <p className="notice">
        The key was made by a try before, whose reply did not arrive: its secret cannot be shown again. Rotate{' '}
        <Link href={`/keys/${made.key.id}`}>the key</Link> for another one.
      </p>
    );
  }
  return (
    <form className="key-form card" aria-label="New key" onSubmit={submit}>
      <KeyForm draft={draft} onChange={change} roles={roles} scopes={scopes} own={own} />
      {problem !== undefined && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <Problem error={error} />
      <div className="links">
        <button type="submit" className="primary" disabled={isBusy}>
          {isBusy ? 'Creating…' : 'Create the key'}
        </button>
        <Link href="/keys">Cancel</Link>
      </div>
    </form>
  );
}
