import type { AuditActor, AuditEntry } from '@gen/enforcement/v1/audit_service_pb.js';

/** Who made a change, in a few words. */
export function actorText(actor: AuditActor | undefined): string {
  if (actor === undefined) return 'unknown';
  return [actor.kind, actor.name ?? actor.keyFingerprint].filter((text) => text !== undefined).join(' ');
}

/** What was changed, in a few words. */
export function resourceText({ resource, resourceId, resourceName }: AuditEntry): string {
  const name = resourceName === undefined ? '' : ` (${resourceName})`;
  return resourceId === undefined ? resource : `${resource} ${resourceId}${name}`;
}

/** Address of the page of what was changed; undefined if it has none. */
export function resourceAddress({ resource, resourceId, resourceName }: AuditEntry): string | undefined {
  // Entries about packs have the id of the installation, which has no page of its own.
  if (resource === 'pack' && resourceName !== undefined) {
    return `/packs/${encodeURIComponent(resourceName)}?tab=installations`;
  }
  const page = {
    agent: 'agents',
    approval: 'approvals',
    control: 'controls',
    policy: 'policies',
    key: 'keys',
  }[resource];
  return page === undefined || resourceId === undefined
    ? undefined
    : `/${page}/${encodeURIComponent(resourceId)}`;
}

/** A stored state as a value; undefined if there was none. */
export function stateValue(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}

/** The same as text to read; empty if there was none. */
export function stateText(text: string | undefined): string {
  return text === undefined ? '' : JSON.stringify(JSON.parse(text), null, 2);
}
