import type { z } from 'zod';
import { field, refuse, refuseTyped } from '../../../../src/contract/input/fields.js';
import { isAddress } from '../../../../src/contract/input/host-address.js';
import { hostOf, parseUrl } from './read-url.js';

/** One entry of a list of hosts. */
export interface HostPattern {
  /** In ASCII and lower case. */
  readonly host: string;
  /** Whether it stands for all names below `host`, and not for `host`. */
  readonly isBelow: boolean;
  /** The only port; null for all. */
  readonly port: string | null;
}

/** Whether a host and port are among some patterns. */
export type HostMatcher = (host: string, port: string) => boolean;

const MAX_PATTERN_LENGTH = 300;

/** An entry of `allow_hosts` and `deny_hosts`: a host, `*.` and a domain, and a port behind a colon. */
export function hostPattern(): z.ZodType<HostPattern> {
  return field(
    (value, sink) => {
      if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
      const read = readPattern(value);
      return typeof read === 'string' ? refuseTyped(sink, 'value_error', read, value) : read;
    },
    { type: 'string', minLength: 1, maxLength: MAX_PATTERN_LENGTH },
  );
}

/** The pattern, or what is wrong with it. */
function readPattern(written: string): HostPattern | string {
  if (written.length > MAX_PATTERN_LENGTH) return `must have at most ${MAX_PATTERN_LENGTH} characters`;
  if (/[/\\@?#]/.test(written))
    return `is no host${meant(written)}; give a host without scheme, user and path`;
  if (written.trim() !== written || written === '') return 'must be a host, without spaces around it';
  const isBelow = written.startsWith('*.');
  const rest = isBelow ? written.slice(2) : written;
  if (rest.includes('*')) {
    return `may have one * at its start only, as in *.example.com${meant(rest.replaceAll('*', '').replace(/^\.+/, ''))}`;
  }
  const [, name = '', port = null] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(rest) ?? [];
  if (name === '' || (port !== null && Number(port) > 65_535)) {
    return 'is no host; give a name, an IPv4 address, or an IPv6 address in brackets, and a port of 1 to 65535 if any';
  }
  const url = parseUrl(`http://${name}/`);
  if (url === null) return 'is no host: no client can read it in a URL';
  const host = hostOf(url.hostname);
  if (isBelow && isAddress(host)) return 'is an address, which has no names below it';
  return { host, isBelow, port: port === null ? null : String(Number(port)) };
}

/** `; did you mean X?` for the host of what looks like a URL. */
function meant(written: string): string {
  const address = written.includes('://') ? written : `https://${written}`;
  const host = parseUrl(address)?.host ?? '';
  return host === '' ? '' : `; did you mean ${host}?`;
}

/** Looks up a host in time of the number of its labels, however many patterns there are. */
export function createHostMatcher(patterns: readonly HostPattern[]): HostMatcher {
  const exact = new Set<string>();
  const below = new Set<string>();
  for (const { host, isBelow, port } of patterns) (isBelow ? below : exact).add(`${host}:${port ?? ''}`);
  const has = (set: ReadonlySet<string>, host: string, port: string): boolean =>
    set.has(`${host}:`) || set.has(`${host}:${port}`);
  return (host, port) => {
    if (has(exact, host, port)) return true;
    if (below.size === 0 || isAddress(host)) return false;
    for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) {
      if (has(below, host.slice(dot + 1), port)) return true;
    }
    return false;
  };
}
