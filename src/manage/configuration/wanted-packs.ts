import type { ErrorItem } from '../../contract/errors/service-error.js';
import { objectKey } from '../controls/applied-object.js';
import { definitionText, type ListedPack, type PackCatalogue } from '../packs/catalogue.js';
import { contentText, type DesiredPack } from './configuration-object.js';
import { unknownName } from './configuration-problems.js';
import type { StoredPack } from './configuration-state.js';

/** A pack, with the definitions of its controls by their keys; none for one that stays as it is. */
export interface WantedPack {
  readonly desired: DesiredPack;
  readonly bases: ReadonlyMap<string, string>;
}

/**
 * The packs of documents. One that is not stored like this must be in the catalogue, in the version of the document; one that
 * stays may be of a version that the service no longer has.
 */
export async function wantedPacks(
  desired: readonly DesiredPack[],
  stored: ReadonlyMap<string, StoredPack>,
  catalogue: PackCatalogue,
  problems: ErrorItem[],
): Promise<WantedPack[]> {
  const packs: WantedPack[] = [];
  for (const one of desired) {
    const before = stored.get(objectKey(one));
    if (before !== undefined && contentText(before) === contentText(one)) {
      packs.push({ desired: one, bases: new Map() });
      continue;
    }
    const bases = basesOf(one, await catalogue.all(), problems);
    if (bases !== undefined) packs.push({ desired: one, bases });
  }
  return packs;
}

function basesOf(
  { index, name, version, installed }: DesiredPack,
  catalogue: readonly ListedPack[],
  problems: ErrorItem[],
): Map<string, string> | undefined {
  const at = `documents[${index}]`;
  const pack = catalogue.find((one) => one.name === name);
  if (pack === undefined) {
    const known = catalogue.map((one) => one.name);
    problems.push(unknownName('pack', `${at}.name`, name, known));
    return undefined;
  }
  if (pack.version !== version) {
    problems.push({
      resource: 'Pack',
      field: `${at}.version`,
      code: 'version_changed',
      message: `the service has the version ${pack.version} of the pack`,
      value: version,
      quotable: true,
    });
    return undefined;
  }
  const bases = new Map(pack.controls.map((control) => [control.key, definitionText(control)]));
  for (const [key] of installed) {
    if (bases.has(key)) continue;
    problems.push({
      resource: 'Pack',
      field: `${at}.installed.${key}`,
      code: 'unknown_key',
      message: 'the pack has no control with this key',
    });
  }
  return bases;
}
