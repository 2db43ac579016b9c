/** JSON text of a value inside `levels` lists. */
export function nestedLists(levels: number, inside = ''): string {
  return '['.repeat(levels) + inside + ']'.repeat(levels);
}

/** JSON text of a value inside `levels` objects with one member each. */
export function nestedObjects(levels: number, key = 'a', inside = '1'): string {
  return `{"${key}":`.repeat(levels) + inside + '}'.repeat(levels);
}

/** A text of one mebibyte. */
export const MEBIBYTE_TEXT = 'n'.repeat(1_048_576);

/** JSON text of an object with many members. */
export function wideObject(members: number): string {
  return `{${Array.from({ length: members }, (_, index) => `"member${index}":${index}`).join(',')}}`;
}

/** Half of a surrogate pair, which no UTF-8 can hold. */
export const LONE_SURROGATE = '\ud800';

/** Bytes that are no UTF-8, whatever surrounds them. */
export const INVALID_UTF8 = Buffer.from([0xff, 0xfe, 0xfd]);

/** A lone surrogate the way careless encoders write it; no valid UTF-8 either. */
export const SURROGATE_AS_UTF8 = Buffer.from([0xed, 0xa0, 0x80]);
