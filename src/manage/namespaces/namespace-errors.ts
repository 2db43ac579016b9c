import { ServiceError } from '../../contract/errors/service-error.js';
import type { NamespaceContent } from './namespace-store.js';

export function namespaceNotFound(name: string): ServiceError {
  return new ServiceError('NAMESPACE_NOT_FOUND', {
    detail: `Namespace "${name}" was not found.`,
    hint: 'Check the name. GET /namespaces lists the namespaces.',
    name,
    kind: 'Namespace',
  });
}

/** The name is used, or was used by a namespace that is deleted. */
export function namespaceConflict(name: string, isDeleted: boolean): ServiceError {
  const message = isDeleted ? 'was used by a deleted namespace' : 'is taken';
  return new ServiceError('NAMESPACE_CONFLICT', {
    detail: isDeleted
      ? `The name "${name}" was used by a namespace that is deleted. It is not used again, because events and audit entries of that namespace are still kept.`
      : `The name "${name}" is taken by another namespace.`,
    hint: isDeleted ? 'Choose another name.' : 'Choose another name, or use the existing namespace.',
    name,
    kind: 'Namespace',
    items: [{ resource: 'Namespace', field: 'name', code: 'name_conflict', message, value: name }],
  });
}

export function tooManyNamespaces(limit: number): ServiceError {
  return new ServiceError('VALIDATION_ERROR', {
    detail: `There are already ${limit} namespaces, which is the most.`,
    hint: 'Delete a namespace that is not needed any more.',
    kind: 'Namespace',
    items: [
      {
        resource: 'Namespace',
        field: 'name',
        code: 'too_many_namespaces',
        message: `must be one of at most ${limit} namespaces`,
      },
    ],
  });
}

/** The namespace contains something, and is to be deleted without force. */
export function namespaceInUse(name: string, content: NamespaceContent): ServiceError {
  const found = Object.entries(content).filter(([, count]) => count > 0);
  return new ServiceError('NAMESPACE_IN_USE', {
    detail: `The namespace "${name}" contains ${found.map(([kind, count]) => `${count} ${kind}`).join(', ')}.`,
    hint: 'Delete these first, or delete the namespace with force=true.',
    name,
    kind: 'Namespace',
    items: found.map(([kind, count]) => ({
      resource: 'Namespace',
      code: 'namespace_in_use',
      message: `contains ${count} ${kind}`,
    })),
  });
}

export function defaultNamespaceStays(name: string): ServiceError {
  return new ServiceError('NAMESPACE_IN_USE', {
    detail: `The namespace "${name}" always exists, and cannot be deleted.`,
    hint: 'Delete its agents, controls and policies instead.',
    name,
    kind: 'Namespace',
  });
}

export function defaultNamespaceKeepsName(name: string): ServiceError {
  return new ServiceError('NAMESPACE_IN_USE', {
    detail: `The namespace "${name}" always exists, and its display name cannot be changed.`,
    hint: 'Create a namespace with the display name that is wanted.',
    name,
    kind: 'Namespace',
  });
}
