/** A part of a path as it was meant: the router decodes all but the characters with a meaning in paths. */
export function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
