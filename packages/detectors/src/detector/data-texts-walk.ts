import { textOf } from '../../../../src/kernel/core/data-texts.js';
import { isContainer, isObject, type JsonValue } from '../../../exact-json/src/index.js';

/** Called for each text of the data, in order: its place, and whether it is the name of the member there. */
export type VisitText = (text: string, path: string, inName: boolean) => void;

/**
 * Visits all texts of selected data: strings, numbers as they are written, and names of members. The recursion is as deep
 * as the data, whose depth is bounded on input.
 */
export function visitTexts(data: JsonValue, visit: VisitText): void {
  const inside = (value: JsonValue, path: string): void => {
    if (typeof value === 'string') visit(value, path, false);
    else if (value === null || typeof value === 'boolean') return;
    else if (!isContainer(value)) visit(textOf(value), path, false);
    else if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index += 1) {
        inside(value[index] ?? null, `${path}/${index}`);
      }
    } else if (isObject(value)) {
      for (const name of Object.keys(value)) {
        const place = `${path}/${pointerPart(name)}`;
        visit(name, place, true);
        inside(value[name] ?? null, place);
      }
    }
  };
  inside(data, '');
}

/** A part of a JSON Pointer (RFC 6901). */
function pointerPart(name: string): string {
  if (!name.includes('~') && !name.includes('/')) return name;
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
