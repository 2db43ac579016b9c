import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import { callerError, type ErrorResource, type ServiceError } from '../errors/service-error.js';
import { field, type IssueSink, nullable, readWith } from './fields.js';
import { integer } from './numbers.js';

/** The version that a change demands: a number, `*` for any, undefined for no demand. */
export type IfVersion = number | '*' | undefined;

/** A resource with a version; 0 when it does not exist. */
export interface Versioned {
  readonly kind: ErrorResource;
  /** Id or name. */
  readonly name: string;
  readonly version: number;
}

const limits = LIMITS.UpdateControlRequest.if_version;
const number = integer({ ...limits, max: Number.MAX_SAFE_INTEGER });

/** The member by which a request demands a version; `*` is the value of the header If-Match. */
export function ifVersion(): z.ZodType<IfVersion> {
  const read = (value: JsonValue, sink: IssueSink): number | '*' =>
    value === '*' ? '*' : (readWith(number, value, sink) ?? z.NEVER);
  return nullable(field(read, { type: 'integer', minimum: limits.min }));
}

/** Throws VERSION_MISMATCH unless the resource has the demanded version. To be called in the transaction. */
export function demandVersion(demanded: IfVersion, resource: Versioned): void {
  if (demanded === undefined || demanded === resource.version) return;
  if (demanded === '*' && resource.version > 0) return;
  throw versionMismatch(demanded, resource);
}

function versionMismatch(demanded: number | '*', { kind, name, version }: Versioned): ServiceError {
  const state = version === 0 ? 'does not exist' : `has version ${version}`;
  const wanted =
    demanded === '*' ? 'any version' : demanded === 0 ? 'that it does not exist' : `version ${demanded}`;
  return callerError('VERSION_MISMATCH', {
    detail: `${kind} "${name}" ${state}, but if_version (header If-Match) demands ${wanted}. Nothing was changed.`,
    hint: `Read the ${kind.toLowerCase()} again, apply the change to what it is now, and send its current version.`,
    name,
    kind,
    facts: { current_version: String(version) },
    items: [
      {
        resource: kind,
        field: 'if_version',
        code: 'version_mismatch',
        message: `the current version is ${version}`,
        value: demanded,
      },
    ],
  });
}
