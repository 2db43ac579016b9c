import { type JsonObject, parseStoredJson, stringifyJson } from '../../../packages/exact-json/src/index.js';

/** Changes of a control by PATCH. */
export interface ControlPatch {
  readonly name?: string;
  readonly enabled?: boolean;
}

/** Note for a change of a name or of `enabled`, which is null when unchanged. */
export function changeNote(renamed: boolean, enabled: boolean | null): string {
  if (enabled === null) return 'Renamed';
  if (renamed) return enabled ? 'Renamed and enabled' : 'Renamed and disabled';
  return enabled ? 'Enabled' : 'Disabled';
}

/** Stored text with another `enabled`; unknown members are preserved. */
export function withEnabled(data: string, enabled: boolean): string {
  return stringifyJson({ ...(parseStoredJson(data) as JsonObject), enabled });
}
