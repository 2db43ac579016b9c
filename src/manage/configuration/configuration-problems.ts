import { type ErrorItem, ServiceError } from '../../contract/errors/service-error.js';
import { MAX_ERROR_ITEMS } from '../../contract/input/items.js';
import { invalidRequest } from '../../contract/input/parse-input.js';
import { didYouMean } from '../../contract/warnings/suggestion.js';
import { objectKey } from '../controls/applied-object.js';
import type { DesiredObject } from './configuration-object.js';
import type { Conflict, ConflictReason } from './configuration-plan.js';
import type { ReadDocument } from './document-schema.js';

/** The items of an error about a document, with fields of the request. */
export function placedItems(error: ServiceError, at: string): ErrorItem[] {
  const { items = [], detail } = error.options;
  if (items.length === 0) {
    return [{ resource: 'Request', field: at, code: error.code.toLowerCase(), message: detail }];
  }
  return items.map((item) => ({ ...item, field: item.field === undefined ? at : `${at}.${item.field}` }));
}

/** The objects of documents, which are in their order unless they say it, and what is wrong with them as a set: other namespaces, and objects that occur twice. */
export function objectsOf(
  documents: readonly (ReadDocument & { readonly index?: number })[],
  namespace: string,
): { readonly objects: DesiredObject[]; readonly problems: ErrorItem[] } {
  const problems: ErrorItem[] = [];
  const seen = new Map<string, number>();
  const objects = documents.map(({ namespace: given, object, ...placed }, position): DesiredObject => {
    const { index = position } = placed;
    const at = `documents[${index}]`;
    if (given !== null && given !== namespace) {
      problems.push({
        resource: 'Namespace',
        field: `${at}.namespace`,
        code: 'other_namespace',
        message: `must be ${namespace}, the namespace of the caller`,
        value: given,
        quotable: true,
      });
    }
    const key = objectKey(object);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, index);
    else {
      problems.push({
        resource: 'Request',
        field: `${at}.name`,
        code: 'duplicate',
        message: `documents[${first}] is the same object`,
        value: object.name,
        quotable: true,
      });
    }
    return { ...object, index };
  });
  return { objects, problems };
}

/** A name in a document that neither the documents nor the namespace have. */
export function unknownName(
  what: 'control' | 'policy' | 'pack',
  field: string,
  name: string,
  known: readonly string[],
): ErrorItem {
  return {
    resource: 'Request',
    field,
    code: `unknown_${what}`,
    message: `there is no ${what} of this name, neither in the documents nor in the namespace${didYouMean(name, known)}`,
    value: name,
    quotable: true,
  };
}

/** Throws a VALIDATION_ERROR if there are problems, in the order of the documents. */
export function refuseProblems(problems: readonly ErrorItem[]): void {
  if (problems.length === 0) return;
  const sorted = [...problems].sort((a, b) => documentOf(a) - documentOf(b));
  throw invalidRequest(sorted.slice(0, MAX_ERROR_ITEMS), sorted.length);
}

function documentOf({ field = '' }: ErrorItem): number {
  return Number(/^documents\[(\d+)\]/.exec(field)?.[1] ?? -1);
}

const HINTS: Readonly<Record<ConflictReason, string>> = {
  other_owner:
    'Remove it from these documents, or have that owner remove it from its own and apply with prune.',
  changed_elsewhere: 'Export it to take over the change, or name it in overwrite to undo the change.',
  deleted_elsewhere: 'Remove it from the documents, or name it in overwrite to create it again.',
  exists: 'Export it to take over what it is, or name it in overwrite to replace it.',
  in_use: 'Take it away from what uses it first, or name it in overwrite to delete it nevertheless.',
};

const CAUSES: Readonly<Record<ConflictReason, string>> = {
  other_owner: 'belongs to another owner',
  changed_elsewhere: 'was changed since it was applied',
  deleted_elsewhere: 'was deleted since it was applied',
  exists: 'exists with another content and belongs to no owner',
  in_use:
    'is to be deleted, and is used by agents, policies or targets that do not belong to these documents',
};

/** A conflict as replies have it. */
export function shownConflict(conflict: Conflict) {
  const { kind, name, reason, owner, changedBy } = conflict;
  return { kind, name, reason, owner, changed_by: changedBy, hint: hintOf(conflict) };
}

function hintOf({ reason, members = [] }: Conflict): string {
  return members.length === 0 ? HINTS[reason] : `Both changed ${members.join(', ')}. ${HINTS[reason]}`;
}

/** Objects that cannot be applied; there is at least one. */
export function configurationConflict(conflicts: readonly Conflict[]): ServiceError {
  const [first] = conflicts;
  return new ServiceError('CONFIGURATION_CONFLICT', {
    detail: `${conflicts.length} ${conflicts.length === 1 ? 'object conflicts' : 'objects conflict'} with what is stored, such as ${first?.kind}/${first?.name}. Nothing was applied.`,
    hint: 'Each entry of errors names an object, why it conflicts, and what to do.',
    items: conflicts.slice(0, MAX_ERROR_ITEMS).map((conflict) => ({
      resource: 'Request',
      field: `${conflict.kind}/${conflict.name}`,
      code: conflict.reason,
      message: `${CAUSES[conflict.reason]}${ownerText(conflict)}. ${hintOf(conflict)}`,
    })),
  });
}

function ownerText({ reason, owner, changedBy }: Conflict): string {
  if (reason === 'other_owner' && owner !== null) return `: ${owner}`;
  return changedBy === null ? '' : `, by ${changedBy}`;
}

export function revisionChanged(asked: number, current: number): ServiceError {
  return new ServiceError('CONFIGURATION_REVISION_CHANGED', {
    detail: `The revision is ${current}, not ${asked}. Nothing was applied.`,
    hint: 'Something was changed meanwhile: look at the difference again, and repeat the call with the new revision.',
  });
}

/** Changes that take too long for one transaction. */
export function tooMuchWork(seconds: number): ServiceError {
  return new ServiceError('PAYLOAD_TOO_LARGE', {
    detail: `The changes of these documents take longer than the ${seconds} seconds that one transaction may take. Nothing was applied.`,
    hint: 'Apply parts of the documents one after another without prune, and then all of them.',
  });
}
