import { MAX_URL_LENGTH, SPECIAL_SCHEMES, type UrlForm } from './find-urls.js';

/** A URL as a client reads it (WHATWG URL), beside how its host is written. */
export interface ReadUrl {
  readonly url: URL;
  /** The scheme, without colon. */
  readonly scheme: string;
  /** The host that a client contacts: in ASCII and lower case, without the dot at the end; IPv6 in brackets. Or empty. */
  readonly host: string;
  /** The port, that of the scheme included; empty when there is none. */
  readonly port: string;
  /** The host as it is written. */
  readonly writtenHost: string;
  /** Whether something is written in front of the host, up to an `@`. */
  readonly hasUserinfo: boolean;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = {
  http: '80',
  https: '443',
  ws: '80',
  wss: '443',
  ftp: '21',
};
const AUTHORITY = /^[a-z][a-z0-9+.-]*:[/\\]*([^/\\?#]*)/i;
/** Units of running text that no host has: what follows is no part of the URL, unless it is a user in front of a host. */
const BEHIND_HOST = /[)(,;'*|}\]，、）」】；！]/;
/** What clients leave out of a URL. */
const LEFT_OUT = /[\t\n\r]/;
const MAX_READ = MAX_URL_LENGTH + 16;

/**
 * Reads a URL; null when no client can. `text` is as long as `MAX_URL_LENGTH` at most.
 */
export function readUrl(text: string, form: UrlForm): ReadUrl | null {
  const given = LEFT_OUT.test(text) ? text.replaceAll(/[\t\n\r]/g, '') : text;
  const written = form === 'absolute' ? given : form === 'relative' ? `https:${given}` : `http://${given}`;
  if (written.length > MAX_READ) return null;
  const authority = AUTHORITY.exec(written)?.[1] ?? '';
  const whole = authority.includes('@') ? written : withoutTail(written, authority);
  const url = parseUrl(whole);
  if (url === null) return null;
  const scheme = url.protocol.slice(0, -1);
  const own = authority.length > 0 && whole !== written ? (AUTHORITY.exec(whole)?.[1] ?? '') : authority;
  const at = own.lastIndexOf('@');
  return {
    url,
    scheme,
    host: hostOf(url.hostname),
    port: url.port === '' ? (DEFAULT_PORTS[scheme] ?? '') : url.port,
    writtenHost: withoutPort(own.slice(at + 1)),
    hasUserinfo: at >= 0 && url.hostname !== '',
  };
}

/**
 * A URL as the standard reads it; null when it cannot. In Node.js 20, once it is optimised, `URL.canParse` refuses URLs with
 * letters of Latin-1 that `URL` reads; it decides on those of ASCII only, where it saves the error.
 */
export function parseUrl(text: string): URL | null {
  if (!NOT_ASCII.test(text) && !URL.canParse(text)) return null;
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

const NOT_ASCII = /[^ -~]/;

/** The URL up to a unit in its authority that no host has: `https://example.com),` and `https://a.example](…`. */
function withoutTail(written: string, authority: string): string {
  if (authority.startsWith('[')) return written;
  const cut = authority.search(BEHIND_HOST);
  return cut < 0 ? written : written.slice(0, written.indexOf(authority) + cut);
}

/** Without the dot of the root: `example.com.` is `example.com`. */
export function hostOf(hostname: string): string {
  const lower = hostname.toLowerCase();
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}

function withoutPort(host: string): string {
  if (host.startsWith('[')) return host.slice(0, host.indexOf(']') + 1);
  const colon = host.lastIndexOf(':');
  return colon < 0 ? host : host.slice(0, colon);
}

/** Whether a client contacts a host for a URL of the scheme. */
export function hasHost({ scheme, host }: ReadUrl): boolean {
  return host !== '' || SPECIAL_SCHEMES.has(scheme);
}
