import { ServiceError } from '../../contract/errors/service-error.js';

export function keyNotFound(keyId: number): ServiceError {
  return new ServiceError('KEY_NOT_FOUND', {
    detail: `Key ${keyId} was not found.`,
    hint: 'Check the id.',
    name: String(keyId),
    kind: 'ApiKey',
  });
}

/** The key was revoked or has expired, so it gets no new secret. */
export function keyEnded(keyId: number, how: 'was revoked' | 'has expired'): ServiceError {
  return new ServiceError('VALIDATION_ERROR', {
    detail: `Key ${keyId} ${how}: it gets no new secret.`,
    hint: 'Create a new key.',
    items: [{ resource: 'ApiKey', field: 'key_id', code: 'key_ended', message: how, value: keyId }],
  });
}

/** The caller would give, or take over, scopes that it does not have itself. */
export function scopesBeyondCaller(scopes: readonly string[]): ServiceError {
  return new ServiceError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: `The caller does not have the scopes of the key itself: ${scopes.join(', ')} ${scopes.length === 1 ? 'is' : 'are'} missing.`,
    hint: 'Leave them out, or call with a key that has them.',
  });
}

/** The caller would give a key agents that it is not for itself. */
export function agentsBeyondCaller(agents: readonly string[]): ServiceError {
  return new ServiceError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: `The caller is not for all agents of the key itself: ${agents.slice(0, 10).join(', ')}.`,
    hint: 'Name agents of the caller only.',
  });
}

/** Another namespace than that of the caller; it does not tell whether that one exists. */
export function otherNamespace(): ServiceError {
  return new ServiceError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: 'A key of another namespace than that of the caller needs the scope namespaces.write.',
    hint: 'Leave the namespace out, or use a key with the role operator.',
  });
}

export function namespaceNotFound(name: string): ServiceError {
  return new ServiceError('NAMESPACE_NOT_FOUND', {
    detail: `The namespace "${name}" was not found.`,
    hint: 'Create it first.',
    name,
    kind: 'Namespace',
  });
}
