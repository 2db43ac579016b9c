import { createClient } from '@connectrpc/connect';
import { useQuery } from '@connectrpc/connect-query';
import { type ApiKey, KeyService } from '@gen/enforcement/v1/key_service_pb.js';
import { useState } from 'react';
import { Link } from 'wouter';
import { transport } from '../data/transport.js';
import { useChange, useRefresh } from '../data/use-change.js';
import MissingScope from '../limited/missing-scope.js';
import { ScopeList } from '../session/scope-list.js';
import { useMay } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { Fact } from '../ui/fact.js';
import { ByNumber } from '../ui/page/by-number.js';
import { Page } from '../ui/page/page.js';
import { QueryState } from '../ui/states.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { AgentsText, ExpiryText, KeyStateBadge, LastUse, roleText } from './key-columns.js';
import { hasEnded } from './key-state.js';
import { NewSecret } from './new-secret.js';
import { RotateKey } from './rotate-key.js';

const keys = createClient(KeyService, transport);

/** One key: what it can do, when it was used, and what ends it. */
export default function KeyPage() {
  const mayRead = useMay('keys.read');
  if (!mayRead) return <MissingScope scope="keys.read" />;
  return <ByNumber what="A key">{(id) => <KeyOfId key={id} keyId={id} />}</ByNumber>;
}

/** A secret that rotating has made. */
interface Rotated {
  readonly secret: string;
  readonly previousSecretUntil: string | undefined;
}

function KeyOfId({ keyId }: { readonly keyId: number }) {
  const mayWrite = useMay('keys.write');
  const refresh = useRefresh();
  const query = useQuery(KeyService.method.getKey, { keyId });
  const [rotated, setRotated] = useState<Rotated>();
  const key = query.data?.key;
  const name = key?.name ?? `Key ${keyId}`;
  const rotate = async (overlapSeconds: number): Promise<void> => {
    // Not a mutation of the cache, which would keep the secret.
    const reply = await keys.rotateKey({ keyId, overlapSeconds });
    setRotated({ secret: reply.secret, previousSecretUntil: reply.key?.previousSecretUntil });
    refresh(KeyService.method.rotateKey);
  };
  return (
    <Page
      title={name}
      heading={<UserText text={name} />}
      actions={
        mayWrite &&
        key !== undefined &&
        !hasEnded(key, Date.now()) && (
          <span className="links">
            {rotated === undefined && <RotateKey name={key.name} onRotate={rotate} />}
            <RevokeKey apiKey={key} />
          </span>
        )
      }
    >
      {rotated !== undefined && (
        <NewSecret
          name={name}
          secret={rotated.secret}
          note={overlapText(rotated.previousSecretUntil)}
          onDone={() => setRotated(undefined)}
        />
      )}
      <QueryState query={query} what="the key">
        {({ key: found }) => found !== undefined && <KeyFacts apiKey={found} />}
      </QueryState>
      <p>
        <Link href="/keys">All keys</Link>
      </p>
    </Page>
  );
}

function overlapText(until: string | undefined): string {
  if (until === undefined) return 'The secret before is not valid any more.';
  return `The secret before stays valid until ${new Date(until).toLocaleString('en-GB')}: change it everywhere by then.`;
}

function KeyFacts({ apiKey }: { readonly apiKey: ApiKey }) {
  const { owner, namespace, agents, scopes, createdAt, createdBy, rotatedAt, revokedAt } = apiKey;
  return (
    <div className="stack">
      <section className="card" aria-label="Key">
        <dl className="facts">
          <Fact name="State">
            <KeyStateBadge apiKey={apiKey} />
          </Fact>
          <Fact name="Owner">{owner === undefined ? 'none' : <UserText text={owner} />}</Fact>
          <Fact name="Role">{roleText(apiKey)}</Fact>
          <Fact name="Namespace">
            <UserText text={namespace} />
          </Fact>
          <Fact name="Agents">
            <AgentsText agents={agents} />
          </Fact>
          <Fact name="Expires">
            <ExpiryText expiresAt={apiKey.expiresAt} />
          </Fact>
          <Fact name="Last use">
            <LastUse time={apiKey.lastUsedAt} />
          </Fact>
          <Fact name="Created">
            <TimeText time={createdAt} />
            {createdBy !== undefined && (
              <>
                {' '}
                by <UserText text={createdBy} />
              </>
            )}
          </Fact>
          {rotatedAt !== undefined && (
            <Fact name="Rotated">
              <TimeText time={rotatedAt} />
            </Fact>
          )}
          {apiKey.previousSecretUntil !== undefined && (
            <Fact name="Secret before valid until">
              <TimeText time={apiKey.previousSecretUntil} isExact />
            </Fact>
          )}
          {revokedAt !== undefined && (
            <Fact name="Revoked">
              <TimeText time={revokedAt} />
            </Fact>
          )}
          <Fact name="Begins with">
            <code>{apiKey.prefix}…</code>
          </Fact>
          <Fact name="Fingerprint">
            <code>{apiKey.fingerprint}</code>
          </Fact>
        </dl>
      </section>
      <section className="card" aria-label="What it can do">
        <h2>What it can do</h2>
        <ScopeList scopes={scopes} />
      </section>
    </div>
  );
}

/** Ends the key, after saying what that ends. */
function RevokeKey({ apiKey: { id, name, lastUsedAt } }: { readonly apiKey: ApiKey }) {
  const revoke = useChange(KeyService.method.revokeKey);
  return (
    <ConfirmButton
      verb="Revoke"
      object={name}
      label="Revoke…"
      change={revoke}
      onConfirm={() => revoke.mutateAsync({ keyId: id })}
    >
      <p>
        All of its secrets end within a second, in every process, for ever. Calls with them are refused;
        streams and browser sessions that began with them end. It was last used{' '}
        {lastUsedAt === undefined ? 'never' : <LastUse time={lastUsedAt} />}. This cannot be undone.
      </p>
    </ConfirmButton>
  );
}
