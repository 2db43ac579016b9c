import { type ErrorItem, ServiceError } from '../../contract/errors/service-error.js';
import { invalidRequest } from '../../contract/input/parse-input.js';
import { didYouMean } from '../../contract/warnings/suggestion.js';
import { controlNameConflict } from '../controls/control-errors.js';
import { withItems } from '../controls/reference-problems.js';

export function packNotFound(name: string): ServiceError {
  return new ServiceError('PACK_NOT_FOUND', {
    detail: `The pack "${name}" was not found.`,
    hint: 'List the packs with GET /packs; SERVICE_PACKS adds folders of packs.',
    name,
    kind: 'Pack',
  });
}

export function installationNotFound(installationId: number): ServiceError {
  return new ServiceError('PACK_INSTALLATION_NOT_FOUND', {
    detail: `Pack installation ${installationId} was not found.`,
    hint: 'List the installations with GET /pack-installations.',
    name: String(installationId),
    kind: 'PackInstallation',
  });
}

export function alreadyInstalled(pack: string, policy: string, installationId: number): ServiceError {
  return new ServiceError('PACK_ALREADY_INSTALLED', {
    detail: `The policy "${policy}" has the pack "${pack}" already: installation ${installationId}.`,
    hint: 'Update that installation, or install the pack into another policy with another name_prefix.',
    name: pack,
    kind: 'Pack',
  });
}

/** The pack does not have the version that the caller has seen. */
export function packVersionChanged(pack: string, asked: string, current: string): ServiceError {
  return new ServiceError('PACK_VERSION_CHANGED', {
    detail: `The pack "${pack}" has the version ${current}, not ${asked}.`,
    hint: 'Look at the pack again, and repeat the call with its version.',
    name: pack,
    kind: 'Pack',
    items: [
      {
        resource: 'Pack',
        field: 'version',
        code: 'version_changed',
        message: `the pack has the version ${current}`,
        value: asked,
      },
    ],
  });
}

/** Controls have these names already; there is at least one. */
export function controlNamesTaken(names: readonly string[]): ServiceError {
  const [first = '', ...others] = names;
  const error = controlNameConflict(first);
  const items = others.flatMap((name) => controlNameConflict(name).options.items ?? []);
  const { detail, ...options } = withItems(error, [], items).options;
  return new ServiceError(error.code, {
    ...options,
    detail:
      others.length === 0 ? detail : `${names.length} names are taken by other controls, such as "${first}".`,
    hint: 'Choose another name_prefix, or rename the existing controls.',
  });
}

/** Keys of a request that neither the pack nor the installation has; there is at least one. */
export function unknownKeys(
  member: 'keys' | 'overwrite',
  unknown: readonly { readonly key: string; readonly index: number }[],
  known: readonly string[],
): ServiceError {
  return invalidRequest(
    unknown.map(
      ({ key, index }): ErrorItem => ({
        resource: 'Request',
        field: `${member}[${index}]`,
        code: 'unknown_key',
        message: `there is no control with this key${didYouMean(key, known)}`,
        value: key,
        quotable: true,
      }),
    ),
  );
}
