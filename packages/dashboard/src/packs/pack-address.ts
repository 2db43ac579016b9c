/** Address of a pack, or of one of its tabs. */
export function packAddress(name: string, tab = ''): string {
  return `/packs/${encodeURIComponent(name)}${tab === '' ? '' : `?tab=${tab}`}`;
}
