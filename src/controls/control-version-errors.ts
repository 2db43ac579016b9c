import { type ErrorItem, ServiceError } from '../contract/errors/service-error.js';

/** The control exists, or did once; the version does not. */
export function controlVersionNotFound(controlId: number, versionNum: number): ServiceError {
  return new ServiceError('CONTROL_VERSION_NOT_FOUND', {
    detail: `Version ${versionNum} of control ${controlId} was not found.`,
    hint: 'List the versions of the control to see which there are.',
    name: String(controlId),
    kind: 'Control',
  });
}

/** What the version holds cannot be read, so it cannot become current again. */
export function controlVersionCorrupted(
  controlId: number,
  versionNum: number,
  items: readonly ErrorItem[],
): ServiceError {
  return new ServiceError('CORRUPTED_DATA', {
    detail: `The definition in version ${versionNum} of control ${controlId} cannot be read.`,
    hint: 'Restore another version, or send a definition with PUT /controls/{id}/data.',
    name: String(controlId),
    kind: 'Control',
    items,
  });
}
