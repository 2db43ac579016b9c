/** Longest fragment with a step; longer addresses are cut off by programs that pass them on. */
const MAX_FRAGMENT_LENGTH = 8_000;
const PREFIX = '#step=';

/** A step as the fragment of an address, which browsers do not send to servers. Null if it is too long. */
export function stepFragment(step: string, maxLength = MAX_FRAGMENT_LENGTH): string | null {
  const bytes = new TextEncoder().encode(step);
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  const fragment = PREFIX + base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  return fragment.length <= maxLength ? fragment : null;
}

/** The step of a fragment; undefined if it has none that can be read. */
export function stepOfFragment(fragment: string): string | undefined {
  if (!fragment.startsWith(PREFIX)) return undefined;
  try {
    const base64 = fragment.slice(PREFIX.length).replaceAll('-', '+').replaceAll('_', '/');
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
