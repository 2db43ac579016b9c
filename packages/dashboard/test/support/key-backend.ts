import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { type ApiKey, ApiKeySchema, KeyService } from '@gen/enforcement/v1/key_service_pb.js';
import { ROLES, roleNamed, SCOPES, scopesOf } from '../../../../src/contract/call/scopes.js';
import type { Backend } from './render-page.js';

/** The keys of a namespace, with the secrets that were given away. */
export interface KeyBackend {
  readonly backend: Backend;
  /** Each secret, in the order in which they were made. */
  readonly secrets: readonly string[];
  add(key: MessageInitShape<typeof ApiKeySchema>): ApiKey;
}

const MADE_AT = '2026-11-01T10:00:00Z';

/** Keeps keys as the service does, as far as the pages show it. */
export function keyBackend(): KeyBackend {
  const keys: ApiKey[] = [];
  const secrets: string[] = [];
  const newSecret = (): string => {
    const secret = `cek_${String(secrets.length + 1).repeat(43)}`;
    secrets.push(secret);
    return secret;
  };
  const add = ({ role, scopes = [], ...key }: MessageInitShape<typeof ApiKeySchema>): ApiKey => {
    const added = create(ApiKeySchema, {
      namespace: 'default',
      prefix: 'cek_1111',
      fingerprint: '0123456789ab',
      createdAt: MADE_AT,
      createdBy: 'admin',
      ...key,
      id: keys.length + 1,
      ...(role === undefined ? { scopes } : { role, scopes: scopesOf(roleNamed(role)?.scopes ?? 0n) }),
    });
    keys.push(added);
    return added;
  };
  const found = (keyId: number): ApiKey => {
    const key = keys.find(({ id }) => id === keyId);
    if (key === undefined) throw new ConnectError(`there is no key ${keyId}`, Code.NotFound);
    return key;
  };
  const backend: Backend = ({ rpc }) => {
    rpc(KeyService.method.listRoles, () => ({
      roles: ROLES.map(({ name, description, scopes }) => ({ name, description, scopes: scopesOf(scopes) })),
      scopes: [...SCOPES],
    }));
    rpc(KeyService.method.listKeys, ({ includeEnded = false, name = '' }) => {
      const part = name.toLowerCase();
      const listed = keys.filter(
        (key) =>
          (includeEnded || key.revokedAt === undefined) &&
          `${key.name}\n${key.owner ?? ''}`.toLowerCase().includes(part),
      );
      return { keys: listed.toReversed(), pagination: { total: listed.length } };
    });
    rpc(KeyService.method.getKey, ({ keyId }) => ({ key: found(keyId) }));
    rpc(KeyService.method.createKey, ({ idempotencyKey: _, $typeName: __, $unknown: ___, ...asked }) => {
      const { role, ...rest } = asked;
      const key = add({
        ...rest,
        namespace: asked.namespace ?? 'default',
        ...(role === undefined ? {} : { role }),
      });
      return { key, secret: newSecret(), created: true };
    });
    rpc(KeyService.method.rotateKey, ({ keyId, overlapSeconds = 86_400 }) => {
      const key = found(keyId);
      key.rotatedAt = MADE_AT;
      if (overlapSeconds > 0)
        key.previousSecretUntil = new Date(Date.now() + overlapSeconds * 1_000).toISOString();
      return { key, secret: newSecret() };
    });
    rpc(KeyService.method.revokeKey, ({ keyId }) => {
      const key = found(keyId);
      key.revokedAt = MADE_AT;
      return { key };
    });
  };
  return { backend, secrets, add };
}
